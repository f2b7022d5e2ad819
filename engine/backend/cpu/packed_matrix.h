// SPDX-License-Identifier: GPL-3.0-or-later
// Weight matrices as the kernels want them: rows in panels of 16, side by side, values unchanged.
//
// A panel walks along the columns block by block. A block of 32 columns is, for the 16 rows: the scales (16 F16), for
// Q4_1 the minima (16 F16), then the quants, 4 bytes of row 0, 4 bytes of row 1, ... row 15, the next 4 bytes of row 0,
// ... so that one 64-byte register holds 4 columns (8-bit) or 4 + 4 columns (nibbles) of 16 rows. F32, F16 and BF16
// have blocks of one column. The last panel is filled up with rows of zeros. Source of the idea: ggml's repack (8
// rows), ik_llama.cpp's _R4 and _R8.
//
// Q8_0 quants are stored xor 0x80 (unsigned), Q4_0 nibbles as they are; both zero points leave through the block sum of
// the activations (activation_tile.h).
#pragma once

#include "engine/backend/backend.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/quant/quant_type.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace lectern::cpu {

// One row per weight format. A format whose blocks are some F16 numbers followed by quants joins by a row here, a
// kernel per instruction set and a place in Packing.
struct PackedFormat
{
    QuantId type;
    Packing packing;
    ActivationKind activations;
    int halves;        // F16 numbers at the start of a block
    int quantBytes;    // bytes of quants in a block
    int wordBytes;     // bytes of a row that stay together
    std::uint8_t flip; // xor of every quant byte
};
const PackedFormat *findPackedFormat(std::uint32_t ggmlTypeId); // nullptr: no kernel for it

struct PackedMatrix
{
    const PackedFormat *format = nullptr;
    const QuantType *type = nullptr;
    int rows = 0;
    int columns = 0;
    std::byte *data = nullptr; // panels() * panelBytes(), 64-byte aligned; owned by the weights

    int panels() const { return (rows + kPanelRows - 1) / kPanelRows; }
    std::size_t panelBytes() const;
    std::size_t rowBytes() const { return panelBytes() / kPanelRows; }
    std::size_t bytes() const { return panelBytes() * static_cast<std::size_t>(panels()); }
    const std::byte *panel(int index) const { return data + panelBytes() * static_cast<std::size_t>(index); }

    // Packs the rows of one panel, given as in the file one after another (16, or fewer in the last panel). Any thread.
    void packPanel(int index, std::span<const std::byte> fileRows);
    // The row's float32 values, exactly those of the file's format. `scratch` is used for one row as in the file.
    void dequantiseRow(int row, float *values, std::vector<std::byte> &scratch) const;

    // Multiplying `tokens` vectors with it: reads the weights once, 2 operations per weight and token.
    OperationCost cost(int tokens) const;
};

} // namespace lectern::cpu
