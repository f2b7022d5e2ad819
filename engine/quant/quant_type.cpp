// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/quant/quant_type.h"

#include "engine/quant/dequantise.h"

#include <array>

namespace lectern {

namespace {

// A row per format that this version can run.
constexpr std::array kQuantTypes = {
    QuantType{QuantId::F32, "F32", 1, 4, quant::dequantiseF32},
    QuantType{QuantId::F16, "F16", 1, 2, quant::dequantiseF16},
    QuantType{QuantId::BF16, "BF16", 1, 2, quant::dequantiseBf16},
    QuantType{QuantId::Q4_0, "Q4_0", 32, 18, quant::dequantiseQ4_0},
    QuantType{QuantId::Q4_1, "Q4_1", 32, 20, quant::dequantiseQ4_1},
    QuantType{QuantId::Q8_0, "Q8_0", 32, 34, quant::dequantiseQ8_0},
};

// Every number that ggml has given out so far, removed ones too, so that messages can name what a file holds.
constexpr std::array kGgmlNames = {
    "F32",        "F16",        "Q4_0",       "Q4_1",  "Q4_2",     "Q4_3",     "Q5_0",     "Q5_1",    "Q8_0",
    "Q8_1",       "Q2_K",       "Q3_K",       "Q4_K",  "Q5_K",     "Q6_K",     "Q8_K",     "IQ2_XXS", "IQ2_XS",
    "IQ3_XXS",    "IQ1_S",      "IQ4_NL",     "IQ3_S", "IQ2_S",    "IQ4_XS",   "I8",       "I16",     "I32",
    "I64",        "F64",        "IQ1_M",      "BF16",  "Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8", "TQ1_0",   "TQ2_0",
    "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4", "NVFP4",    "Q1_0",
};

} // namespace

std::span<const QuantType> quantTypes()
{
    return kQuantTypes;
}

const QuantType *findQuantType(std::uint32_t ggmlTypeId)
{
    for (const QuantType &type : kQuantTypes) {
        if (static_cast<std::uint32_t>(type.id) == ggmlTypeId)
            return &type;
    }
    return nullptr;
}

std::string ggmlTypeName(std::uint32_t ggmlTypeId)
{
    if (ggmlTypeId < kGgmlNames.size())
        return kGgmlNames[ggmlTypeId];
    return "type " + std::to_string(ggmlTypeId);
}

} // namespace lectern
