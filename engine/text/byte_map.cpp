// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/byte_map.h"

#include "engine/base/utf8.h"

#include <array>

namespace lectern {

namespace {

constexpr char32_t kFirstShifted = 0x100; // bytes that are not printable follow from here, in order
constexpr char32_t kAlphabetEnd = 0x144;

constexpr bool standsForItself(int byte)
{
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct ByteMap
{
    std::array<char32_t, 256> character{};
    std::array<std::int16_t, kAlphabetEnd> byte{}; // -1: not in the alphabet
};

constexpr ByteMap makeByteMap()
{
    ByteMap map;
    map.byte.fill(-1);
    char32_t next = kFirstShifted;
    for (int byte = 0; byte < 256; ++byte) {
        const auto index = static_cast<std::size_t>(byte);
        map.character[index] = standsForItself(byte) ? static_cast<char32_t>(byte) : next++;
        map.byte[map.character[index]] = static_cast<std::int16_t>(byte);
    }
    return map;
}

constexpr ByteMap kByteMap = makeByteMap();

} // namespace

std::string byteLevelPiece(std::uint8_t byte)
{
    std::string piece;
    appendUtf8(piece, kByteMap.character[byte]);
    return piece;
}

std::string byteLevelBytes(std::string_view piece)
{
    std::string bytes;
    for (std::size_t offset = 0; offset < piece.size();) {
        const CodePoint point = codePointAt(piece, offset);
        const int byte = point.isValid && point.value < kAlphabetEnd ? kByteMap.byte[point.value] : -1;
        if (byte >= 0)
            bytes += static_cast<char>(byte);
        else
            bytes += piece.substr(offset, point.bytes);
        offset += point.bytes;
    }
    return bytes;
}

} // namespace lectern
