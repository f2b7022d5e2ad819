// SPDX-License-Identifier: GPL-3.0-or-later
// Q8_0: 32 values in 34 bytes. d (half), then 32 signed bytes; value = q * d.
#include "engine/quant/block_bytes.h"
#include "engine/quant/dequantise.h"
#include "engine/quant/quant_type.h"

namespace lectern::quant {

void dequantiseQ8_0(const std::byte *blocks, float *values, std::size_t blockCount)
{
    for (std::size_t block = 0; block < blockCount; ++block, blocks += 34, values += 32) {
        const float d = halfToFloat(u16At(blocks));
        for (std::size_t j = 0; j < 32; ++j)
            values[j] = static_cast<float>(static_cast<std::int8_t>(byteAt(blocks, 2 + j))) * d;
    }
}

} // namespace lectern::quant
