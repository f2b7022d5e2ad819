// SPDX-License-Identifier: GPL-3.0-or-later
// 2^x for 8 lanes, the polynomial of exp2_avx512.h; results below 2^-126 become 0. Only *_avx2.cpp files include this.
#pragma once

#include <immintrin.h>

namespace lectern::cpu::avx2 {

namespace {

inline __m256 exp2Lanes(__m256 x)
{
    // max and min return the second operand when one is NaN. At -127 the exponent field is 0, at 128 infinity.
    x = _mm256_min_ps(_mm256_set1_ps(128.0f), _mm256_max_ps(_mm256_set1_ps(-127.0f), x));
    const __m256 whole = _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m256 rest = _mm256_sub_ps(x, whole);
    __m256 y = _mm256_set1_ps(0.00015345810970757157f);
    y = _mm256_fmadd_ps(y, rest, _mm256_set1_ps(0.0013399930903688073f));
    y = _mm256_fmadd_ps(y, rest, _mm256_set1_ps(0.009618489071726799f));
    y = _mm256_fmadd_ps(y, rest, _mm256_set1_ps(0.05550328642129898f));
    y = _mm256_fmadd_ps(y, rest, _mm256_set1_ps(0.24022646248340607f));
    y = _mm256_fmadd_ps(y, rest, _mm256_set1_ps(0.6931471824645996f));
    y = _mm256_fmadd_ps(y, rest, _mm256_set1_ps(1.0f));
    const __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(whole), _mm256_set1_epi32(127));
    return _mm256_mul_ps(y, _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23)));
}

inline float addLanes(__m256 x)
{
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

// All ones in the first `count` lanes.
inline __m256i lanes(int count)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

} // namespace

} // namespace lectern::cpu::avx2
