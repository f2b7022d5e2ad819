// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/packed_matrix.h"

#include <array>
#include <cstring>

namespace lectern::cpu {

namespace {

constexpr std::array kFormats = {
    PackedFormat{QuantId::Q4_0, Packing::Q4_0, ActivationKind::Int8, 1, 16, 4, 0},
    PackedFormat{QuantId::Q4_1, Packing::Q4_1, ActivationKind::Int8, 2, 16, 4, 0},
    PackedFormat{QuantId::Q8_0, Packing::Q8_0, ActivationKind::Int8, 1, 32, 4, 0x80},
    PackedFormat{QuantId::F32, Packing::F32, ActivationKind::Float, 0, 4, 4, 0},
    PackedFormat{QuantId::F16, Packing::F16, ActivationKind::Float, 0, 2, 2, 0},
    PackedFormat{QuantId::BF16, Packing::BF16, ActivationKind::Float, 0, 2, 2, 0},
};

constexpr std::size_t kHalfBytes = 2;

// Copies `bytes` bytes and flips them; `bytes` is 2 or 4.
void copyWord(std::byte *to, const std::byte *from, int bytes, std::byte flip)
{
    for (int i = 0; i < bytes; ++i)
        to[i] = from[i] ^ flip;
}

// Calls move(byte in the file's row, byte in the panel, bytes, flip) for every piece of one row.
template <class Move>
void forEachPiece(const PackedMatrix &matrix, int lane, Move move)
{
    const PackedFormat &format = *matrix.format;
    const int blocks = matrix.columns / matrix.type->blockValues;
    const auto row = static_cast<std::size_t>(lane);
    const auto wordBytes = static_cast<std::size_t>(format.wordBytes);
    std::size_t inFile = 0, inPanel = 0;
    for (int block = 0; block < blocks; ++block) {
        for (int i = 0; i < format.halves; ++i, inFile += kHalfBytes, inPanel += kHalfBytes * kPanelRows)
            move(inFile, inPanel + kHalfBytes * row, static_cast<int>(kHalfBytes), std::byte{0});
        for (int i = 0; i < format.quantBytes;
             i += format.wordBytes, inFile += wordBytes, inPanel += wordBytes * kPanelRows)
            move(inFile, inPanel + wordBytes * row, format.wordBytes, std::byte{format.flip});
    }
}

} // namespace

const PackedFormat *findPackedFormat(std::uint32_t ggmlTypeId)
{
    for (const PackedFormat &format : kFormats) {
        if (static_cast<std::uint32_t>(format.type) == ggmlTypeId)
            return &format;
    }
    return nullptr;
}

std::size_t PackedMatrix::panelBytes() const
{
    return static_cast<std::size_t>(type->rowBytes(static_cast<std::uint64_t>(columns))) * kPanelRows;
}

void PackedMatrix::packPanel(int index, std::span<const std::byte> fileRows)
{
    std::byte *panel = data + panelBytes() * static_cast<std::size_t>(index);
    const std::size_t rowBytes = panelBytes() / kPanelRows;
    if (fileRows.size() < panelBytes())
        std::memset(panel, 0, panelBytes()); // the rows that fill up the last panel: scale 0
    const int rowsHere = static_cast<int>(fileRows.size() / rowBytes);
    for (int lane = 0; lane < rowsHere; ++lane) {
        const std::byte *row = fileRows.data() + rowBytes * static_cast<std::size_t>(lane);
        forEachPiece(*this, lane, [&](std::size_t inFile, std::size_t inPanel, int bytes, std::byte flip) {
            copyWord(panel + inPanel, row + inFile, bytes, flip);
        });
    }
}

void PackedMatrix::dequantiseRow(int row, float *values, std::vector<std::byte> &scratch) const
{
    const std::byte *from = panel(row / kPanelRows);
    scratch.resize(panelBytes() / kPanelRows);
    forEachPiece(*this, row % kPanelRows, [&](std::size_t inFile, std::size_t inPanel, int bytes, std::byte flip) {
        copyWord(scratch.data() + inFile, from + inPanel, bytes, flip);
    });
    type->dequantise(scratch.data(), values, static_cast<std::size_t>(columns / type->blockValues));
}

OperationCost PackedMatrix::cost(int tokens) const
{
    return {bytes(), 0,
            2ull * static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns) *
                static_cast<std::uint64_t>(tokens)};
}

} // namespace lectern::cpu
