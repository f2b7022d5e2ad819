// SPDX-License-Identifier: GPL-3.0-or-later
// Tiny llama models with random weights and a small real tokenizer, written as complete GGUF files. The bytes depend on
// the specification only: the generator uses integers and single float multiplications, the same on every machine.
// tests/data/tiny_llama_expected.json holds the SHA-256 and the exact logits of the models of tinyModels().
#pragma once

#include "engine/quant/quant_type.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lectern::test {

enum class TinyVocabulary
{
    ByteBpe,       // "gpt2": 256 byte pieces, 40 merges, control tokens and ChatML
    SentencePiece, // "llama": byte fallback, printable ASCII, the same 40 merges as scored pieces; adds BOS
};

struct TinyModelSpec
{
    QuantId weights = QuantId::F32; // of all matrices; norms are F32
    int layers = 2;
    int width = 96; // multiple of 32
    int heads = 6;
    int kvHeads = 2;
    int headSize = 16;                                            // need not be width / heads
    int ropeDims = 16;                                            // <= headSize
    int feedForward = 160;                                        // multiple of 32
    std::vector<std::int32_t> kvHeadsOf = {}, feedForwardOf = {}; // of each layer; empty: alike, as above
    int contextLength = 256;
    bool isTied = true;
    bool hasRopeFreqs = false;
    TinyVocabulary vocabulary = TinyVocabulary::ByteBpe;
    std::string pre = "smollm"; // of a ByteBpe vocabulary: "smollm" or "gpt-2"
    std::uint64_t seed = 1;
    std::optional<std::uint32_t> paddingId = {}; // the key is written when there is one
    std::string chatTemplate = {};               // "": ChatML for ByteBpe, none for SentencePiece
    std::string missingBytes = {};               // that a ByteBpe vocabulary has no piece for
};

std::string tinyModelBytes(const TinyModelSpec &spec);

// Writes the model into `folder` as `name` and returns its path.
std::filesystem::path writeTinyModel(const std::filesystem::path &folder, const std::string &name,
                                     const TinyModelSpec &spec = {});

struct NamedTinyModel
{
    std::string name; // key in tiny_llama_expected.json
    TinyModelSpec spec;
};

// The models with stored logits.
const std::vector<NamedTinyModel> &tinyModels();
const TinyModelSpec &tinyModel(std::string_view name);

} // namespace lectern::test
