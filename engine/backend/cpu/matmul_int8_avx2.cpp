// SPDX-License-Identifier: GPL-3.0-or-later
// Quantised weights times int8 activations with AVX2. A panel is worked on in two halves of 8 rows: 8 lanes of 4
// columns each.
//
// Nibbles: VPMADDUBSW sums of a whole block stay below 2^15 (8 · 2 · 15 · 127 = 30480), so a block needs one widening
// VPMADDWD only: 18 instructions per block, token and half. Bytes: |weight| · sign(activation, weight) keeps a pair at
// 2 · 128 · 127 = 32512, and every group is widened: 40 instructions. The integer parts equal those of the other
// instruction sets.
#include "engine/backend/cpu/kernels_avx2.h"

#include <immintrin.h>

namespace lectern::cpu::avx2 {

namespace {

constexpr int kTokensAtOnce = 4;
constexpr int kHalfRows = 8;

inline __m256 loadHalves(const std::byte *at)
{
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(at)));
}

inline __m256i load(const std::byte *at)
{
    return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(at));
}

inline __m256i broadcast4(const std::byte *at)
{
    return _mm256_set1_epi32(*reinterpret_cast<const int *>(at));
}

// dot[t] += 8 rows of a block times the quants of N tokens; `quants` is the first register of the half.
template <int N>
inline void dotNibbles(const std::byte *quants, const std::byte *activations, __m256i *dot)
{
    const __m256i mask = _mm256_set1_epi8(0x0f);
    __m256i pairs[N];
    for (int t = 0; t < N; ++t)
        pairs[t] = _mm256_setzero_si256();
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        const __m256i both = load(quants + 64 * i);
        const __m256i low = _mm256_and_si256(both, mask);
        const __m256i high = _mm256_and_si256(_mm256_srli_epi16(both, 4), mask);
#pragma GCC unroll 4
        for (int t = 0; t < N; ++t) {
            const std::byte *x = activations + kBlockColumns * t + 4 * i;
            pairs[t] = _mm256_add_epi16(pairs[t], _mm256_maddubs_epi16(low, broadcast4(x)));
            pairs[t] = _mm256_add_epi16(pairs[t], _mm256_maddubs_epi16(high, broadcast4(x + 16)));
        }
    }
    const __m256i ones = _mm256_set1_epi16(1);
    for (int t = 0; t < N; ++t)
        dot[t] = _mm256_add_epi32(dot[t], _mm256_madd_epi16(pairs[t], ones));
}

template <int N>
inline void dotBytes(const std::byte *quants, const std::byte *activations, __m256i *dot)
{
    const __m256i flip = _mm256_set1_epi8(-128); // stored xor 0x80
    const __m256i ones = _mm256_set1_epi16(1);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
        const __m256i weights = _mm256_xor_si256(load(quants + 64 * i), flip);
        const __m256i magnitude = _mm256_abs_epi8(weights);
#pragma GCC unroll 4
        for (int t = 0; t < N; ++t) {
            const __m256i x = _mm256_sign_epi8(broadcast4(activations + kBlockColumns * t + 4 * i), weights);
            dot[t] = _mm256_add_epi32(dot[t], _mm256_madd_epi16(_mm256_maddubs_epi16(magnitude, x), ones));
        }
    }
}

struct Q4_0
{
    static constexpr int kQuants = 32, kBytes = 288, kZeroPointShift = 3;
    static constexpr bool kIsNibble = true, kHasMinimum = false;
};

struct Q4_1
{
    static constexpr int kQuants = 64, kBytes = 320, kZeroPointShift = 0;
    static constexpr bool kIsNibble = true, kHasMinimum = true;
};

struct Q8_0 // signed once the flip is undone: no zero point left
{
    static constexpr int kQuants = 32, kBytes = 544, kZeroPointShift = 0;
    static constexpr bool kIsNibble = false, kHasMinimum = false;
};

// Tokens first .. first + N - 1 of a tile of `tokens`; `half` is 0 or 1.
template <class Format, int N>
void multiply(const std::byte *panel, int columns, const std::byte *tile, int tokens, int first, int half, float *y,
              std::size_t yStride, bool add)
{
    __m256 sum[N];
    for (int t = 0; t < N; ++t)
        sum[t] = _mm256_setzero_ps();
    for (int column = 0; column < columns; column += kBlockColumns) {
        const auto *scale = reinterpret_cast<const float *>(tile + kBlockColumns * tokens) + first;
        const float *scaledSum = scale + tokens;
        const auto *minusSum = reinterpret_cast<const std::byte *>(scaledSum + tokens);
        const __m256 weightScale = loadHalves(panel + 16 * half);
        __m256i dot[N];
        for (int t = 0; t < N; ++t) {
            dot[t] = _mm256_setzero_si256();
            if constexpr (Format::kZeroPointShift != 0)
                dot[t] = _mm256_slli_epi32(broadcast4(minusSum + 4 * t), Format::kZeroPointShift);
        }
        const std::byte *quants = panel + Format::kQuants + 32 * half;
        if constexpr (Format::kIsNibble)
            dotNibbles<N>(quants, tile + kBlockColumns * first, dot);
        else
            dotBytes<N>(quants, tile + kBlockColumns * first, dot);
        for (int t = 0; t < N; ++t) {
            const __m256 factor = _mm256_mul_ps(weightScale, _mm256_set1_ps(scale[t]));
            sum[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot[t]), factor, sum[t]);
            if constexpr (Format::kHasMinimum)
                sum[t] = _mm256_fmadd_ps(loadHalves(panel + 32 + 16 * half), _mm256_set1_ps(scaledSum[t]), sum[t]);
        }
        panel += Format::kBytes;
        tile += kInt8BlockBytes * tokens;
    }
    for (int t = 0; t < N; ++t, y += yStride)
        _mm256_storeu_ps(y, add ? _mm256_add_ps(_mm256_loadu_ps(y), sum[t]) : sum[t]);
}

template <class Format>
void multiplyTile(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
                  bool add)
{
    for (int first = 0; first < tokens; first += kTokensAtOnce, y += kTokensAtOnce * yStride) {
        for (int half = 0; half < 2; ++half) {
            float *out = y + kHalfRows * half;
            switch (tokens - first) {
            case 1:
                multiply<Format, 1>(panel, columns, tile, tokens, first, half, out, yStride, add);
                break;
            case 2:
                multiply<Format, 2>(panel, columns, tile, tokens, first, half, out, yStride, add);
                break;
            case 3:
                multiply<Format, 3>(panel, columns, tile, tokens, first, half, out, yStride, add);
                break;
            default:
                multiply<Format, kTokensAtOnce>(panel, columns, tile, tokens, first, half, out, yStride, add);
            }
        }
    }
}

} // namespace

void matmulQ4_0(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
                bool add)
{
    multiplyTile<Q4_0>(panel, columns, tile, tokens, y, yStride, add);
}

void matmulQ4_1(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
                bool add)
{
    multiplyTile<Q4_1>(panel, columns, tile, tokens, y, yStride, add);
}

void matmulQ8_0(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
                bool add)
{
    multiplyTile<Q8_0>(panel, columns, tile, tokens, y, yStride, add);
}

} // namespace lectern::cpu::avx2
