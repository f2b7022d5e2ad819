// SPDX-License-Identifier: GPL-3.0-or-later
// The inner loops of the cpu backend, once per instruction set. Everything above this table is the same code for all of
// them.
//
// Every function computes an output element by a fixed sequence of operations, whatever the number of tokens in the
// tile, of query rows in the group or of threads: so chunked prefill equals whole prefill, and a cached run equals a
// recomputed one, bit for bit. The instruction sets agree in all integer parts and differ in the last bits of float
// sums.
//
// The files of one instruction set are compiled with its flags. They use intrinsics, raw pointers and file-local
// functions only: an inline function of a shared header compiled there could be the copy the linker keeps for everyone.
#pragma once

#include "engine/backend/cpu/activation_tile.h"
#include "engine/base/cpu_features.h"

#include <cstddef>
#include <cstdint>

namespace lectern::cpu {

inline constexpr int kPanelRows = 16; // weight rows side by side: one lane of a 512-bit register each

// Weight formats as they are packed (packed_matrix.h). The order is that of the tables of kernels.
enum class Packing
{
    Q4_0,
    Q4_1,
    Q8_0,
    F32,
    F16,
    BF16
};
inline constexpr int kPackingCount = 6;

// y[token][0..15] = panel[16, columns] · tile[columns, tokens], or += with `add`. 1 <= tokens <= kTileTokens.
using MatmulKernel = void (*)(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y,
                              std::size_t yStride, bool add);

inline constexpr int kSpanTokens = 128; // attention works through the KV cache in spans of this many positions
inline constexpr int kSpanBlocks = kSpanTokens / 16;
inline constexpr int kGroupRows = 8; // query rows that share one pass over a span

struct Kernels
{
    MatmulKernel matmul[kPackingCount];

    // y[n] = x[n] / rms(x) · weight[n]
    void (*rmsNorm)(const float *x, const float *weight, float epsilon, int n, float *y);
    // Writes x[columns] as token `lane` of a tile of `tokens`.
    void (*quantiseRow)(const float *x, int columns, int lane, int tokens, std::byte *tile);
    // gate[t][0..15] = silu(gate) · up
    void (*siluMul)(float *gate, std::size_t gateStride, const float *up, std::size_t upStride, int tokens);
    // x[n] = x · cosines + partner(x) · sines; the partner is the neighbour, or the element n / 2 away with `halves`.
    void (*rotate)(float *x, const float *cosines, const float *sines, int n, bool halves);
    void (*toHalf)(const float *x, int n, std::uint16_t *half);

    // Attention over one span, for a group of query rows. keys[i] is block i as F16 [headSize][16] (transposed: 16
    // positions are 16 lanes), values[i] F16 [16][headSize]. scores and weights are [row][kSpanTokens].
    // scores[row][position] = queries[:, row] · keys[:, position]; queries is [headSize][rows]; whole blocks are
    // computed.
    void (*scores)(const float *queries, int rows, const std::uint16_t *const *keys, int blocks, int headSize,
                   float *scores);
    // scores[0..count) become 2^(score - largest), up to the next whole block 0; returns their sum.
    float (*softmax)(float *scores, int count, float *largest);
    // out[row][headSize] = sum over `count` positions of weights[row][position] · values[position]
    void (*weightedSum)(const float *weights, int rows, const std::uint16_t *const *values, int count, int headSize,
                        float *out, std::size_t outStride);
    // total[n] = total · keep + part · take
    void (*mergeSpan)(float *total, float keep, const float *part, float take, int n);
};

const Kernels &kernelsFor(IsaLevel level); // a level this machine has

extern const Kernels kScalarKernels;
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;

} // namespace lectern::cpu
