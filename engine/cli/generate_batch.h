// SPDX-License-Identifier: GPL-3.0-or-later
// lectern-cli generate --batch: many requests at once, a JSON object a line in, one a line out in the order of the
// file.
#pragma once

#include "engine/cli/command.h"

namespace lectern::cli {

struct BatchOptions
{
    std::string model;
    LoadOptions load; // maxRuns: how many at the same time
    Request defaults; // sampling, limits and stops of lines that do not say them
    std::string file; // "-": standard input
};

// Reads all lines, runs them, prints {"text", "promptTokens", ...} or {"line", "error"} for each and a summary on
// stderr. The exit code: kFailed when a line could not be done or a signal ended it.
int runBatch(const BatchOptions &options);

} // namespace lectern::cli
