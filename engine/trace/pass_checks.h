// SPDX-License-Identifier: GPL-3.0-or-later
// The part of run_checks.h about forward passes and preemptions.
#pragma once

#include "engine/trace/run_record.h"

#include <optional>

namespace lectern {

// As findContradiction. Passes of a run follow each other in time, their operations too: sums of their times and costs
// do not overflow.
std::optional<Error> findPassContradiction(const RunRecord &record);

} // namespace lectern
