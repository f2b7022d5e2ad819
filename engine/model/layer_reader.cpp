// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/layer_reader.h"

#include <string>
#include <vector>

namespace lectern {

namespace {

// With the limits of model_spec.cpp every product of them (KV bytes of a full context) fits 64 bits.
constexpr std::int64_t kMaxHeads = 4096;
constexpr std::int64_t kMaxHeadSize = 4096;
constexpr std::int64_t kMaxFeedForward = 1 << 22;

void readHeads(HyperParameters &keys, ModelSpec &spec)
{
    const std::vector<int> heads = keys.perLayer("attention.head_count", 1, kMaxHeads);
    const std::vector<int> kvHeads = keys.perLayer("attention.head_count_kv", 1, kMaxHeads, heads);
    const bool hasKeyLength = keys.has("attention.key_length");
    for (std::size_t i = 0; i < spec.layers.size() && keys.isSound(); ++i) {
        if (heads[i] % kvHeads[i] != 0)
            keys.refuse(ErrorCode::BadFormat, keys.name("attention.head_count_kv"),
                        "is " + std::to_string(kvHeads[i]) + ", which does not divide attention.head_count " +
                            std::to_string(heads[i]));
        if (!hasKeyLength && (spec.width % heads[i] != 0 || heads[i] != heads[0]))
            keys.refuse(ErrorCode::BadFormat, keys.name("attention.head_count"),
                        "is " + std::to_string(heads[i]) + ", which does not divide embedding_length " +
                            std::to_string(spec.width) + " into heads of one size, and there is no " +
                            "attention.key_length");
    }
    const int ownSize = keys.isSound() ? spec.width / heads[0] : 1;
    const int keySize = keys.number("attention.key_length", 1, kMaxHeadSize, ownSize);
    const int valueSize = keys.number("attention.value_length", 1, kMaxHeadSize, keySize);
    if (keys.isSound() && valueSize != keySize)
        keys.refuse(ErrorCode::Unsupported, keys.name("attention.value_length"),
                    "is " + std::to_string(valueSize) + " and differs from the key length " + std::to_string(keySize) +
                        ", which this version cannot run");
    for (std::size_t i = 0; i < spec.layers.size(); ++i) {
        spec.layers[i].heads = heads[i];
        spec.layers[i].kvHeads = kvHeads[i];
        spec.layers[i].keySize = keySize;
        spec.layers[i].valueSize = valueSize;
    }
}

void readFeedForward(HyperParameters &keys, ModelSpec &spec)
{
    const std::vector<int> widths = keys.perLayer("feed_forward_length", 1, kMaxFeedForward);
    for (std::size_t i = 0; i < spec.layers.size(); ++i)
        spec.layers[i].feedForward = widths[i];
}

void readRope(HyperParameters &keys, ModelSpec &spec)
{
    const int headSize = spec.layers[0].keySize;
    const int dims = keys.number("rope.dimension_count", 1, kMaxHeadSize, headSize);
    if (keys.isSound() && (dims % 2 != 0 || dims > headSize))
        keys.refuse(ErrorCode::BadFormat, keys.name("rope.dimension_count"),
                    "is " + std::to_string(dims) + "; it must be even and at most the head size " +
                        std::to_string(headSize));
    const float base = keys.real("rope.freq_base", 10000.0);
    if (keys.isSound() && !(base >= 1))
        keys.refuse(ErrorCode::BadFormat, keys.name("rope.freq_base"), "must be 1 or more");
    for (LayerSpec &layer : spec.layers) {
        layer.ropeDims = dims;
        layer.ropeBase = base;
    }
}

// What another layer's keys and values must be to be used instead of own ones.
bool canUseKvOf(const LayerSpec &layer, const LayerSpec &source)
{
    return source.keepsKv() && source.kvHeads == layer.kvHeads && source.keySize == layer.keySize &&
           source.valueSize == layer.valueSize && source.window == layer.window;
}

std::string problemOf(const ModelSpec &spec, int index)
{
    const LayerSpec &layer = spec.layers[static_cast<std::size_t>(index)];
    const bool isAttention = layer.mixer == Mixer::Attention;
    if (isAttention && (layer.heads < 1 || layer.kvHeads < 1 || layer.heads % layer.kvHeads != 0))
        return "the KV heads do not divide the heads";
    if (isAttention && (layer.keySize < 1 || layer.valueSize < 1))
        return "heads have no size";
    if (layer.ropeDims < 0 || layer.ropeDims % 2 != 0 || layer.ropeDims > layer.keySize)
        return "the rotated part of a head must be even and at most the head size";
    if (layer.window < 0)
        return "the window is negative";
    if (isAttention != (layer.stateElements == 0))
        return "a layer keeps either keys and values or a state";
    if (layer.kvSource >= index ||
        (layer.kvSource >= 0 && !canUseKvOf(layer, spec.layers[static_cast<std::size_t>(layer.kvSource)])))
        return "keys and values cannot be those of layer " + std::to_string(layer.kvSource);
    if (layer.feedForward < 1)
        return "the feed-forward part has no width";
    if ((layer.ffn == FeedForwardKind::Experts) != (layer.experts > 0) || layer.expertsUsed > layer.experts)
        return "the numbers of experts contradict each other";
    return {};
}

} // namespace

void readPlainLayers(HyperParameters &keys, ModelSpec &spec)
{
    readHeads(keys, spec);
    readFeedForward(keys, spec);
    readRope(keys, spec);
}

std::string layerProblem(const ModelSpec &spec)
{
    for (int i = 0; i < spec.layerCount(); ++i)
        if (const std::string problem = problemOf(spec, i); !problem.empty())
            return "layer " + std::to_string(i) + ": " + problem;
    return {};
}

} // namespace lectern
