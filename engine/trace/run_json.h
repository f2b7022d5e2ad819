// SPDX-License-Identifier: GPL-3.0-or-later
// RunRecord as JSON (*.lectern.json), schema version 2, C locale; version 1 is read too. Bytes that are not UTF-8 are
// kept as hex.
#pragma once

#include "engine/trace/run_record.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace lectern {

std::string toJson(const RunRecord &record);

// Every field is checked: types, ranges, ascending times, token ids. Errors name the field. Newer schema versions are
// refused with both numbers.
Result<RunRecord> runFromJson(std::string_view json);

Result<void> saveRun(const RunRecord &record, const std::filesystem::path &path);
Result<RunRecord> loadRun(const std::filesystem::path &path);

} // namespace lectern
