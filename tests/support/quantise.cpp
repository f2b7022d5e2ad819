// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/quantise.h"

#include "tests/support/gguf_writer.h"

#include <QtGlobal>
#include <algorithm>
#include <bit>
#include <cmath>

namespace lectern::test {

namespace {

std::string u16Bytes(std::uint16_t value)
{
    return {static_cast<char>(value & 0xFF), static_cast<char>(value >> 8)};
}

int nearest(float value, int low, int high)
{
    return std::clamp(static_cast<int>(std::floor(value + 0.5f)), low, high);
}

// 16 bytes: value j in the low nibble of byte j, value j + 16 in the high one.
template <class Code>
std::string nibbles(std::span<const float> block, Code code)
{
    std::string bytes;
    for (std::size_t j = 0; j < 16; ++j)
        bytes += static_cast<char>(code(block[j]) | code(block[j + 16]) << 4);
    return bytes;
}

float largestMagnitude(std::span<const float> block)
{
    float largest = 0;
    for (const float value : block)
        largest = std::max(largest, std::fabs(value));
    return largest;
}

std::string q4_0Block(std::span<const float> block)
{
    const std::uint16_t half = floatToHalf(largestMagnitude(block) / 7.0f);
    const float d = halfToFloat(half);
    return u16Bytes(half) + nibbles(block, [d](float value) { return d == 0 ? 8 : nearest(value / d, -8, 7) + 8; });
}

std::string q4_1Block(std::span<const float> block)
{
    const auto [low, high] = std::minmax_element(block.begin(), block.end());
    const std::uint16_t halfD = floatToHalf((*high - *low) / 15.0f);
    const std::uint16_t halfM = floatToHalf(*low);
    const float d = halfToFloat(halfD);
    const float m = halfToFloat(halfM);
    return u16Bytes(halfD) + u16Bytes(halfM) +
           nibbles(block, [d, m](float value) { return d == 0 ? 0 : nearest((value - m) / d, 0, 15); });
}

std::string q8_0Block(std::span<const float> block)
{
    const std::uint16_t half = floatToHalf(largestMagnitude(block) / 127.0f);
    const float d = halfToFloat(half);
    std::string bytes = u16Bytes(half);
    for (const float value : block)
        bytes += static_cast<char>(d == 0 ? 0 : nearest(value / d, -127, 127));
    return bytes;
}

std::uint16_t toBf16(float value)
{
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

std::string oneBlock(QuantId type, std::span<const float> block)
{
    switch (type) {
    case QuantId::F32:
        return f32Bytes(block[0]);
    case QuantId::F16:
        return u16Bytes(floatToHalf(block[0]));
    case QuantId::BF16:
        return u16Bytes(toBf16(block[0]));
    case QuantId::Q4_0:
        return q4_0Block(block);
    case QuantId::Q4_1:
        return q4_1Block(block);
    case QuantId::Q8_0:
        return q8_0Block(block);
    }
    qFatal("no test quantiser for type %u", static_cast<unsigned>(type));
}

} // namespace

std::string quantise(QuantId type, std::span<const float> values)
{
    const auto block = static_cast<std::size_t>(findQuantType(static_cast<std::uint32_t>(type))->blockValues);
    std::string bytes;
    for (std::size_t i = 0; i < values.size(); i += block)
        bytes += oneBlock(type, values.subspan(i, block));
    return bytes;
}

} // namespace lectern::test
