// SPDX-License-Identifier: GPL-3.0-or-later
// What one layer of a model computes and what it keeps. Layers of a model may differ in every field; readModelSpec()
// has checked each and their relations, so kernels may trust every shape that is derived from them.
#pragma once

#include <cstdint>

namespace lectern {

enum class Mixer // how tokens see each other
{
    Attention,
    LinearAttention, // gated delta rule: a matrix for each head instead of keys and values
    ShortConvolution // the last few inputs
};

enum class FeedForwardKind
{
    Gated,  // down · (activation(gate · x) * (up · x))
    Experts // some of several gated ones, chosen for each token
};

// Of a block: attention or feed-forward.
struct NormPlaces
{
    bool before = true; // of what the block reads
    bool after = false; // of what the block adds
};

struct LayerSpec
{
    Mixer mixer = Mixer::Attention;
    int heads = 0;
    int kvHeads = 0; // divides heads
    int keySize = 0; // of a head: queries and keys
    int valueSize = 0;
    int ropeDims = 0; // even, <= keySize; 0: no rotation
    float ropeBase = 10000;
    int window = 0;    // positions that a token sees, itself included; 0: all
    int kvSource = -1; // an earlier layer whose keys and values are used instead of own ones; -1: own
    bool hasQueryKeyNorm = false;
    bool hasQkvBias = false;
    bool hasOutputBias = false;
    bool hasSinks = false;           // a learned score for each head that takes part in the softmax
    float scoreSoftCap = 0;          // scores become cap · tanh(score / cap); 0: none
    std::uint64_t stateElements = 0; // float32 values kept for each sequence; 0 with Mixer::Attention
    NormPlaces attentionNorms, ffnNorms;
    FeedForwardKind ffn = FeedForwardKind::Gated;
    int feedForward = 0;              // inner width, of one expert with Experts
    int experts = 0, expertsUsed = 0; // 0 without Experts

    int qWidth() const { return heads * keySize; }
    int kWidth() const { return kvHeads * keySize; }
    int vWidth() const { return kvHeads * valueSize; }
    int mixedWidth() const { return heads * valueSize; } // what attention gives

    bool keepsKv() const { return mixer == Mixer::Attention && kvSource < 0; }
    // KV heads · (key size + value size) · bytes per element; 0 for a layer that keeps none of its own.
    std::uint64_t kvBytesPerToken(int bytesPerElement) const
    {
        if (!keepsKv())
            return 0;
        return static_cast<std::uint64_t>(kvHeads) * static_cast<std::uint64_t>(keySize + valueSize) *
               static_cast<std::uint64_t>(bytesPerElement);
    }
    std::uint64_t stateBytes() const { return stateElements * sizeof(float); }
};

} // namespace lectern
