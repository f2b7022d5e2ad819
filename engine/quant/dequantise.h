// SPDX-License-Identifier: GPL-3.0-or-later
// The dequantise functions behind the table in quant_type.cpp, one per format: `blocks` need no alignment, `values`
// gets blockCount * blockValues floats. Rounding is that of separate multiplications and additions (no fused ones), so
// that the values are exactly those the format stands for.
#pragma once

#include <cstddef>

namespace lectern::quant {

void dequantiseF32(const std::byte *blocks, float *values, std::size_t blockCount);
void dequantiseF16(const std::byte *blocks, float *values, std::size_t blockCount);
void dequantiseBf16(const std::byte *blocks, float *values, std::size_t blockCount);
void dequantiseQ4_0(const std::byte *blocks, float *values, std::size_t blockCount);
void dequantiseQ4_1(const std::byte *blocks, float *values, std::size_t blockCount);
void dequantiseQ8_0(const std::byte *blocks, float *values, std::size_t blockCount);

} // namespace lectern::quant
