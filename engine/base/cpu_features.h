// SPDX-License-Identifier: GPL-3.0-or-later
// What this processor can do, read once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lectern {

enum class IsaLevel
{
    Scalar,
    Avx2,
    Avx512
}; // Avx2: AVX2 + FMA + F16C; Avx512: F, BW, VL, DQ, VNNI

// Best level of this machine. The environment variable LECTERN_ISA (scalar, avx2, avx512) can only lower it.
IsaLevel bestIsaLevel();
std::string_view isaLevelName(IsaLevel level); // "scalar", "AVX2", "AVX-512 VNNI"

std::string cpuModelName(); // "" if unknown
int cpuCoreCount();         // cores this process may run on, at least 1
std::uint64_t physicalMemoryBytes();
std::uint64_t availableMemoryBytes(); // 0 if unknown

} // namespace lectern
