// SPDX-License-Identifier: GPL-3.0-or-later
// Work on rows of activations (norm, quantisation, gate, rotation) with AVX2, and the table of the AVX2 kernels.
#include "engine/backend/cpu/exp2_avx2.h"
#include "engine/backend/cpu/kernels_avx2.h"

namespace lectern::cpu {

namespace avx2 {

namespace {

inline __m256 loadFirst(const float *at, int count)
{
    return count >= 8 ? _mm256_loadu_ps(at) : _mm256_maskload_ps(at, lanes(count));
}

inline void storeFirst(float *at, int count, __m256 values)
{
    if (count >= 8)
        _mm256_storeu_ps(at, values);
    else
        _mm256_maskstore_ps(at, lanes(count), values);
}

void rmsNorm(const float *x, const float *weight, float epsilon, int n, float *y)
{
    __m256 squares = _mm256_setzero_ps();
    for (int i = 0; i < n; i += 8) {
        const __m256 values = loadFirst(x + i, n - i);
        squares = _mm256_fmadd_ps(values, values, squares);
    }
    const float mean = addLanes(squares) / static_cast<float>(n) + epsilon;
    const __m256 factor = _mm256_set1_ps(1.0f / _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(mean))));
    for (int i = 0; i < n; i += 8) {
        const __m256 scaled = _mm256_mul_ps(loadFirst(x + i, n - i), factor);
        storeFirst(y + i, n - i, _mm256_mul_ps(scaled, loadFirst(weight + i, n - i)));
    }
}

inline int largestLane(__m256i x)
{
    __m128i most = _mm_max_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    most = _mm_max_epi32(most, _mm_shuffle_epi32(most, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epi32(most, _mm_shuffle_epi32(most, 0xb1)));
}

inline int addLanes32(__m256i x)
{
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1)));
}

void quantiseRow(const float *x, int columns, int lane, int tokens, std::byte *tile)
{
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    for (int column = 0; column < columns; column += kBlockColumns, tile += kInt8BlockBytes * tokens) {
        // Absolute values compared as integers: the order of floats, with NaN above all, so that it is not lost.
        __m256i most = _mm256_setzero_si256();
        for (int i = 0; i < 4; ++i) {
            const __m256i bits = _mm256_castps_si256(_mm256_loadu_ps(x + column + 8 * i));
            most = _mm256_max_epi32(most, _mm256_and_si256(bits, magnitude));
        }
        const float largest = _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(largestLane(most))));
        const float scale = largest / 127.0f;
        const __m256 inverse = _mm256_set1_ps(largest != 0.0f ? 127.0f / largest : 0.0f);
        __m256i quants[4];
        __m256i minusSums = _mm256_setzero_si256();
        for (int i = 0; i < 4; ++i) {
            quants[i] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + column + 8 * i), inverse));
            minusSums = _mm256_sub_epi32(minusSums, quants[i]);
        }
        // Packing works within 128-bit halves; the permutation puts the groups of four back in order.
        const __m256i words =
            _mm256_packs_epi16(_mm256_packs_epi32(quants[0], quants[1]), _mm256_packs_epi32(quants[2], quants[3]));
        const __m256i bytes = _mm256_permutevar8x32_epi32(words, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(tile + kBlockColumns * lane), bytes);
        const int minusSum = addLanes32(minusSums);
        auto *scales = reinterpret_cast<float *>(tile + kBlockColumns * tokens);
        scales[lane] = scale;
        scales[tokens + lane] = -scale * static_cast<float>(minusSum);
        reinterpret_cast<std::int32_t *>(scales)[2 * tokens + lane] = minusSum;
    }
}

void siluMul(float *gate, std::size_t gateStride, const float *up, std::size_t upStride, int tokens)
{
    const __m256 one = _mm256_set1_ps(1.0f);
    const __m256 minusLog2e = _mm256_set1_ps(-1.44269504f);
    for (int t = 0; t < tokens; ++t, gate += gateStride, up += upStride) {
        for (int i = 0; i < kPanelRows; i += 8) {
            const __m256 x = _mm256_loadu_ps(gate + i);
            const __m256 silu = _mm256_div_ps(x, _mm256_add_ps(one, exp2Lanes(_mm256_mul_ps(x, minusLog2e))));
            _mm256_storeu_ps(gate + i, _mm256_mul_ps(silu, _mm256_loadu_ps(up + i)));
        }
    }
}

void rotate(float *x, const float *cosines, const float *sines, int n, bool halves)
{
    if (!halves) {
        for (int i = 0; i < n; i += 8) {
            const __m256 values = loadFirst(x + i, n - i);
            const __m256 turned = _mm256_mul_ps(_mm256_permute_ps(values, 0xb1), loadFirst(sines + i, n - i));
            storeFirst(x + i, n - i, _mm256_fmadd_ps(values, loadFirst(cosines + i, n - i), turned));
        }
        return;
    }
    const int half = n / 2;
    for (int i = 0; i < half; i += 8) {
        const __m256 a = loadFirst(x + i, half - i), b = loadFirst(x + half + i, half - i);
        const __m256 forA = _mm256_mul_ps(b, loadFirst(sines + i, half - i));
        const __m256 forB = _mm256_mul_ps(a, loadFirst(sines + half + i, half - i));
        storeFirst(x + i, half - i, _mm256_fmadd_ps(a, loadFirst(cosines + i, half - i), forA));
        storeFirst(x + half + i, half - i, _mm256_fmadd_ps(b, loadFirst(cosines + half + i, half - i), forB));
    }
}

void toHalf(const float *x, int n, std::uint16_t *half)
{
    int i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i *>(half + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
    for (; i < n; ++i)
        half[i] =
            static_cast<std::uint16_t>(_mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(x[i]), _MM_FROUND_TO_NEAREST_INT)));
}

} // namespace

} // namespace avx2

const Kernels kAvx2Kernels = {
    {avx2::matmulQ4_0, avx2::matmulQ4_1, avx2::matmulQ8_0, avx2::matmulF32, avx2::matmulF16, avx2::matmulBf16},
    avx2::rmsNorm,
    avx2::quantiseRow,
    avx2::siluMul,
    avx2::rotate,
    avx2::toHalf,
    avx2::scores,
    avx2::softmax,
    avx2::weightedSum,
    avx2::mergeSpan,
};

} // namespace lectern::cpu
