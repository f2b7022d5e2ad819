// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fixture.h"

#include <QtGlobal>
#include <fstream>

namespace lectern::test {

std::filesystem::path fixturePath(const std::string &name)
{
    return std::filesystem::path(LECTERN_TEST_DATA) / name;
}

nlohmann::json loadFixture(const std::string &name)
{
    return loadJson(fixturePath(name));
}

nlohmann::json loadJson(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
    if (json.is_discarded())
        qFatal("%s is missing or no JSON", path.c_str());
    return json;
}

std::string fromHex(const std::string &hex)
{
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

} // namespace lectern::test
