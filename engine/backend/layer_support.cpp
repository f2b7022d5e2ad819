// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/layer_support.h"

#include <string>

namespace lectern {

namespace {

// nullptr: nothing that is not computed.
const char *excessOf(const LayerSpec &layer, const LayerSupport &support)
{
    if (layer.mixer != Mixer::Attention)
        return "a state instead of keys and values";
    if (layer.ffn != FeedForwardKind::Gated)
        return "experts";
    if (layer.hasSinks)
        return "attention sinks";
    if (layer.hasQkvBias || layer.hasOutputBias)
        return "biases";
    if (layer.hasQueryKeyNorm)
        return "normalised queries and keys";
    if (layer.scoreSoftCap != 0)
        return "a soft cap";
    if (!layer.attentionNorms.before || layer.attentionNorms.after || !layer.ffnNorms.before || layer.ffnNorms.after)
        return "norms at other places";
    if (layer.window != 0 && !support.hasWindows)
        return "a window";
    if (layer.keySize != layer.valueSize && !support.hasUnlikeHeadSizes)
        return "keys and values of unlike sizes";
    return nullptr;
}

} // namespace

Result<void> checkLayers(const ModelSpec &spec, const LayerSupport &support)
{
    for (std::size_t i = 0; i < spec.layers.size(); ++i)
        if (const char *excess = excessOf(spec.layers[i], support))
            return fail(ErrorCode::Unsupported, "layer " + std::to_string(i) + " has " + excess + ", which the " +
                                                    support.backend + " backend cannot run");
    return {};
}

} // namespace lectern
