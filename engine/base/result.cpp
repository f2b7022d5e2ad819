// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/result.h"

namespace lectern {

std::string Error::text() const
{
    std::string line = where.empty() ? message : where + ": " + message;
    if (!remedy.empty())
        line += (line.empty() || line.back() == '.' ? " " : ". ") + remedy;
    return line;
}

std::string countOf(std::uint64_t count, std::string_view noun)
{
    return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

} // namespace lectern
