// SPDX-License-Identifier: GPL-3.0-or-later
// Quantised weights times int8 activations with VPDPBUSD: 16 rows are the 16 lanes, 4 columns a lane, so that one
// weight register serves every token of the tile and nothing is ever summed across lanes.
//
// Cost per block of 32 columns and token: 8 VPDPBUSD, 1 conversion, 1 multiply, 1 or 2 FMA for 1024 operations;
// unpacking adds 12 instructions a block for the whole tile. Weights read: 320 B (Q4_1), 288 B (Q4_0), 544 B (Q8_0) a
// block. One token: 28 vector instructions per 320 B, so that at two a cycle memory (about 10 B a cycle and core) is
// the limit.
// Measured on one core of an Emerald Rapids Xeon: 387 GOP/s with 8 tokens (Q4_1; 6 tokens 377, 4 tokens 332, 2 tokens
// 260).
#include "engine/backend/cpu/kernels_avx512.h"

// GCC 12 takes the "undefined" operands of its own intrinsics for mistakes (gcc bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

namespace lectern::cpu::avx512 {

namespace {

struct Block
{
    __m512i quants[8]; // unsigned bytes; lane = row; register g holds columns 4g .. 4g + 3
    __m512 scale;
    __m512 minimum;
};

inline __m512 loadHalves(const std::byte *at)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(at)));
}

inline void unpackNibbles(const std::byte *at, __m512i *quants)
{
    const __m512i mask = _mm512_set1_epi8(0x0f);
    for (int i = 0; i < 4; ++i) {
        const __m512i both = _mm512_loadu_si512(at + 64 * i);
        quants[i] = _mm512_and_si512(both, mask);
        quants[i + 4] = _mm512_and_si512(_mm512_srli_epi16(both, 4), mask);
    }
}

// What a format says: its bytes per block, how a block is unpacked, whether it has a minimum, and log2 of the zero
// point that is inside the unsigned quants (0: none).
struct Q4_0
{
    static constexpr int kBytes = 288, kZeroPointShift = 3;
    static constexpr bool kHasMinimum = false;
    static void unpack(const std::byte *at, Block &block)
    {
        block.scale = loadHalves(at);
        unpackNibbles(at + 32, block.quants);
    }
};

struct Q4_1
{
    static constexpr int kBytes = 320, kZeroPointShift = 0;
    static constexpr bool kHasMinimum = true;
    static void unpack(const std::byte *at, Block &block)
    {
        block.scale = loadHalves(at);
        block.minimum = loadHalves(at + 32);
        unpackNibbles(at + 64, block.quants);
    }
};

struct Q8_0
{
    static constexpr int kBytes = 544, kZeroPointShift = 7;
    static constexpr bool kHasMinimum = false;
    static void unpack(const std::byte *at, Block &block)
    {
        block.scale = loadHalves(at);
        for (int i = 0; i < 8; ++i)
            block.quants[i] = _mm512_loadu_si512(at + 32 + 64 * i);
    }
};

inline __m512i broadcast4(const std::byte *at)
{
    return _mm512_set1_epi32(*reinterpret_cast<const int *>(at));
}

inline __m512 broadcast(const float *at)
{
    return _mm512_set1_ps(*at);
}

template <class Format, int N>
void multiply(const std::byte *panel, int columns, const std::byte *tile, float *y, std::size_t yStride, bool add)
{
    __m512 sum[N];
    for (int t = 0; t < N; ++t)
        sum[t] = _mm512_setzero_ps();
    for (int column = 0; column < columns; column += kBlockColumns) {
        const auto *scale = reinterpret_cast<const float *>(tile + kBlockColumns * N);
        const float *scaledSum = scale + N;
        const auto *minusSum = reinterpret_cast<const std::byte *>(scaledSum + N);
        Block block;
        Format::unpack(panel, block);
        __m512i dot[N];
#pragma GCC unroll 8
        for (int t = 0; t < N; ++t) {
            dot[t] = _mm512_setzero_si512();
            if constexpr (Format::kZeroPointShift != 0)
                dot[t] = _mm512_slli_epi32(broadcast4(minusSum + 4 * t), Format::kZeroPointShift);
        }
#pragma GCC unroll 8
        for (int g = 0; g < 8; ++g) {
#pragma GCC unroll 8
            for (int t = 0; t < N; ++t)
                dot[t] = _mm512_dpbusd_epi32(dot[t], block.quants[g], broadcast4(tile + kBlockColumns * t + 4 * g));
        }
#pragma GCC unroll 8
        for (int t = 0; t < N; ++t) {
            const __m512 factor = _mm512_mul_ps(block.scale, broadcast(scale + t));
            sum[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot[t]), factor, sum[t]);
            if constexpr (Format::kHasMinimum)
                sum[t] = _mm512_fmadd_ps(block.minimum, broadcast(scaledSum + t), sum[t]);
        }
        panel += Format::kBytes;
        tile += kInt8BlockBytes * N;
    }
    for (int t = 0; t < N; ++t, y += yStride)
        _mm512_storeu_ps(y, add ? _mm512_add_ps(_mm512_loadu_ps(y), sum[t]) : sum[t]);
}

template <class Format>
void multiplyTile(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
                  bool add)
{
    switch (tokens) {
    case 1:
        return multiply<Format, 1>(panel, columns, tile, y, yStride, add);
    case 2:
        return multiply<Format, 2>(panel, columns, tile, y, yStride, add);
    case 3:
        return multiply<Format, 3>(panel, columns, tile, y, yStride, add);
    case 4:
        return multiply<Format, 4>(panel, columns, tile, y, yStride, add);
    case 5:
        return multiply<Format, 5>(panel, columns, tile, y, yStride, add);
    case 6:
        return multiply<Format, 6>(panel, columns, tile, y, yStride, add);
    case 7:
        return multiply<Format, 7>(panel, columns, tile, y, yStride, add);
    default:
        return multiply<Format, 8>(panel, columns, tile, y, yStride, add);
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

} // namespace lectern::cpu::avx512
