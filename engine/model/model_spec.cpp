// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/model_spec.h"

#include "engine/base/utf8.h"
#include "engine/model/hyper_parameters.h"
#include "engine/quant/quant_type.h"

#include <algorithm>
#include <array>
#include <map>

namespace lectern {

namespace {

// Each number fits an int, and every product of them (KV bytes of a full context) fits 64 bits.
constexpr std::int64_t kMaxLayers = 512;
constexpr std::int64_t kMaxWidth = 1 << 20;
constexpr std::int64_t kMaxHeads = 4096;
constexpr std::int64_t kMaxHeadSize = 4096;
constexpr std::int64_t kMaxFeedForward = 1 << 22;
constexpr std::int64_t kMaxContext = 1 << 24;
constexpr std::int64_t kMaxVocabulary = 1 << 24;

// Keys that change the computation when they hold another value than this one.
struct NeutralKey
{
    const char *suffix;
    double neutral;
    const char *meaning;
};
constexpr std::array kNeutralKeys{
    NeutralKey{"expert_count", 0, "mixture of experts"},   NeutralKey{"rope.scale_linear", 1, "scaled rope"},
    NeutralKey{"rope.scaling.factor", 1, "scaled rope"},   NeutralKey{"rope.scaling.attn_factor", 1, "scaled rope"},
    NeutralKey{"attn_logit_softcapping", 0, "soft caps"},  NeutralKey{"final_logit_softcapping", 0, "soft caps"},
    NeutralKey{"attention.max_alibi_bias", 0, "ALiBi"},    NeutralKey{"attention.clamp_kqv", 0, "clamped attention"},
    NeutralKey{"embedding_scale", 1, "scaled embeddings"}, NeutralKey{"residual_scale", 1, "scaled residuals"},
    NeutralKey{"logit_scale", 1, "scaled logits"},
};

Result<const Architecture *> readArchitecture(const GgufFile &file)
{
    const auto name = file.stringValue("general.architecture");
    if (!name)
        return tl::unexpected(name.error());
    if (const Architecture *known = findArchitecture(*name))
        return known;
    std::string list;
    for (const Architecture &row : architectures())
        list += (list.empty() ? "" : ", ") + std::string(row.name);
    return tl::unexpected(fileError(file, ErrorCode::Unsupported, "key general.architecture",
                                    "architecture \"" + printableText(*name) + "\" is not known to this version",
                                    "Choose a model of one of these architectures: " + list + "."));
}

void checkSplit(HyperParameters &keys)
{
    const auto parts = keys.fileNumber("split.count", 1);
    if (parts > 1)
        keys.refuse(ErrorCode::Unsupported, "split.count",
                    "the file is one of " + std::to_string(parts) + " parts of a split model",
                    "Join the parts into one file first (llama-gguf-split --merge).");
}

void readHeads(HyperParameters &keys, ModelSpec &spec)
{
    spec.heads = keys.number("attention.head_count", 1, kMaxHeads);
    spec.kvHeads = keys.number("attention.head_count_kv", 1, kMaxHeads, spec.heads);
    if (keys.isSound() && spec.heads % spec.kvHeads != 0)
        keys.refuse(ErrorCode::BadFormat, keys.name("attention.head_count_kv"),
                    "is " + std::to_string(spec.kvHeads) + ", which does not divide attention.head_count " +
                        std::to_string(spec.heads));

    if (keys.isSound() && !keys.has("attention.key_length") && spec.width % spec.heads != 0)
        keys.refuse(ErrorCode::BadFormat, keys.name("attention.head_count"),
                    "is " + std::to_string(spec.heads) + ", which does not divide embedding_length " +
                        std::to_string(spec.width) + ", and there is no attention.key_length");
    spec.headSize =
        keys.number("attention.key_length", 1, kMaxHeadSize, spec.width / std::max<std::int64_t>(spec.heads, 1));
    const int valueSize = keys.number("attention.value_length", 1, kMaxHeadSize, spec.headSize);
    if (keys.isSound() && valueSize != spec.headSize)
        keys.refuse(ErrorCode::Unsupported, keys.name("attention.value_length"),
                    "is " + std::to_string(valueSize) + " and differs from the key length " +
                        std::to_string(spec.headSize) + ", which this version cannot run");
}

void readRope(HyperParameters &keys, ModelSpec &spec)
{
    spec.ropeDims = keys.number("rope.dimension_count", 1, kMaxHeadSize, spec.headSize);
    if (keys.isSound() && (spec.ropeDims % 2 != 0 || spec.ropeDims > spec.headSize))
        keys.refuse(ErrorCode::BadFormat, keys.name("rope.dimension_count"),
                    "is " + std::to_string(spec.ropeDims) + "; it must be even and at most the head size " +
                        std::to_string(spec.headSize));
    spec.ropeBase = keys.real("rope.freq_base", 10000.0);
    if (keys.isSound() && !(spec.ropeBase >= 1))
        keys.refuse(ErrorCode::BadFormat, keys.name("rope.freq_base"), "must be 1 or more");

    // "linear" with factor 1 computes nothing else than "none"; the factor is one of the neutral keys.
    const std::string scaling = keys.text("rope.scaling.type", "none");
    if (scaling != "none" && scaling != "linear")
        keys.refuse(ErrorCode::Unsupported, keys.name("rope.scaling.type"),
                    "rope scaling \"" + printableText(scaling) + "\" is not supported by this version");
}

void checkNeutralKeys(HyperParameters &keys, const ModelSpec &spec)
{
    for (const NeutralKey &row : kNeutralKeys) {
        const float value = keys.real(row.suffix, row.neutral);
        if (keys.isSound() && value != static_cast<float>(row.neutral))
            keys.refuse(ErrorCode::Unsupported, keys.name(row.suffix),
                        std::string("asks for ") + row.meaning + ", which this version cannot run");
    }
    // A window as long as the context hides nothing.
    const int window = keys.number("attention.sliding_window", 0, kMaxContext, 0);
    if (keys.isSound() && window != 0 && window < spec.contextLength)
        keys.refuse(ErrorCode::Unsupported, keys.name("attention.sliding_window"),
                    "asks for windowed attention, which this version cannot run");
}

Result<int> readVocabularyRows(const GgufFile &file, const ModelSpec &spec)
{
    const auto refuse = [&file](ErrorCode code, const std::string &message) {
        return tl::unexpected(fileError(file, code, "tensor token_embd.weight", message));
    };
    const TensorInfo *embedding = file.findTensor("token_embd.weight");
    if (!embedding)
        return refuse(ErrorCode::BadFormat, "is missing");
    if (embedding->shape.size() != 2 || embedding->columns() != static_cast<std::uint64_t>(spec.width))
        return refuse(ErrorCode::BadFormat, "shape is " + shapeText(embedding->shape) + ", expected [" +
                                                std::to_string(spec.width) + ", vocabulary]");
    if (embedding->rows() > static_cast<std::uint64_t>(kMaxVocabulary))
        return refuse(ErrorCode::Unsupported, "has " + std::to_string(embedding->rows()) + " rows, allowed are " +
                                                  std::to_string(kMaxVocabulary));
    return static_cast<int>(embedding->rows());
}

void addUpTensors(const GgufFile &file, ModelSpec &spec)
{
    std::map<std::uint32_t, std::uint64_t> bytesOfType;
    for (const TensorInfo &tensor : file.tensors()) {
        spec.parameters += tensor.rows() * tensor.columns();
        spec.weightBytes += tensor.bytes;
        bytesOfType[tensor.typeId] += tensor.bytes;
    }
    const auto most = std::max_element(bytesOfType.begin(), bytesOfType.end(),
                                       [](const auto &a, const auto &b) { return a.second < b.second; });
    if (most != bytesOfType.end())
        spec.quantisation = ggmlTypeName(most->first);
}

} // namespace

Result<ModelSpec> readModelSpec(const GgufFile &file)
{
    const auto architecture = readArchitecture(file);
    if (!architecture)
        return tl::unexpected(architecture.error());

    ModelSpec spec;
    spec.architecture = *architecture;
    HyperParameters keys(file, spec.architecture->name);
    checkSplit(keys);
    spec.name = printableText(keys.fileText("general.name", file.path().stem().string()));
    spec.layers = keys.number("block_count", 1, kMaxLayers);
    keys.setLayers(spec.layers);
    spec.width = keys.number("embedding_length", 1, kMaxWidth);
    spec.feedForward = keys.number("feed_forward_length", 1, kMaxFeedForward);
    spec.contextLength = keys.number("context_length", 1, kMaxContext);
    readHeads(keys, spec);
    spec.normEpsilon = keys.real("attention.layer_norm_rms_epsilon");
    if (keys.isSound() && !(spec.normEpsilon > 0 && spec.normEpsilon < 1))
        keys.refuse(ErrorCode::BadFormat, keys.name("attention.layer_norm_rms_epsilon"), "must lie between 0 and 1");
    readRope(keys, spec);
    checkNeutralKeys(keys, spec);
    if (keys.error())
        return tl::unexpected(*keys.error());

    const auto vocabulary = readVocabularyRows(file, spec);
    if (!vocabulary)
        return tl::unexpected(vocabulary.error());
    spec.vocabulary = *vocabulary;
    spec.hasTiedOutput = file.findTensor("output.weight") == nullptr;
    addUpTensors(file, spec);
    return spec;
}

} // namespace lectern
