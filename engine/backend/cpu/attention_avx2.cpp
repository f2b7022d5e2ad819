// SPDX-License-Identifier: GPL-3.0-or-later
// Attention over one span with AVX2: a block of 16 positions is two registers, rows of queries go in groups of four.
#include "engine/backend/cpu/exp2_avx2.h"
#include "engine/backend/cpu/kernels_avx2.h"

namespace lectern::cpu::avx2 {

namespace {

constexpr int kBlockTokens = 16;
constexpr int kRowsAtOnce = 4;

inline __m256 loadHalves(const std::uint16_t *at)
{
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(at)));
}

// R rows of the group, whose queries are `rows` apart, over one block.
template <int R>
void scoresOf(const float *queries, int rows, const std::uint16_t *key, int headSize, float *scores)
{
    __m256 sum[R][2];
    for (auto &row : sum)
        row[0] = row[1] = _mm256_setzero_ps();
    for (int d = 0; d < headSize; ++d, key += kBlockTokens, queries += rows) {
        const __m256 low = loadHalves(key), high = loadHalves(key + 8);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
            const __m256 q = _mm256_set1_ps(queries[r]);
            sum[r][0] = _mm256_fmadd_ps(q, low, sum[r][0]);
            sum[r][1] = _mm256_fmadd_ps(q, high, sum[r][1]);
        }
    }
    for (int r = 0; r < R; ++r) {
        _mm256_storeu_ps(scores + r * kSpanTokens, sum[r][0]);
        _mm256_storeu_ps(scores + r * kSpanTokens + 8, sum[r][1]);
    }
}

template <int R, int V> // V registers of 8 dimensions; `d` is the first dimension
void sumOf(const float *weights, const std::uint16_t *const *values, int count, int headSize, int d, float *out,
           std::size_t outStride)
{
    __m256 sum[R][V];
    for (auto &row : sum) {
        for (__m256 &one : row)
            one = _mm256_setzero_ps();
    }
    for (int position = 0; position < count; ++position) {
        const std::uint16_t *value = values[position / kBlockTokens] + position % kBlockTokens * headSize + d;
        __m256 v[V];
#pragma GCC unroll 2
        for (int i = 0; i < V; ++i)
            v[i] = loadHalves(value + 8 * i);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
            const __m256 p = _mm256_set1_ps(weights[r * kSpanTokens + position]);
#pragma GCC unroll 2
            for (int i = 0; i < V; ++i)
                sum[r][i] = _mm256_fmadd_ps(p, v[i], sum[r][i]);
        }
    }
    for (int r = 0; r < R; ++r) {
        for (int i = 0; i < V; ++i)
            _mm256_storeu_ps(out + r * outStride + d + 8 * i, sum[r][i]);
    }
}

template <int R>
void weightedSumOf(const float *weights, const std::uint16_t *const *values, int count, int headSize, float *out,
                   std::size_t outStride)
{
    int d = 0;
    for (; d + 16 <= headSize; d += 16)
        sumOf<R, 2>(weights, values, count, headSize, d, out, outStride);
    for (; d + 8 <= headSize; d += 8)
        sumOf<R, 1>(weights, values, count, headSize, d, out, outStride);
    for (; d < headSize; ++d) {
        for (int r = 0; r < R; ++r) {
            float sum = 0;
            for (int position = 0; position < count; ++position) {
                const std::uint16_t bits = values[position / kBlockTokens][position % kBlockTokens * headSize + d];
                sum += weights[r * kSpanTokens + position] * _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
            }
            out[static_cast<std::size_t>(r) * outStride + static_cast<std::size_t>(d)] = sum;
        }
    }
}

} // namespace

void scores(const float *queries, int rows, const std::uint16_t *const *keys, int blocks, int headSize, float *scores)
{
    for (int first = 0; first < rows; first += kRowsAtOnce) {
        for (int b = 0; b < blocks; ++b) {
            float *to = scores + first * kSpanTokens + b * kBlockTokens;
            switch (rows - first) {
            case 1:
                scoresOf<1>(queries + first, rows, keys[b], headSize, to);
                break;
            case 2:
                scoresOf<2>(queries + first, rows, keys[b], headSize, to);
                break;
            case 3:
                scoresOf<3>(queries + first, rows, keys[b], headSize, to);
                break;
            default:
                scoresOf<kRowsAtOnce>(queries + first, rows, keys[b], headSize, to);
            }
        }
    }
}

void weightedSum(const float *weights, int rows, const std::uint16_t *const *values, int count, int headSize,
                 float *out, std::size_t outStride)
{
    for (int first = 0; first < rows; first += kRowsAtOnce) {
        const float *from = weights + first * kSpanTokens;
        float *to = out + static_cast<std::size_t>(first) * outStride;
        switch (rows - first) {
        case 1:
            weightedSumOf<1>(from, values, count, headSize, to, outStride);
            break;
        case 2:
            weightedSumOf<2>(from, values, count, headSize, to, outStride);
            break;
        case 3:
            weightedSumOf<3>(from, values, count, headSize, to, outStride);
            break;
        default:
            weightedSumOf<kRowsAtOnce>(from, values, count, headSize, to, outStride);
        }
    }
}

float softmax(float *scores, int count, float *largest)
{
    const __m256 least = _mm256_set1_ps(-__builtin_inff());
    __m256 most = least;
    for (int i = 0; i < count; i += 8) {
        const __m256 kept = _mm256_blendv_ps(least, _mm256_loadu_ps(scores + i), _mm256_castsi256_ps(lanes(count - i)));
        most = _mm256_max_ps(most, kept);
    }
    __m128 top = _mm_max_ps(_mm256_castps256_ps128(most), _mm256_extractf128_ps(most, 1));
    top = _mm_max_ps(top, _mm_movehl_ps(top, top));
    *largest = _mm_cvtss_f32(_mm_max_ss(top, _mm_shuffle_ps(top, top, 1)));
    __m256 sum = _mm256_setzero_ps();
    const int end = (count + kBlockTokens - 1) / kBlockTokens * kBlockTokens;
    for (int i = 0; i < end; i += 8) {
        const __m256 e = exp2Lanes(_mm256_sub_ps(_mm256_loadu_ps(scores + i), _mm256_set1_ps(*largest)));
        const __m256 kept = _mm256_and_ps(e, _mm256_castsi256_ps(lanes(count - i)));
        _mm256_storeu_ps(scores + i, kept);
        sum = _mm256_add_ps(sum, kept);
    }
    return addLanes(sum);
}

void mergeSpan(float *total, float keep, const float *part, float take, int n)
{
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 added = _mm256_mul_ps(_mm256_loadu_ps(part + i), _mm256_set1_ps(take));
        _mm256_storeu_ps(total + i, _mm256_fmadd_ps(_mm256_loadu_ps(total + i), _mm256_set1_ps(keep), added));
    }
    for (; i < n; ++i)
        total[i] = total[i] * keep + part[i] * take;
}

} // namespace lectern::cpu::avx2
