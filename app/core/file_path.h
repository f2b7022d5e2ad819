// SPDX-License-Identifier: GPL-3.0-or-later
// Paths from Qt to the engine: through UTF-8, so that every file name works on every system.
#pragma once

#include <QString>

#include <filesystem>

namespace lectern {

inline std::filesystem::path toFilePath(const QString &path)
{
    const QByteArray utf8 = path.toUtf8();
    return std::filesystem::path(std::u8string(utf8.begin(), utf8.end()));
}

} // namespace lectern
