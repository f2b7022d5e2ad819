// SPDX-License-Identifier: GPL-3.0-or-later
// Work on rows of activations (norm, quantisation, gate, rotation) and the table of the AVX-512 kernels. All of it
// together is about 2 % of a pass.
#include "engine/backend/cpu/kernels_avx512.h"

// GCC 12 takes the "undefined" operands of its own intrinsics for mistakes (gcc bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include "engine/backend/cpu/exp2_avx512.h"

namespace lectern::cpu {

namespace avx512 {

namespace {

inline __mmask16 lanes(int count)
{
    return count >= 16 ? static_cast<__mmask16>(0xffff) : static_cast<__mmask16>((1u << count) - 1);
}

void rmsNorm(const float *x, const float *weight, float epsilon, int n, float *y)
{
    __m512 squares = _mm512_setzero_ps();
    for (int i = 0; i < n; i += 16) {
        const __m512 values = _mm512_maskz_loadu_ps(lanes(n - i), x + i);
        squares = _mm512_fmadd_ps(values, values, squares);
    }
    const float mean = _mm512_reduce_add_ps(squares) / static_cast<float>(n) + epsilon;
    const __m512 factor = _mm512_set1_ps(1.0f / _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(mean))));
    for (int i = 0; i < n; i += 16) {
        const __mmask16 mask = lanes(n - i);
        const __m512 scaled = _mm512_mul_ps(_mm512_maskz_loadu_ps(mask, x + i), factor);
        _mm512_mask_storeu_ps(y + i, mask, _mm512_mul_ps(scaled, _mm512_maskz_loadu_ps(mask, weight + i)));
    }
}

void quantiseRow(const float *x, int columns, int lane, int tokens, std::byte *tile)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    for (int column = 0; column < columns; column += kBlockColumns, tile += kInt8BlockBytes * tokens) {
        const __m512 low = _mm512_loadu_ps(x + column);
        const __m512 high = _mm512_loadu_ps(x + column + 16);
        // Absolute values compared as integers: the order of floats, with NaN above all, so that it is not lost.
        const __m512i most = _mm512_max_epu32(_mm512_and_si512(_mm512_castps_si512(low), magnitude),
                                              _mm512_and_si512(_mm512_castps_si512(high), magnitude));
        const float largest = _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(_mm512_reduce_max_epi32(most))));
        const float scale = largest / 127.0f;
        const __m512 inverse = _mm512_set1_ps(largest != 0.0f ? 127.0f / largest : 0.0f);
        const __m512i lowInts = _mm512_cvtps_epi32(_mm512_mul_ps(low, inverse));
        const __m512i highInts = _mm512_cvtps_epi32(_mm512_mul_ps(high, inverse));
        std::byte *quants = tile + kBlockColumns * lane;
        _mm_storeu_si128(reinterpret_cast<__m128i *>(quants), _mm512_cvtsepi32_epi8(lowInts));
        _mm_storeu_si128(reinterpret_cast<__m128i *>(quants + 16), _mm512_cvtsepi32_epi8(highInts));
        const __m512i sums = _mm512_add_epi32(lowInts, highInts);
        const int minusSum = _mm512_reduce_add_epi32(_mm512_sub_epi32(_mm512_setzero_si512(), sums));
        auto *scales = reinterpret_cast<float *>(tile + kBlockColumns * tokens);
        scales[lane] = scale;
        scales[tokens + lane] = -scale * static_cast<float>(minusSum);
        reinterpret_cast<std::int32_t *>(scales)[2 * tokens + lane] = minusSum;
    }
}

void siluMul(float *gate, std::size_t gateStride, const float *up, std::size_t upStride, int tokens)
{
    const __m512 one = _mm512_set1_ps(1.0f);
    const __m512 minusLog2e = _mm512_set1_ps(-1.44269504f);
    for (int t = 0; t < tokens; ++t, gate += gateStride, up += upStride) {
        const __m512 x = _mm512_loadu_ps(gate);
        const __m512 e = exp2Lanes(_mm512_mul_ps(x, minusLog2e));
        const __m512 silu = _mm512_div_ps(x, _mm512_add_ps(one, e));
        _mm512_storeu_ps(gate, _mm512_mul_ps(silu, _mm512_loadu_ps(up)));
    }
}

void rotate(float *x, const float *cosines, const float *sines, int n, bool halves)
{
    if (!halves) {
        for (int i = 0; i < n; i += 16) {
            const __mmask16 mask = lanes(n - i);
            const __m512 values = _mm512_maskz_loadu_ps(mask, x + i);
            const __m512 turned =
                _mm512_mul_ps(_mm512_permute_ps(values, 0xb1), _mm512_maskz_loadu_ps(mask, sines + i));
            _mm512_mask_storeu_ps(x + i, mask,
                                  _mm512_fmadd_ps(values, _mm512_maskz_loadu_ps(mask, cosines + i), turned));
        }
        return;
    }
    for (int i = 0; i < n / 2; i += 16) {
        const __mmask16 mask = lanes(n / 2 - i);
        float *second = x + n / 2;
        const __m512 a = _mm512_maskz_loadu_ps(mask, x + i), b = _mm512_maskz_loadu_ps(mask, second + i);
        const __m512 forA = _mm512_mul_ps(b, _mm512_maskz_loadu_ps(mask, sines + i));
        const __m512 forB = _mm512_mul_ps(a, _mm512_maskz_loadu_ps(mask, sines + n / 2 + i));
        _mm512_mask_storeu_ps(x + i, mask, _mm512_fmadd_ps(a, _mm512_maskz_loadu_ps(mask, cosines + i), forA));
        _mm512_mask_storeu_ps(second + i, mask,
                              _mm512_fmadd_ps(b, _mm512_maskz_loadu_ps(mask, cosines + n / 2 + i), forB));
    }
}

void toHalf(const float *x, int n, std::uint16_t *half)
{
    for (int i = 0; i < n; i += 16) {
        const __mmask16 mask = lanes(n - i);
        const __m256i bits = _mm512_cvtps_ph(_mm512_maskz_loadu_ps(mask, x + i), _MM_FROUND_TO_NEAREST_INT);
        _mm256_mask_storeu_epi16(half + i, mask, bits);
    }
}

} // namespace

} // namespace avx512

const Kernels kAvx512Kernels = {
    {avx512::matmulQ4_0, avx512::matmulQ4_1, avx512::matmulQ8_0, avx512::matmulF32, avx512::matmulF16,
     avx512::matmulBf16},
    avx512::rmsNorm,
    avx512::quantiseRow,
    avx512::siluMul,
    avx512::rotate,
    avx512::toHalf,
    avx512::scores,
    avx512::softmax,
    avx512::weightedSum,
    avx512::mergeSpan,
};

} // namespace lectern::cpu
