// SPDX-License-Identifier: GPL-3.0-or-later
// The AVX-512 kernels, one line each; documented in kernels.h. Only the *_avx512.cpp files and their table include
// this.
#pragma once

#include "engine/backend/cpu/kernels.h"

namespace lectern::cpu::avx512 {

void matmulQ4_0(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
                bool add);
void matmulQ4_1(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
                bool add);
void matmulQ8_0(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
                bool add);
void matmulF32(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
               bool add);
void matmulF16(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
               bool add);
void matmulBf16(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
                bool add);
void scores(const float *queries, int rows, const std::uint16_t *const *keys, int blocks, int headSize, float *scores);
float softmax(float *scores, int count, float *largest);
void weightedSum(const float *weights, int rows, const std::uint16_t *const *values, int count, int headSize,
                 float *out, std::size_t outStride);
void mergeSpan(float *total, float keep, const float *part, float take, int n);

} // namespace lectern::cpu::avx512
