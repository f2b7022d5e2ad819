// SPDX-License-Identifier: GPL-3.0-or-later
// The reading half of run_json.h, on a parsed document.
#pragma once

#include "engine/trace/json.h"

namespace lectern {

// Checks every field, then what must hold between fields: ascending times, chunks that join, ids inside the vocabulary.
Result<RunRecord> recordFromJson(const Json &document);

} // namespace lectern
