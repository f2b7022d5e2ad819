// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/interrupt.h"
#include "engine/base/utf8.h"
#include "engine/cli/command.h"
#include "engine/cli/json_lines.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/json_reader.h"
#include "engine/trace/prompt_tokens.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace lectern::cli {

namespace {

struct Options
{
    ModelOptions model;
    bool addSpecial = false;
    bool parseSpecial = false;
    bool asJson = false;
    std::string text;
    std::string file;
    std::string jsonLines;
};

struct EncodedText
{
    std::string text;
    std::vector<TokenRecord> tokens;
    std::vector<TextRange> leftOut;
};

Result<EncodedText> encode(const Tokenizer &tokenizer, std::string text, bool addSpecial, bool parseSpecial,
                           const StopFlag &stop)
{
    return tokenizer.encode(text, {addSpecial, parseSpecial, {}}, stop).map([&](const auto &encoded) {
        std::vector<TokenRecord> tokens = promptTokens(tokenizer, encoded);
        std::vector<TextRange> leftOut = leftOutRanges(text, tokens, tokenizer.vocabulary().model);
        return EncodedText{std::move(text), std::move(tokens), std::move(leftOut)};
    });
}

nlohmann::ordered_json toJson(const EncodedText &encoded)
{
    nlohmann::ordered_json ids = nlohmann::ordered_json::array();
    nlohmann::ordered_json pieces = nlohmann::ordered_json::array();
    for (const TokenRecord &token : encoded.tokens) {
        ids.push_back(token.id);
        pieces.push_back({{"id", token.id},
                          {"text", replaceInvalidUtf8(token.bytes).text},
                          {"bytes", hexOf(token.bytes)},
                          {"special", token.isSpecial},
                          {"begin", token.begin},
                          {"end", token.end}});
    }
    nlohmann::ordered_json json{{"ids", std::move(ids)}, {"pieces", std::move(pieces)}};
    for (const auto &[begin, end] : encoded.leftOut)
        json["leftOut"].push_back(
            {{"begin", begin}, {"end", end}, {"bytes", hexOf(encoded.text.substr(begin, end - begin))}});
    return json;
}

void printTable(const EncodedText &encoded)
{
    for (const TokenRecord &token : encoded.tokens) {
        const bool isText = firstInvalidUtf8(token.bytes) == std::string_view::npos;
        const std::string piece = isText ? nlohmann::json(token.bytes).dump() : "bytes " + hexOf(token.bytes);
        char line[64];
        std::snprintf(line, sizeof line, "%8d  %6zu..%-6zu  ", token.id, token.begin, token.end);
        print(line + piece + (token.isSpecial ? "  special\n" : "\n"));
    }
    if (!encoded.leftOut.empty())
        warn(leftOutWarning(encoded.text, encoded.leftOut, "text"));
}

// The tokens of a line's "text", as JSON.
Result<std::string> tokensOfLine(const Tokenizer &tokenizer, const Json &line, const StopFlag &stop)
{
    JsonProblem problem;
    const JsonObject fields(line, problem);
    const std::string text = fields.text("text");
    const bool addSpecial = fields.has("addSpecial") && fields.boolean("addSpecial");
    const bool parseSpecial = fields.has("parseSpecial") && fields.boolean("parseSpecial");
    if (problem.error)
        return tl::unexpected(std::move(*problem.error));
    return encode(tokenizer, text, addSpecial, parseSpecial, stop).map([](const EncodedText &encoded) {
        return toJson(encoded).dump();
    });
}

int runJsonLines(const Tokenizer &tokenizer, const std::string &file)
{
    StopFlag stop;
    const Interrupt interrupt([&stop] { stop.request(); });
    Result<JsonLines> lines = JsonLines::open(file);
    if (!lines)
        return failed(lines.error());
    LineResults results;
    while (!isOutputLost()) {
        const Result<std::optional<JsonLine>> line = lines->next(stop);
        if (!line)
            return results.end(line.error());
        if (!*line)
            return results.end();
        const Result<std::string> tokens =
            (*line)->object.and_then([&](const Json &object) { return tokensOfLine(tokenizer, object, stop); });
        if (!tokens && tokens.error().code == ErrorCode::Cancelled)
            return results.end(tokens.error());
        results.print((*line)->number, tokens);
    }
    return kFailed; // flushed() says why
}

int run(const Options &options)
{
    const Result<std::unique_ptr<Tokenizer>> tokenizer = openTokenizer(options.model.model);
    if (!tokenizer)
        return failed(tokenizer.error());
    if (!options.jsonLines.empty())
        return runJsonLines(**tokenizer, options.jsonLines);
    Result<std::string> text = options.text;
    if (!options.file.empty())
        text = readInput(options.file);
    else if (options.text == "-")
        text = readInput("-");
    if (!text)
        return failed(text.error());
    const StopFlag neverStops;
    const auto tokens = encode(**tokenizer, *text, options.addSpecial, options.parseSpecial, neverStops);
    if (!tokens)
        return failed(tokens.error());
    if (options.asJson)
        print(toJson(*tokens).dump() + "\n");
    else
        printTable(*tokens);
    return kOk;
}

} // namespace

void addTokenize(CLI::App &program, int &exitCode)
{
    CLI::App *command = program.add_subcommand("tokenize", "Cut a text into tokens: id, bytes of the text, piece");
    const auto options = std::make_shared<Options>();
    addModelOption(*command, options->model);
    command->add_flag("--add-special", options->addSpecial, "Add begin and end token as the model asks for them");
    command->add_flag("--parse-special", options->parseSpecial,
                      "Control tokens written in the text become control tokens");
    command->add_flag("--json", options->asJson, "Print one JSON object: ids and pieces");
    CLI::Option *text = command->add_option("TEXT", options->text, "The text; \"-\" reads standard input");
    CLI::Option *file = command->add_option("--file", options->file, "Read the text from a file, any bytes")
                            ->type_name("FILE")
                            ->check(someText());
    CLI::Option *lines =
        command->add_option("--jsonl", options->jsonLines,
                            "Read {\"text\", \"addSpecial\", \"parseSpecial\"} a line, print one object a line");
    lines->type_name("FILE")->check(someText());
    command->callback([=, &exitCode] {
        if (text->count() + file->count() + lines->count() != 1)
            throw CLI::ValidationError("tokenize", "give exactly one of TEXT, --file and --jsonl");
        exitCode = run(*options);
    });
}

} // namespace lectern::cli
