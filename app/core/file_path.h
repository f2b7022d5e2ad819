// SPDX-License-Identifier: GPL-3.0-or-later
// Paths between Qt and the engine: through UTF-8, so that every file name works on every system.
#pragma once

#include <QString>

#include <filesystem>

namespace lectern {

inline std::filesystem::path toFilePath(const QString &path)
{
    const QByteArray utf8 = path.toUtf8();
    return std::filesystem::path(std::u8string(utf8.begin(), utf8.end()));
}

inline QString fromFilePath(const std::filesystem::path &path)
{
    const std::u8string utf8 = path.u8string();
    return QString::fromUtf8(reinterpret_cast<const char *>(utf8.data()), static_cast<qsizetype>(utf8.size()));
}

} // namespace lectern
