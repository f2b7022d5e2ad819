// SPDX-License-Identifier: GPL-3.0-or-later
// F32, F16 and BF16 weights times float activations with AVX2: two registers of 8 rows per column. Four sums per token
// and half (columns modulo 4) hide the latency of the FMA and keep the order of additions the same for all tiles.
#include "engine/backend/cpu/kernels_avx2.h"

#include <immintrin.h>

namespace lectern::cpu::avx2 {

namespace {

constexpr int kSums = 4;
constexpr int kHalfRows = 8;
constexpr int kTokensAtOnce = 2; // 8 sums

struct F32
{
    static constexpr int kBytes = 64;
    static __m256 load(const std::byte *at, int half)
    {
        return _mm256_loadu_ps(reinterpret_cast<const float *>(at) + kHalfRows * half);
    }
};

inline __m128i load16(const std::byte *at, int half)
{
    return _mm_loadu_si128(reinterpret_cast<const __m128i *>(at) + half);
}

struct F16
{
    static constexpr int kBytes = 32;
    static __m256 load(const std::byte *at, int half) { return _mm256_cvtph_ps(load16(at, half)); }
};

struct Bf16
{
    static constexpr int kBytes = 32;
    static __m256 load(const std::byte *at, int half)
    {
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load16(at, half)), 16));
    }
};

// `x` is the tile from the first of these N tokens on; a column of the tile is `tokens` floats.
template <class Format, int N>
void multiply(const std::byte *panel, int columns, const float *x, int tokens, int half, float *y, std::size_t yStride,
              bool add)
{
    __m256 sum[N][kSums];
    for (auto &sums : sum) {
        for (__m256 &one : sums)
            one = _mm256_setzero_ps();
    }
    int column = 0;
    for (; column + kSums <= columns; column += kSums) {
#pragma GCC unroll 4
        for (int s = 0; s < kSums; ++s) {
            const __m256 weights = Format::load(panel + s * Format::kBytes, half);
#pragma GCC unroll 2
            for (int t = 0; t < N; ++t)
                sum[t][s] = _mm256_fmadd_ps(weights, _mm256_set1_ps(x[s * tokens + t]), sum[t][s]);
        }
        panel += kSums * Format::kBytes;
        x += kSums * tokens;
    }
    for (; column < columns; ++column, panel += Format::kBytes, x += tokens) {
        for (int t = 0; t < N; ++t)
            sum[t][0] = _mm256_fmadd_ps(Format::load(panel, half), _mm256_set1_ps(x[t]), sum[t][0]);
    }
    for (int t = 0; t < N; ++t, y += yStride) {
        const __m256 total = _mm256_add_ps(_mm256_add_ps(sum[t][0], sum[t][1]), _mm256_add_ps(sum[t][2], sum[t][3]));
        _mm256_storeu_ps(y, add ? _mm256_add_ps(_mm256_loadu_ps(y), total) : total);
    }
}

template <class Format>
void multiplyTile(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
                  bool add)
{
    const auto *x = reinterpret_cast<const float *>(tile);
    for (int first = 0; first < tokens; first += kTokensAtOnce, y += kTokensAtOnce * yStride) {
        for (int half = 0; half < 2; ++half) {
            float *out = y + kHalfRows * half;
            if (tokens - first == 1)
                multiply<Format, 1>(panel, columns, x + first, tokens, half, out, yStride, add);
            else
                multiply<Format, kTokensAtOnce>(panel, columns, x + first, tokens, half, out, yStride, add);
        }
    }
}

} // namespace

void matmulF32(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
               bool add)
{
    multiplyTile<F32>(panel, columns, tile, tokens, y, yStride, add);
}

void matmulF16(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
               bool add)
{
    multiplyTile<F16>(panel, columns, tile, tokens, y, yStride, add);
}

void matmulBf16(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
                bool add)
{
    multiplyTile<Bf16>(panel, columns, tile, tokens, y, yStride, add);
}

} // namespace lectern::cpu::avx2
