// SPDX-License-Identifier: GPL-3.0-or-later
// What the subcommands of lectern-cli share. Each adds itself to the program and sets the exit code when it runs.
#pragma once

#include "engine/engine.h"
#include "engine/trace/request_limits.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace lectern::cli {

inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

void addTokenize(CLI::App &program, int &exitCode);
void addGenerate(CLI::App &program, int &exitCode);
void addLogits(CLI::App &program, int &exitCode);
void addBench(CLI::App &program, int &exitCode);
void addInspect(CLI::App &program, int &exitCode);

// Model and machine options that several commands have.
struct ModelOptions
{
    std::string model;
    std::string backend = "auto";
    int threads = 0;

    LoadOptions loadOptions() const;
};
void addModelOption(CLI::App &command, ModelOptions &options);
void addBackendOptions(CLI::App &command, ModelOptions &options);

// Checks of option values, before they are converted. Messages quote the value and say what is allowed.
CLI::Validator wholeNumber(std::int64_t min, std::int64_t max);
CLI::Validator wholeNumber64(); // 0 to 2^64 - 1
CLI::Validator decimalNumber(float min, float max);
CLI::Validator someText(); // anything but nothing

// --ids: required by the caller where it must be given.
CLI::Option *addIdsOption(CLI::App &command, std::vector<TokenId> &ids, const std::string &description);

// Prints one line to stderr and returns kFailed.
int failed(const Error &error);
int failed(std::string_view message);

// Prints "warning: ..." to stderr.
void warn(std::string_view message);

// All of a file, or of standard input for "-". Bytes as they are.
Result<std::string> readInput(const std::string &fileOrDash);

// Whether something printed could not be written: the reader has gone, or the disk is full.
bool isOutputLost();

// Flushes stdout; kFailed with a message when something could not be written, else `exitCode`.
int flushed(int exitCode);

void print(std::string_view text); // to stdout, NUL bytes and all

// A sink for commands that load a model and show nothing of it.
class SilentSink : public EventSink
{
public:
    void emitEvent(Event) override {}
};

} // namespace lectern::cli
