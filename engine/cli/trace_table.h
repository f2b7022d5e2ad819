// SPDX-License-Identifier: GPL-3.0-or-later
// Where the time of a traced run went, as a table for people.
#pragma once

#include "engine/trace/run_record.h"

namespace lectern::cli {

// To stderr, a line for each operation with its share of the time and its rates, for prefill and for decode. Nothing
// when no pass was traced.
void printTraceTable(const RunRecord &record);

} // namespace lectern::cli
