// SPDX-License-Identifier: GPL-3.0-or-later
// Attention over one span of the KV cache. Keys are transposed within a block, so that 16 positions are 16 lanes and a
// score is never summed across lanes; values are rows, so that 16 dimensions are 16 lanes.
//
// Cost per query row and position: headSize / 16 FMA for the score and the same for the sum; widening the F16 data
// costs two instructions per 16 numbers and is shared by the rows of the group. KV read: 4 · headSize bytes a position,
// once a group.
#include "engine/backend/cpu/kernels_avx512.h"

// GCC 12 takes the "undefined" operands of its own intrinsics for mistakes (gcc bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include "engine/backend/cpu/exp2_avx512.h"

namespace lectern::cpu::avx512 {

namespace {

constexpr int kBlockTokens = 16;

inline __m512 loadHalves(const std::uint16_t *at)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(at)));
}

inline __mmask16 lanes(int count)
{
    return count >= 16 ? static_cast<__mmask16>(0xffff) : static_cast<__mmask16>((1u << count) - 1);
}

// Rows times blocks at once: about 16 sums in registers, enough chains to hide the latency of the FMA.
constexpr int blocksAtOnce(int rows)
{
    return rows > 4 ? 2 : rows > 2 ? 4 : 8;
}

template <int R>
void scoresOf(const float *queries, const std::uint16_t *const *keys, int blocks, int headSize, float *scores)
{
    constexpr int kBlocks = blocksAtOnce(R);
    for (int first = 0; first < blocks; first += kBlocks) {
        const std::uint16_t *key[kBlocks];
        for (int b = 0; b < kBlocks; ++b) // past the end: the last block again; nobody looks at those scores
            key[b] = keys[first + b < blocks ? first + b : blocks - 1];
        __m512 sum[R][kBlocks];
        for (auto &row : sum) {
            for (__m512 &one : row)
                one = _mm512_setzero_ps();
        }
        const float *query = queries;
        for (int d = 0; d < headSize; ++d, query += R) {
            __m512 k[kBlocks];
#pragma GCC unroll 8
            for (int b = 0; b < kBlocks; ++b)
                k[b] = loadHalves(key[b] + d * kBlockTokens);
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) {
                const __m512 q = _mm512_set1_ps(query[r]);
#pragma GCC unroll 8
                for (int b = 0; b < kBlocks; ++b)
                    sum[r][b] = _mm512_fmadd_ps(q, k[b], sum[r][b]);
            }
        }
        for (int r = 0; r < R; ++r) {
            for (int b = 0; b < kBlocks; ++b)
                _mm512_storeu_ps(scores + r * kSpanTokens + (first + b) * kBlockTokens, sum[r][b]);
        }
    }
}

template <int R, int V> // V registers of 16 dimensions from dimension `d` on
void sumOf(const float *weights, const std::uint16_t *const *values, int count, int headSize, int d, float *out,
           std::size_t outStride)
{
    __m512 sum[R][V];
    for (auto &row : sum) {
        for (__m512 &one : row)
            one = _mm512_setzero_ps();
    }
    const __mmask16 lastMask = lanes(headSize - d - 16 * (V - 1));
    for (int position = 0; position < count; ++position) {
        const std::uint16_t *value = values[position / kBlockTokens] + (position % kBlockTokens) * headSize + d;
        __m512 v[V];
#pragma GCC unroll 4
        for (int i = 0; i < V - 1; ++i)
            v[i] = loadHalves(value + 16 * i);
        v[V - 1] = _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(lastMask, value + 16 * (V - 1)));
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
            const __m512 p = _mm512_set1_ps(weights[r * kSpanTokens + position]);
#pragma GCC unroll 4
            for (int i = 0; i < V; ++i)
                sum[r][i] = _mm512_fmadd_ps(p, v[i], sum[r][i]);
        }
    }
    for (int r = 0; r < R; ++r) {
        for (int i = 0; i < V; ++i)
            _mm512_mask_storeu_ps(out + r * outStride + d + 16 * i, i == V - 1 ? lastMask : lanes(16), sum[r][i]);
    }
}

