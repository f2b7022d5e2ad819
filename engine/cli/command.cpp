// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/command.h"

#include "engine/base/file.h"

#include <cstdio>
#include <map>

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

} // namespace

LoadOptions ModelOptions::loadOptions() const
{
    LoadOptions options;
    options.backend = kBackends.at(backend);
    options.threads = threads;
    return options;
}

void addModelOption(CLI::App &command, ModelOptions &options)
{
    command.add_option("--model", options.model, "GGUF model file")->required()->type_name("FILE");
}

void addBackendOptions(CLI::App &command, ModelOptions &options)
{
    command.add_option("--threads", options.threads, "Threads to compute with; 0: all cores")
        ->type_name("N")
        ->check(CLI::Range(0, 1024));
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
    return failed(error.text());
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

int flushed(int exitCode)
{
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
        return failed("the output could not be written");
    return exitCode;
}

void print(std::string_view text)
{
    std::fwrite(text.data(), 1, text.size(), stdout);
}

} // namespace lectern::cli
