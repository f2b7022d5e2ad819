// SPDX-License-Identifier: GPL-3.0-or-later
// The architecture table. A new architecture is one row here, plus whatever its forward pass has that no other has.
#include "engine/model/layer_reader.h"

#include <algorithm>
#include <array>

namespace lectern {

namespace {

constexpr std::array kArchitectures{
    // The converter permuted the rows of q and k, so neighbours turn (trap: the other pairing gives fluent nonsense).
    Architecture{"llama", RopePairing::Neighbours, Activation::Silu, readPlainLayers},
};

} // namespace

std::span<const Architecture> architectures()
{
    return kArchitectures;
}

const Architecture *findArchitecture(std::string_view name)
{
    const auto found = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                    [name](const Architecture &row) { return row.name == name; });
    return found == kArchitectures.end() ? nullptr : &*found;
}

} // namespace lectern
