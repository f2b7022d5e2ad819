// SPDX-License-Identifier: GPL-3.0-or-later
// Matrix products over all threads: activations prepared once per use, weights cut into panels that free threads take.
#pragma once

#include "engine/backend/cpu/packed_matrix.h"
#include "engine/base/aligned_buffer.h"
#include "engine/base/thread_pool.h"

#include <cstddef>
#include <span>
#include <vector>

namespace lectern::cpu {

// Rows of floats whose stride is no power of two: rows that far apart would share cache sets.
constexpr std::size_t rowStride(int columns)
{
    return static_cast<std::size_t>((columns + kPanelRows - 1) / kPanelRows * kPanelRows + kPanelRows);
}

struct Rows
{
    float *data = nullptr; // [tokens][stride]
    std::size_t stride = 0;

    float *row(int token) const { return data + static_cast<std::size_t>(token) * stride; }
    Rows from(int token) const { return {row(token), stride}; }
};

// What a matrix is multiplied with: `tokens` rows, as int8 and, or, float tiles (activation_tile.h).
class ActivationTiles
{
public:
    // Room for `maxTokens` rows of up to `maxColumns`.
    static Result<ActivationTiles> create(int maxTokens, int maxColumns);

    struct Norm
    {
        const float *weight; // [columns]
        float epsilon;
    };
    // Fills the tiles from x[tokens][columns], normalised first if `norm` is given, in the forms that `users` need.
    void prepare(ThreadPool &pool, const Kernels &kernels, Rows x, int tokens, int columns, const Norm *norm,
                 std::span<const PackedMatrix *const> users);

    // left[columns] = x − what the int8 tiles hold for `token`, which they were prepared from.
    void subtractInt8(const float *x, int token, float *left) const;

    int tokens() const { return m_tokens; }
    int columns() const { return m_columns; }
    int tileCount() const { return (m_tokens + kTileTokens - 1) / kTileTokens; }
    int tokensIn(int tile) const;
    const std::byte *tile(ActivationKind kind, int index) const;

private:
    AlignedBuffer m_int8, m_float, m_normed;
    int m_tokens = 0;
    int m_columns = 0;
    int m_maxColumns = 0;
};

struct Product
{
    const PackedMatrix *weights;
    Rows y; // [tokens][rows]; a row has room for whole panels
};

// y = W · x for every product, or y += W · x with `add`.
void multiply(ThreadPool &pool, const Kernels &kernels, const ActivationTiles &x, std::span<const Product> products,
              bool add);

// y = silu(gate · x) · (up · x), the gated half of a feed-forward block; gate and up have the same shape.
void multiplyGated(ThreadPool &pool, const Kernels &kernels, const ActivationTiles &x, const PackedMatrix &gate,
                   const PackedMatrix &up, Rows y);

} // namespace lectern::cpu