template <int R>
void weightedSumOf(const float *weights, const std::uint16_t *const *values, int count, int headSize, float *out,
                   std::size_t outStride)
{
    constexpr int kRegisters = R > 4 ? 2 : 4;
    int d = 0;
    for (; d + 16 * kRegisters <= headSize; d += 16 * kRegisters)
        sumOf<R, kRegisters>(weights, values, count, headSize, d, out, outStride);
    for (; d < headSize; d += 16)
        sumOf<R, 1>(weights, values, count, headSize, d, out, outStride);
}

} // namespace

void scores(const float *queries, int rows, const std::uint16_t *const *keys, int blocks, int headSize, float *scores)
{
    switch (rows) {
    case 1:
        return scoresOf<1>(queries, keys, blocks, headSize, scores);
    case 2:
        return scoresOf<2>(queries, keys, blocks, headSize, scores);
    case 3:
        return scoresOf<3>(queries, keys, blocks, headSize, scores);
    case 4:
        return scoresOf<4>(queries, keys, blocks, headSize, scores);
    case 5:
        return scoresOf<5>(queries, keys, blocks, headSize, scores);
    case 6:
        return scoresOf<6>(queries, keys, blocks, headSize, scores);
    case 7:
        return scoresOf<7>(queries, keys, blocks, headSize, scores);
    default:
        return scoresOf<8>(queries, keys, blocks, headSize, scores);
    }
}

void weightedSum(const float *weights, int rows, const std::uint16_t *const *values, int count, int headSize,
                 float *out, std::size_t outStride)
{
    switch (rows) {
    case 1:
        return weightedSumOf<1>(weights, values, count, headSize, out, outStride);
    case 2:
        return weightedSumOf<2>(weights, values, count, headSize, out, outStride);
    case 3:
        return weightedSumOf<3>(weights, values, count, headSize, out, outStride);
    case 4:
        return weightedSumOf<4>(weights, values, count, headSize, out, outStride);
    case 5:
        return weightedSumOf<5>(weights, values, count, headSize, out, outStride);
    case 6:
        return weightedSumOf<6>(weights, values, count, headSize, out, outStride);
    case 7:
        return weightedSumOf<7>(weights, values, count, headSize, out, outStride);
    default:
        return weightedSumOf<8>(weights, values, count, headSize, out, outStride);
    }
}

float softmax(float *scores, int count, float *largest)
{
    __m512 most = _mm512_set1_ps(-__builtin_inff());
    for (int i = 0; i < count; i += kBlockTokens)
        most = _mm512_mask_max_ps(most, lanes(count - i), most, _mm512_loadu_ps(scores + i));
    *largest = _mm512_reduce_max_ps(most);
    const __m512 top = _mm512_set1_ps(*largest);
    __m512 sum = _mm512_setzero_ps();
    for (int i = 0; i < count; i += kBlockTokens) {
        const __m512 e = exp2Lanes(_mm512_sub_ps(_mm512_loadu_ps(scores + i), top));
        const __m512 kept = _mm512_maskz_mov_ps(lanes(count - i), e);
        _mm512_storeu_ps(scores + i, kept);
        sum = _mm512_add_ps(sum, kept);
    }
    return _mm512_reduce_add_ps(sum);
}

void mergeSpan(float *total, float keep, const float *part, float take, int n)
{
    const __m512 k = _mm512_set1_ps(keep), t = _mm512_set1_ps(take);
    for (int i = 0; i < n; i += 16) {
        const __mmask16 mask = lanes(n - i);
        const __m512 added = _mm512_mul_ps(_mm512_maskz_loadu_ps(mask, part + i), t);
        _mm512_mask_storeu_ps(total + i, mask, _mm512_fmadd_ps(_mm512_maskz_loadu_ps(mask, total + i), k, added));
    }
}

} // namespace lectern::cpu::avx512
