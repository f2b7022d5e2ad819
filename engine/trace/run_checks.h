// SPDX-License-Identifier: GPL-3.0-or-later
// What must hold between the fields of a run record. Every record that an engine made passes, at any moment of its run;
// what was edited or damaged afterwards is found here.
#pragma once

#include "engine/trace/run_record.h"

#include <optional>

namespace lectern {

// The first thing that cannot be, with the field as `where` ("outputTokens[3].timeNs") and the values as `message`.
std::optional<Error> findContradiction(const RunRecord &record);

// Ids in a record are below this; a record made without a model knows no vocabulary.
int idLimit(const RunRecord &record);

} // namespace lectern
