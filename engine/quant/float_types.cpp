// SPDX-License-Identifier: GPL-3.0-or-later
// F32, F16 and BF16: one value per block.
#include "engine/quant/block_bytes.h"
#include "engine/quant/dequantise.h"
#include "engine/quant/quant_type.h"

#include <bit>

namespace lectern {

namespace {
constexpr std::uint32_t kHalfInfinity = 0x7c00;
constexpr std::uint32_t kExponentShift = 112u << 23; // difference of the exponent biases, 127 - 15
} // namespace

float halfToFloat(std::uint16_t half)
{
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t exponent = (half >> 10) & 31u;
    const std::uint32_t mantissa = half & 0x3ffu;
    if (exponent == 31)
        return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13); // infinity, NaN with its payload
    if (exponent != 0)
        return std::bit_cast<float>(sign | ((exponent << 23) + kExponentShift) | mantissa << 13);
    const float subnormal = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(subnormal));
}

std::uint16_t floatToHalf(float value)
{
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    std::uint32_t half;
    if (magnitude > 0x7f800000u) {
        half = 0x7e00; // NaN
    } else if (magnitude >= std::bit_cast<std::uint32_t>(65536.0f)) {
        half = kHalfInfinity;
    } else if (magnitude >= std::bit_cast<std::uint32_t>(0x1p-14f)) {
        const std::uint32_t rebased = magnitude - kExponentShift;
        half = (rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13; // a carry out of 65519 gives infinity
    } else {
        // The last bit of a float near 0.5 is the last bit of a subnormal half, so the addition rounds to even for us.
        const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
        half = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f);
    }
    return static_cast<std::uint16_t>(sign | half);
}

namespace quant {

void dequantiseF32(const std::byte *blocks, float *values, std::size_t blockCount)
{
    std::memcpy(values, blocks, blockCount * sizeof(float));
}

void dequantiseF16(const std::byte *blocks, float *values, std::size_t blockCount)
{
    for (std::size_t i = 0; i < blockCount; ++i)
        values[i] = halfToFloat(u16At(blocks, 2 * i));
}

void dequantiseBf16(const std::byte *blocks, float *values, std::size_t blockCount)
{
    for (std::size_t i = 0; i < blockCount; ++i)
        values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(u16At(blocks, 2 * i)) << 16);
}

} // namespace quant
} // namespace lectern
