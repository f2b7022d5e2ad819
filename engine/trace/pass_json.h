// SPDX-License-Identifier: GPL-3.0-or-later
// A forward pass as one JSON object, the same in saved runs and in events.
//
// Its times and counts are fields; its operations are two tables of rows:
//   "costs": [[name, weightBytes, kvBytes, flops], ...]               each once
//   "operations": [[row of costs, layer, offsetNs, ns], ...]          layer -1: before or after the layers
// What an operation costs is the same in nearly all layers: so the 244 operations of a decode step of a model with 30
// layers take 5.2 kB, with the cost in every row they took 8.5 kB. Names and costs for the whole file would save 0.4 kB
// more, but a line could not be read by itself then, and events are lines by themselves.
#pragma once

#include "engine/trace/json_reader.h"

namespace lectern {

Json passToJson(const PassRecord &pass);

// Types, ranges, names and indices are checked here; what must hold between the fields, in pass_checks.h.
PassRecord readPass(const JsonObject &json);

} // namespace lectern
