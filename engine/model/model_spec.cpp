// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/model_spec.h"

#include "engine/base/utf8.h"
#include "engine/model/hyper_parameters.h"
#include "engine/model/layer_reader.h"
#include "engine/quant/quant_type.h"

#include <algorithm>
#include <array>
#include <map>

namespace lectern {

namespace {

// Each number fits an int, and every product of them (KV bytes of a full context) fits 64 bits.
constexpr std::int64_t kMaxLayers = 512;
constexpr std::int64_t kMaxWidth = 1 << 20;
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

void checkRopeScaling(HyperParameters &keys)
{
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

std::uint64_t ModelSpec::kvBytesPerToken(int bytesPerElement) const
{
    std::uint64_t bytes = 0;
    for (const LayerSpec &layer : layers)
        bytes += layer.kvBytesPerToken(bytesPerElement);
    return bytes;
}

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
    const int layers = keys.number("block_count", 1, kMaxLayers);
    if (keys.error())
        return tl::unexpected(*keys.error());
    keys.setLayers(layers);
    spec.layers.resize(static_cast<std::size_t>(layers));
    spec.width = keys.number("embedding_length", 1, kMaxWidth);
    spec.contextLength = keys.number("context_length", 1, kMaxContext);
    spec.architecture->readLayers(keys, spec);
    spec.normEpsilon = keys.real("attention.layer_norm_rms_epsilon");
    if (keys.isSound() && !(spec.normEpsilon > 0 && spec.normEpsilon < 1))
        keys.refuse(ErrorCode::BadFormat, keys.name("attention.layer_norm_rms_epsilon"), "must lie between 0 and 1");
    checkRopeScaling(keys);
    checkNeutralKeys(keys, spec);
    if (keys.error())
        return tl::unexpected(*keys.error());
    if (std::string problem = layerProblem(spec); !problem.empty())
        return tl::unexpected(fileError(file, ErrorCode::BadFormat, "layers", problem));

    const auto vocabulary = readVocabularyRows(file, spec);
    if (!vocabulary)
        return tl::unexpected(vocabulary.error());
    spec.vocabulary = *vocabulary;
    spec.hasTiedOutput = file.findTensor("output.weight") == nullptr;
    addUpTensors(file, spec);
    return spec;
}

} // namespace lectern
