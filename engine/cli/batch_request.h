// SPDX-License-Identifier: GPL-3.0-or-later
// A request as an object of a JSON-lines file. Names are those of a saved run.
#pragma once

#include "engine/trace/json.h"

namespace lectern::cli {

// "prompt" (text) or "messages" (chat, [{"role", "content"}]), and any of "maxTokens", "temperature", "topK", "topP",
// "minP", "repetitionPenalty", "seed", "stops", "id" (given back with the result); what is left out comes from
// `defaults`. InvalidInput names the field; unknown ones are refused, since a misspelt limit would be none.
Result<Request> requestFromJson(const Json &line, const Request &defaults);

} // namespace lectern::cli
