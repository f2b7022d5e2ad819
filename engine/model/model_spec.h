// SPDX-License-Identifier: GPL-3.0-or-later
// Hyper-parameters of a model, validated: kernels may trust every shape that is derived from them.
#pragma once

#include "engine/base/result.h"
#include "engine/gguf/gguf_file.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

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

// One row per architecture. What the file's keys do not say, the row does.
struct Architecture
{
    const char *name; // general.architecture
    RopePairing ropePairing;
    Activation activation;
};
std::span<const Architecture> architectures();
const Architecture *findArchitecture(std::string_view name);

struct ModelSpec
{
    const Architecture *architecture = nullptr;
    std::string name;         // general.name, or the file's name
    std::string quantisation; // most used weight type by bytes: "Q4_1"
    int layers = 0;           // 1..512
    int width = 0;            // embedding length
    int heads = 0;
    int kvHeads = 0; // divides heads
    int headSize = 0;
    int ropeDims = 0; // even, <= headSize
    int feedForward = 0;
    int vocabulary = 0;    // rows of token_embd; may exceed the tokenizer's pieces
    int contextLength = 0; // what the model was trained for
    float normEpsilon = 0;
    float ropeBase = 10000;
    bool hasTiedOutput = false;
    std::uint64_t parameters = 0;
    std::uint64_t weightBytes = 0; // all tensors as stored

    int qWidth() const { return heads * headSize; }
    int kvWidth() const { return kvHeads * headSize; }
    // 2 · layers · KV heads · head size · bytes per element.
    std::uint64_t kvBytesPerToken(int bytesPerElement) const
    {
        return 2ull * static_cast<std::uint64_t>(layers) * static_cast<std::uint64_t>(kvWidth()) *
               static_cast<std::uint64_t>(bytesPerElement);
    }
};

// Reads and checks the hyper-parameters. Refused by name, never guessed: unknown architectures, parts of split models,
// and keys that ask for what this version does not compute (experts, scaled rope, windows, soft caps). Any integer
// width is accepted; a list with one number per layer is accepted when all are equal.
Result<ModelSpec> readModelSpec(const GgufFile &file);

} // namespace lectern
