// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/matmul.h"

#include <algorithm>
#include <cstring>

namespace lectern::cpu {

namespace {

// Pieces per thread: a thread that loses its core for a moment must not own half of the matrix.
constexpr int kPiecesPerThread = 6;

std::int64_t grainFor(const ThreadPool &pool, int panels)
{
    return std::max(1, panels / (pool.threads() * kPiecesPerThread));
}

void multiplyPanel(const Kernels &kernels, const ActivationTiles &x, const PackedMatrix &weights, int panel, Rows y,
                   bool add)
{
    const MatmulKernel kernel = kernels.matmul[static_cast<int>(weights.format->packing)];
    const std::byte *data = weights.panel(panel);
    for (int tile = 0; tile < x.tileCount(); ++tile) {
        kernel(data, weights.columns, x.tile(weights.format->activations, tile), x.tokensIn(tile),
               y.row(tile * kTileTokens) + panel * kPanelRows, y.stride, add);
    }
}

void writeFloatRow(const float *x, int columns, int lane, int tokens, std::byte *tile)
{
    float *to = reinterpret_cast<float *>(tile) + lane;
    for (int i = 0; i < columns; ++i, to += tokens)
        *to = x[i];
}

} // namespace

Result<ActivationTiles> ActivationTiles::create(int maxTokens, int maxColumns)
{
    ActivationTiles tiles;
    tiles.m_maxColumns = maxColumns;
    const auto tokens = static_cast<std::size_t>(maxTokens);
    const std::size_t int8Bytes = tokens * activationBytesPerToken(ActivationKind::Int8, maxColumns + kBlockColumns);
    const std::size_t floatBytes = tokens * activationBytesPerToken(ActivationKind::Float, maxColumns);
    for (auto [buffer, bytes] : {std::pair{&tiles.m_int8, int8Bytes}, std::pair{&tiles.m_float, floatBytes},
                                 std::pair{&tiles.m_normed, tokens * rowStride(maxColumns) * sizeof(float)}}) {
        Result<AlignedBuffer> memory = AlignedBuffer::create(bytes);
        if (!memory)
            return tl::unexpected(memory.error());
        *buffer = std::move(*memory);
    }
    return tiles;
}

int ActivationTiles::tokensIn(int tile) const
{
    return std::min(kTileTokens, m_tokens - tile * kTileTokens);
}

const std::byte *ActivationTiles::tile(ActivationKind kind, int index) const
{
    const AlignedBuffer &buffer = kind == ActivationKind::Int8 ? m_int8 : m_float;
    return buffer.data() + activationBytesPerToken(kind, m_columns) * static_cast<std::size_t>(index * kTileTokens);
}

void ActivationTiles::prepare(ThreadPool &pool, const Kernels &kernels, Rows x, int tokens, int columns,
                              const Norm *norm, std::span<const PackedMatrix *const> users)
{
    m_tokens = tokens;
    m_columns = columns;
    bool needsInt8 = false, needsFloat = false;
    for (const PackedMatrix *user : users)
        (user->format->activations == ActivationKind::Int8 ? needsInt8 : needsFloat) = true;
    const Rows normed{m_normed.as<float>(), rowStride(m_maxColumns)};

    pool.forEach(tileCount(), 1, [&](std::int64_t begin, std::int64_t end) {
        for (int index = static_cast<int>(begin); index < static_cast<int>(end); ++index) {
            auto *int8Tile = const_cast<std::byte *>(tile(ActivationKind::Int8, index));
            auto *floatTile = const_cast<std::byte *>(tile(ActivationKind::Float, index));
            for (int lane = 0; lane < tokensIn(index); ++lane) {
                const int token = index * kTileTokens + lane;
                const float *row = x.row(token);
                if (norm) {
                    kernels.rmsNorm(row, norm->weight, norm->epsilon, columns, normed.row(token));
                    row = normed.row(token);
                }
                if (needsInt8)
                    kernels.quantiseRow(row, columns, lane, tokensIn(index), int8Tile);
                if (needsFloat)
                    writeFloatRow(row, columns, lane, tokensIn(index), floatTile);
            }
        }
    });
}

void ActivationTiles::subtractInt8(const float *x, int token, float *left) const
{
    const int lane = token % kTileTokens, tokens = tokensIn(token / kTileTokens);
    const std::byte *block = tile(ActivationKind::Int8, token / kTileTokens);
    for (int first = 0; first < m_columns; first += kBlockColumns, block += tokens * kInt8BlockBytes) {
        const auto *quants = reinterpret_cast<const std::int8_t *>(block) + lane * kBlockColumns;
        float scale;
        std::memcpy(&scale, block + tokens * kBlockColumns + lane * static_cast<int>(sizeof scale), sizeof scale);
        for (int i = 0; i < kBlockColumns; ++i)
            left[first + i] = x[first + i] - static_cast<float>(quants[i]) * scale;
    }
}

void multiply(ThreadPool &pool, const Kernels &kernels, const ActivationTiles &x, std::span<const Product> products,
              bool add)
{
    int panels = 0;
    for (const Product &product : products)
        panels += product.weights->panels();
    pool.forEach(panels, grainFor(pool, panels), [&](std::int64_t begin, std::int64_t end) {
        int before = 0; // panels of the products before this one
        for (const Product &product : products) {
            const int first = std::max(0, static_cast<int>(begin) - before);
            const int last = std::min(product.weights->panels(), static_cast<int>(end) - before);
            for (int panel = first; panel < last; ++panel)
                multiplyPanel(kernels, x, *product.weights, panel, product.y, add);
            before += product.weights->panels();
        }
    });
}

void multiplyGated(ThreadPool &pool, const Kernels &kernels, const ActivationTiles &x, const PackedMatrix &gate,
                   const PackedMatrix &up, Rows y)
{
    const MatmulKernel gateKernel = kernels.matmul[static_cast<int>(gate.format->packing)];
    const MatmulKernel upKernel = kernels.matmul[static_cast<int>(up.format->packing)];
    pool.forEach(gate.panels(), grainFor(pool, 2 * gate.panels()), [&](std::int64_t begin, std::int64_t end) {
        alignas(64) float upValues[kTileTokens * kPanelRows];
        for (int panel = static_cast<int>(begin); panel < static_cast<int>(end); ++panel) {
            for (int tile = 0; tile < x.tileCount(); ++tile) {
                const int tokens = x.tokensIn(tile);
                float *out = y.row(tile * kTileTokens) + panel * kPanelRows;
                gateKernel(gate.panel(panel), gate.columns, x.tile(gate.format->activations, tile), tokens, out,
                           y.stride, false);
                upKernel(up.panel(panel), up.columns, x.tile(up.format->activations, tile), tokens, upValues,
                         kPanelRows, false);
                kernels.siluMul(out, y.stride, upValues, kPanelRows, tokens);
            }
        }
    });
}

} // namespace lectern::cpu
