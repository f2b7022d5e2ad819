// SPDX-License-Identifier: GPL-3.0-or-later
// A model file that passed every check, with its weights by role. Nothing is read into memory yet: backends do that.
#pragma once

#include "engine/model/model_spec.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace lectern {

// Tensors of one layer, shapes as its LayerSpec says; pointers into the file's directory. Matrices are [out rows, in
// columns] row-major in any type of quantTypes(), a row being whole blocks; vectors are F32.
struct LayerTensors
{
    const TensorInfo *attnNorm;   // [width]
    const TensorInfo *q;          // [qWidth, width]
    const TensorInfo *k;          // [kWidth, width]
    const TensorInfo *v;          // [vWidth, width]
    const TensorInfo *attnOutput; // [width, mixedWidth]
    const TensorInfo *ffnNorm;    // [width]
    const TensorInfo *gate;       // [feedForward, width]
    const TensorInfo *up;         // [feedForward, width]
    const TensorInfo *down;       // [width, feedForward]
};

struct Model
{
    std::shared_ptr<const GgufFile> file;
    ModelSpec spec;
    const TensorInfo *tokenEmbedding = nullptr; // [vocabulary, width]
    const TensorInfo *outputNorm = nullptr;     // [width]
    const TensorInfo *output = nullptr;         // [vocabulary, width]; the embedding itself when tied
    const TensorInfo *ropeFactors = nullptr;    // [ropeDims / 2], divides the angle; nullptr if none
    std::vector<LayerTensors> layers;
};

// Schema pass: every tensor is there, has the shape the hyper-parameters demand and a type this version can run, and no
// tensor is left over (one that nobody reads would change the answer in silence). Errors name the tensor, what was
// found and what was expected. The token ids of the vocabulary are checked against the embedding.
Result<Model> openModel(std::shared_ptr<const GgufFile> file);

} // namespace lectern
