// SPDX-License-Identifier: GPL-3.0-or-later
// Hyper-parameters of a model, validated: kernels may trust every shape that is derived from them.
#pragma once

#include "engine/base/result.h"
#include "engine/gguf/gguf_file.h"
#include "engine/model/layer_spec.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace lectern {

enum class RopePairing
{
    Neighbours,
    Halves
}; // (2i, 2i+1) or (i, i + n/2)
enum class Activation
{
    Silu,
    GeluTanh
};

class HyperParameters;
struct ModelSpec;

// One row per architecture. What the file's keys do not say, the row does.
struct Architecture
{
    const char *name; // general.architecture
    RopePairing ropePairing;
    Activation activation;
    void (*readLayers)(HyperParameters &keys, ModelSpec &spec); // fills spec.layers (layer_reader.h)
};
std::span<const Architecture> architectures();
const Architecture *findArchitecture(std::string_view name);

struct ModelSpec
{
    const Architecture *architecture = nullptr;
    std::string name;         // general.name, or the file's name
    std::string quantisation; // most used weight type by bytes: "Q4_1"
    int width = 0;            // embedding length
    int vocabulary = 0;       // rows of token_embd; may exceed the tokenizer's pieces
    int contextLength = 0;    // what the model was trained for
    float normEpsilon = 0;
    bool hasTiedOutput = false;
    std::uint64_t parameters = 0;
    std::uint64_t weightBytes = 0; // all tensors as stored
    std::vector<LayerSpec> layers; // 1..512

    int layerCount() const { return static_cast<int>(layers.size()); }
    // The largest value of `size` (a field or function of LayerSpec) over all layers.
    template <class Size>
    int widest(Size size) const
    {
        int most = 0;
        for (const LayerSpec &layer : layers)
            most = std::max(most, std::invoke(size, layer));
        return most;
    }
    // What one more token adds over all layers while no window is full.
    std::uint64_t kvBytesPerToken(int bytesPerElement) const;
};

// Reads and checks the hyper-parameters. Refused by name, never guessed: unknown architectures, parts of split models,
// and keys that ask for what this version does not compute (experts, scaled rope, windows, soft caps). Any integer
// width is accepted; head counts and the feed-forward width may be one number or a list with one for each layer.
Result<ModelSpec> readModelSpec(const GgufFile &file);

} // namespace lectern
