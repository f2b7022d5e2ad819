// SPDX-License-Identifier: GPL-3.0-or-later
// F32, F16 and BF16 weights times float activations. A column of a panel is 16 weights, one a lane.
//
// Cost per column and token: 1 FMA for 32 operations; loading and widening the weights is shared by 4 tokens. Four sums
// per token (columns modulo 4) hide the latency of the FMA for a single token and keep the order of additions the same
// for all tiles.
#include "engine/backend/cpu/kernels_avx512.h"

// GCC 12 takes the "undefined" operands of its own intrinsics for mistakes (gcc bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

namespace lectern::cpu::avx512 {

namespace {

constexpr int kSums = 4;
constexpr int kTokensAtOnce = 4; // 16 sums

struct F32
{
    static constexpr int kBytes = 64;
    static __m512 load(const std::byte *at) { return _mm512_loadu_ps(at); }
};

struct F16
{
    static constexpr int kBytes = 32;
    static __m512 load(const std::byte *at)
    {
        return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(at)));
    }
};

struct Bf16
{
    static constexpr int kBytes = 32;
    static __m512 load(const std::byte *at)
    {
        const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(at)));
        return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
    }
};

// `x` is the tile from the first of these N tokens on; a column of the tile is `tokens` floats.
template <class Format, int N>
void multiply(const std::byte *panel, int columns, const float *x, int tokens, float *y, std::size_t yStride, bool add)
{
    __m512 sum[N][kSums];
    for (auto &sums : sum) {
        for (__m512 &one : sums)
            one = _mm512_setzero_ps();
    }
    int column = 0;
    for (; column + kSums <= columns; column += kSums) {
#pragma GCC unroll 4
        for (int s = 0; s < kSums; ++s) {
            const __m512 weights = Format::load(panel + s * Format::kBytes);
#pragma GCC unroll 4
            for (int t = 0; t < N; ++t)
                sum[t][s] = _mm512_fmadd_ps(weights, _mm512_set1_ps(x[s * tokens + t]), sum[t][s]);
        }
        panel += kSums * Format::kBytes;
        x += kSums * tokens;
    }
    for (; column < columns; ++column, panel += Format::kBytes, x += tokens) {
        const __m512 weights = Format::load(panel);
        for (int t = 0; t < N; ++t)
            sum[t][0] = _mm512_fmadd_ps(weights, _mm512_set1_ps(x[t]), sum[t][0]);
    }
    for (int t = 0; t < N; ++t, y += yStride) {
        const __m512 total = _mm512_add_ps(_mm512_add_ps(sum[t][0], sum[t][1]), _mm512_add_ps(sum[t][2], sum[t][3]));
        _mm512_storeu_ps(y, add ? _mm512_add_ps(_mm512_loadu_ps(y), total) : total);
    }
}

template <class Format>
void multiplyTile(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
                  bool add)
{
    const auto *x = reinterpret_cast<const float *>(tile);
    for (int first = 0; first < tokens; first += kTokensAtOnce, y += kTokensAtOnce * yStride) {
        switch (tokens - first) {
        case 1:
            multiply<Format, 1>(panel, columns, x + first, tokens, y, yStride, add);
            break;
        case 2:
            multiply<Format, 2>(panel, columns, x + first, tokens, y, yStride, add);
            break;
        case 3:
            multiply<Format, 3>(panel, columns, x + first, tokens, y, yStride, add);
            break;
        default:
            multiply<Format, kTokensAtOnce>(panel, columns, x + first, tokens, y, yStride, add);
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

} // namespace lectern::cpu::avx512
