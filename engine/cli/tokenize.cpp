// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/utf8.h"
#include "engine/cli/command.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/json.h"
#include "engine/trace/prompt_tokens.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <sstream>

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

Result<EncodedText> encode(const Tokenizer &tokenizer, std::string text, bool addSpecial, bool parseSpecial)
{
    const StopFlag neverStops;
    return tokenizer.encode(text, {addSpecial, parseSpecial, {}}, neverStops).map([&](const auto &encoded) {
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

// One object a line in, one a line out.
int runJsonLines(const Tokenizer &tokenizer, const std::string &file)
{
    const Result<std::string> input = readInput(file);
    if (!input)
        return failed(input.error());
    std::istringstream lines(*input);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.find_first_not_of(" \t\r") == std::string::npos)
            continue;
        const auto json = nlohmann::json::parse(line, nullptr, false);
        const std::string where = "line " + std::to_string(number);
        if (!json.is_object() || !json.contains("text") || !json["text"].is_string())
            return failed(where + ": expected an object with \"text\"");
        for (const char *key : {"addSpecial", "parseSpecial"})
            if (json.contains(key) && !json[key].is_boolean())
                return failed(where + ": \"" + key + "\" must be true or false");
        const auto tokens =
            encode(tokenizer, json["text"], json.value("addSpecial", false), json.value("parseSpecial", false));
        if (!tokens)
            return failed(where + ": " + tokens.error().text());
        print(toJson(*tokens).dump() + "\n");
    }
    return kOk;
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
    const auto tokens = encode(**tokenizer, *text, options.addSpecial, options.parseSpecial);
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
