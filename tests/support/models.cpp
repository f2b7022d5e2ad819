// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/models.h"

#include <cstdlib>

namespace lectern::test {

namespace {

std::optional<std::filesystem::path> ifThere(const std::filesystem::path &path)
{
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored))
        return path;
    return std::nullopt;
}

std::filesystem::path dataHome()
{
    if (const char *folder = std::getenv("XDG_DATA_HOME"); folder && *folder)
        return folder;
    const char *home = std::getenv("HOME");
    return std::filesystem::path(home ? home : "") / ".local" / "share";
}

} // namespace

std::optional<std::filesystem::path> modelPath()
{
    if (const char *chosen = std::getenv("LECTERN_TEST_MODEL"); chosen && *chosen)
        return ifThere(chosen);
    return ifThere(dataHome() / "lectern" / "models" / kModelFileName);
}

std::optional<std::filesystem::path> sharedPath(const std::string &name)
{
    return ifThere(std::filesystem::path(LECTERN_SHARED_DATA) / name);
}

} // namespace lectern::test
