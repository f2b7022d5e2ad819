// SPDX-License-Identifier: GPL-3.0-or-later
// Block formats of weights (ggml). A new format is one file with its dequantise function and one row of the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lectern {

enum class QuantId : std::uint32_t
{
    F32 = 0,
    F16 = 1,
    Q4_0 = 2,
    Q4_1 = 3,
    Q8_0 = 8,
    BF16 = 30
};

struct QuantType
{
    QuantId id;
    const char *name; // "Q4_1"
    int blockValues;  // values per block
    int blockBytes;   // bytes per block
    // values[blockCount * blockValues] of blocks[blockCount * blockBytes]; exactly ggml's float32 values.
    void (*dequantise)(const std::byte *blocks, float *values, std::size_t blockCount);

    std::uint64_t rowBytes(std::uint64_t columns) const { return columns / blockValues * blockBytes; }
};

std::span<const QuantType> quantTypes();
const QuantType *findQuantType(std::uint32_t ggmlTypeId); // nullptr: this version has no such type

// Name of any ggml type, supported here or not: "Q6_K"; "type 250" for numbers unknown to this version.
std::string ggmlTypeName(std::uint32_t ggmlTypeId);

float halfToFloat(std::uint16_t half);
std::uint16_t floatToHalf(float value); // round to nearest even

} // namespace lectern
