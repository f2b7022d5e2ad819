// SPDX-License-Identifier: GPL-3.0-or-later
// All weights of a model as float32, by role. Shapes as in LayerTensors and Model.
#pragma once

#include "engine/backend/backend.h"
#include "engine/base/aligned_buffer.h"

#include <span>
#include <vector>

namespace lectern::reference {

struct LayerWeights
{
    std::span<const float> attnNorm, q, k, v, attnOutput;
    std::span<const float> ffnNorm, gate, up, down;
};

struct Weights
{
    AlignedBuffer memory; // what the spans point into
    std::span<const float> tokenEmbedding;
    std::span<const float> outputNorm;
    std::span<const float> output;      // the embedding itself when tied
    std::span<const float> ropeFactors; // empty if none
    std::vector<LayerWeights> layers;
};

// Reads and dequantises every tensor, a slice at a time: beside the result only one slice is held. OutOfMemory names
// what is needed and available; Cancelled when `stop` is set, also at the very end.
Result<Weights> readWeights(const Model &model, const LoadProgressFunction &progress, const StopFlag &stop);

} // namespace lectern::reference
