// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/command.h"

#include "engine/base/file.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>

namespace lectern::cli {

namespace {

const std::map<std::string, BackendChoice> kBackends{
    {"auto", BackendChoice::Auto}, {"reference", BackendChoice::Reference}, {"cpu", BackendChoice::Cpu}};

// Errors may quote a file's bytes: a message stays one line, whatever they are.
std::string oneLine(std::string_view text)
{
    std::string line(text);
    for (char &c : line)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            c = ' ';
    return line;
}

// All of `text` as decimal digits; nothing when it is something else or does not fit.
template <class Number>
std::optional<Number> decimal(const std::string &text)
{
    Number number{};
    const char *end = text.data() + text.size();
    const auto [rest, problem] = std::from_chars(text.data(), end, number);
    return problem == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

std::string shortest(float value)
{
    char text[32];
    return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// The ids in "1,2,3"; an error names the place of the first that is none.
Result<std::vector<TokenId>> parseIds(const std::string &text)
{
    std::vector<TokenId> ids;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        const auto id = decimal<TokenId>(word);
        if (!id || *id < 0)
            return fail(ErrorCode::InvalidInput, "\"" + word + "\" at position " + std::to_string(ids.size()) +
                                                     " (counted from 0), expected token ids separated by commas");
        ids.push_back(*id);
        begin = end + 1;
    }
    return ids;
}

// CLI11 takes an empty message for "valid".
CLI::Validator validator(std::string expected, std::string shownInHelp,
                         std::function<bool(const std::string &)> isValid)
{
    return CLI::Validator(
        [expected = std::move(expected), isValid = std::move(isValid)](const std::string &text) {
            return isValid(text) ? std::string() : "\"" + text + "\" is given, expected " + expected;
        },
        std::move(shownInHelp));
}

} // namespace

CLI::Validator wholeNumber(std::int64_t min, std::int64_t max)
{
    return validator("a whole number from " + std::to_string(min) + " to " + std::to_string(max),
                     std::to_string(min) + ".." + std::to_string(max), [min, max](const std::string &text) {
                         const auto number = decimal<std::int64_t>(text);
                         return number && *number >= min && *number <= max;
                     });
}

CLI::Validator wholeNumber64()
{
    return validator("a whole number of at most 64 bits, 0 or more", "",
                     [](const std::string &text) { return decimal<std::uint64_t>(text).has_value(); });
}

CLI::Validator decimalNumber(float min, float max)
{
    return validator("a number from " + shortest(min) + " to " + shortest(max), shortest(min) + ".." + shortest(max),
                     [min, max](const std::string &text) {
                         const auto number = decimal<double>(text); // used as float: 0.1 is less than 0.1f
                         const auto used = static_cast<float>(number.value_or(-1));
                         return number && used >= min && used <= max;
                     });
}

CLI::Option *addIdsOption(CLI::App &command, std::vector<TokenId> &ids, const std::string &description)
{
    const auto take = [&ids](const std::string &text) {
        Result<std::vector<TokenId>> parsed = parseIds(text);
        if (!parsed)
            throw CLI::ValidationError("--ids", parsed.error().message);
        ids = std::move(*parsed);
    };
    return command.add_option_function<std::string>("--ids", take, description)->type_name("ID,...");
}

CLI::Validator someText()
{
    return validator("some text", "", [](const std::string &text) { return !text.empty(); });
}

LoadOptions ModelOptions::loadOptions() const
{
    LoadOptions options;
    options.backend = kBackends.at(backend);
    options.threads = threads;
    return options;
}

void addModelOption(CLI::App &command, ModelOptions &options)
{
    command.add_option("--model", options.model, "GGUF model file")->required()->type_name("FILE")->check(someText());
}

void addBackendOptions(CLI::App &command, ModelOptions &options)
{
    command.add_option("--threads", options.threads, "Threads to compute with; 0: all cores")
        ->type_name("N")
        ->check(wholeNumber(0, maxThreads()));
    command.add_option("--backend", options.backend, "auto, cpu, or reference (slow and exact)")
        ->type_name("NAME")
        ->check(CLI::IsMember({"auto", "cpu", "reference"}));
}

int failed(std::string_view message)
{
    std::fflush(stdout);
    std::fprintf(stderr, "lectern-cli: %s\n", oneLine(message).c_str());
    return kFailed;
}

int failed(const Error &error)
{
    if (error.code != ErrorCode::Cancelled)
        return failed(error.text());
    return isOutputLost() ? kFailed : failed("stopped by a signal"); // flushed() says the former
}

void warn(std::string_view message)
{
    failed("warning: " + std::string(message));
}

Result<std::string> readInput(const std::string &fileOrDash)
{
    if (fileOrDash != "-")
        return readFile(fileOrDash);
    std::string text;
    char buffer[65536];
    while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, stdin))
        text.append(buffer, count);
    if (std::ferror(stdin))
        return fail(ErrorCode::Unreadable, "standard input could not be read");
    return text;
}

bool isOutputLost()
{
    return std::ferror(stdout) != 0;
}

int flushed(int exitCode)
{
    if (std::fflush(stdout) != 0 || isOutputLost())
        return failed("the output could not be written");
    return exitCode;
}

void print(std::string_view text)
{
    std::fwrite(text.data(), 1, text.size(), stdout);
}

} // namespace lectern::cli
