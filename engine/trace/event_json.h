// SPDX-License-Identifier: GPL-3.0-or-later
// Events as JSON lines, for programs that drive lectern-cli. Fields are spelt and mean the same as in a saved run.
#pragma once

#include "engine/trace/event.h"

#include <string>

namespace lectern {

// One line without its newline; "event" is the first field. `record` is the run with this event already applied: the
// last event of a run brings its totals.
std::string eventToJsonLine(const Event &event, const RunRecord &record);

} // namespace lectern
