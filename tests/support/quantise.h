// SPDX-License-Identifier: GPL-3.0-or-later
// Simple quantisers for test models. They need not be good, only the same on every machine.
#pragma once

#include "engine/quant/quant_type.h"

#include <span>
#include <string>

namespace lectern::test {

// The bytes of `values` in the format `type`; values.size() must be a multiple of its block.
std::string quantise(QuantId type, std::span<const float> values);

} // namespace lectern::test
