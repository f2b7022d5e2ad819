// SPDX-License-Identifier: GPL-3.0-or-later
// A run record with something awkward in every field, for tests of what reads and writes them.
#pragma once

#include "engine/trace/run_record.h"

namespace lectern::test {

RunRecord awkwardRecord();

} // namespace lectern::test
