// SPDX-License-Identifier: GPL-3.0-or-later
// Where tests find files that are not part of the source: the real model and the larger reference data. Both are
// optional; a test that needs one skips and names it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace lectern::test {

inline constexpr const char *kModelFileName = "SmolLM2-135M-Instruct.Q4_1.gguf";

// LECTERN_TEST_MODEL, else the folder where set-up puts the model. Nothing if there is no such file.
std::optional<std::filesystem::path> modelPath();

// A file of the reference data by its path inside that folder ("golden/logits_smollm2.json"). Nothing if absent.
std::optional<std::filesystem::path> sharedPath(const std::string &name);

} // namespace lectern::test
