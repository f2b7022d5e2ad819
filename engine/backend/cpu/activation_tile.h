// SPDX-License-Identifier: GPL-3.0-or-later
// How activations lie in memory for the matmul kernels: tiles of up to kTileTokens tokens, interleaved block by block,
// so that a kernel walks one stream and reads every value of a tile at a constant offset.
//
// Int8 tile, N tokens, for every block of 32 columns (44 N bytes):
//     int8  quants[N][32]   value = quant · scale, rounded to nearest
//     float scale[N]        largest absolute value of the block / 127
//     float scaledSum[N]    scale · sum of the quants: what a constant added to 32 weights contributes
//     int32 minusSum[N]     minus the sum of the quants: takes a zero point out of an integer dot product
// Float tile, N tokens: float values[columns][N].
#pragma once

#include <cstddef>

namespace lectern::cpu {

inline constexpr int kTileTokens = 8; // 8 sums, 8 dot products and 8 weight registers fit into 32 vector registers
inline constexpr int kBlockColumns = 32;
inline constexpr int kInt8BlockBytes = kBlockColumns + 3 * 4; // per token

enum class ActivationKind
{
    Int8,
    Float
};

constexpr std::size_t activationBytesPerToken(ActivationKind kind, int columns)
{
    return kind == ActivationKind::Int8 ? static_cast<std::size_t>(columns) / kBlockColumns * kInt8BlockBytes
                                        : static_cast<std::size_t>(columns) * sizeof(float);
}

} // namespace lectern::cpu
