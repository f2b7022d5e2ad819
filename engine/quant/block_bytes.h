// SPDX-License-Identifier: GPL-3.0-or-later
// Reads little-endian numbers from block bytes, which have no alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lectern::quant {

inline std::uint8_t byteAt(const std::byte *bytes, std::size_t index)
{
    return std::to_integer<std::uint8_t>(bytes[index]);
}

inline std::uint16_t u16At(const std::byte *bytes, std::size_t offset = 0)
{
    std::uint16_t value;
    std::memcpy(&value, bytes + offset, sizeof value);
    return value;
}

} // namespace lectern::quant
