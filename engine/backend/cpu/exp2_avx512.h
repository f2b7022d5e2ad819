// SPDX-License-Identifier: GPL-3.0-or-later
// 2^x for 16 lanes: whole part into the exponent, the rest by a polynomial of degree 6 (fitted on [-1/2, 1/2] for the
// least relative error: 2e-9, below half a unit of float). NaN stays NaN. Only *_avx512.cpp files include this.
#pragma once

#include <immintrin.h>

namespace lectern::cpu::avx512 {

namespace {

inline __m512 exp2Lanes(__m512 x)
{
    // max and min return the second operand when one is NaN. Beyond +-200 the result is 0 or infinity anyway.
    x = _mm512_min_ps(_mm512_set1_ps(200.0f), _mm512_max_ps(_mm512_set1_ps(-200.0f), x));
    const __m512 whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 rest = _mm512_sub_ps(x, whole);
    __m512 y = _mm512_set1_ps(0.00015345810970757157f);
    y = _mm512_fmadd_ps(y, rest, _mm512_set1_ps(0.0013399930903688073f));
    y = _mm512_fmadd_ps(y, rest, _mm512_set1_ps(0.009618489071726799f));
    y = _mm512_fmadd_ps(y, rest, _mm512_set1_ps(0.05550328642129898f));
    y = _mm512_fmadd_ps(y, rest, _mm512_set1_ps(0.24022646248340607f));
    y = _mm512_fmadd_ps(y, rest, _mm512_set1_ps(0.6931471824645996f));
    y = _mm512_fmadd_ps(y, rest, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(y, whole);
}

} // namespace

} // namespace lectern::cpu::avx512
