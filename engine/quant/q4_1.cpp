// SPDX-License-Identifier: GPL-3.0-or-later
// Q4_1: 32 values in 20 bytes. d and m (halves), then 16 bytes with the nibble order of Q4_0; value = q * d + m.
#include "engine/quant/block_bytes.h"
#include "engine/quant/dequantise.h"
#include "engine/quant/quant_type.h"

namespace lectern::quant {

void dequantiseQ4_1(const std::byte *blocks, float *values, std::size_t blockCount)
{
    for (std::size_t block = 0; block < blockCount; ++block, blocks += 20, values += 32) {
        const float d = halfToFloat(u16At(blocks));
        const float m = halfToFloat(u16At(blocks, 2));
        for (std::size_t j = 0; j < 16; ++j) {
            const int pair = byteAt(blocks, 4 + j);
            values[j] = static_cast<float>(pair & 15) * d + m;
            values[j + 16] = static_cast<float>(pair >> 4) * d + m;
        }
    }
}

} // namespace lectern::quant
