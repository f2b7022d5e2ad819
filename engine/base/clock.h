// SPDX-License-Identifier: GPL-3.0-or-later
// The one steady clock of the program.
#pragma once

#include <chrono>
#include <cstdint>

namespace lectern {

// Nanoseconds of the steady clock. Only differences mean something.
inline std::int64_t nowNs()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

} // namespace lectern
