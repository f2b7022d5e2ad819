// SPDX-License-Identifier: GPL-3.0-or-later
// Fixtures: JSON files with reference values in tests/data.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace lectern::test {

std::filesystem::path fixturePath(const std::string &name);

// Stops the test program with a message when the file is missing or no JSON: fixtures belong to the source.
nlohmann::json loadFixture(const std::string &name);
nlohmann::json loadJson(const std::filesystem::path &path);

// "47475546" -> the four bytes.
std::string fromHex(const std::string &hex);

} // namespace lectern::test
