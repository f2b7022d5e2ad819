// SPDX-License-Identifier: GPL-3.0-or-later
// Q4_0: 32 values in 18 bytes. d (half), then 16 bytes: the low nibble of byte j is value j, the high one value j + 16;
// value = (q - 8) * d.
#include "engine/quant/block_bytes.h"
#include "engine/quant/dequantise.h"
#include "engine/quant/quant_type.h"

namespace lectern::quant {

void dequantiseQ4_0(const std::byte *blocks, float *values, std::size_t blockCount)
{
    for (std::size_t block = 0; block < blockCount; ++block, blocks += 18, values += 32) {
        const float d = halfToFloat(u16At(blocks));
        for (std::size_t j = 0; j < 16; ++j) {
            const int pair = byteAt(blocks, 2 + j);
            values[j] = static_cast<float>((pair & 15) - 8) * d;
            values[j + 16] = static_cast<float>((pair >> 4) - 8) * d;
        }
    }
}

} // namespace lectern::quant
