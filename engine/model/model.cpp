// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/model.h"

#include "engine/base/utf8.h"
#include "engine/model/hyper_parameters.h"
#include "engine/quant/quant_type.h"

#include <array>
#include <optional>
#include <unordered_set>

namespace lectern {

namespace {

std::string tensorName(const TensorInfo &tensor)
{
    return "tensor " + printableText(tensor.name);
}

// Hands out tensors by name with the shape asked for. The first problem is kept; after it nullptr is handed out.
class TensorRoles
{
public:
    explicit TensorRoles(const GgufFile &file)
        : m_file(file)
    {
    }

    const TensorInfo *matrix(const std::string &name, int rows, int columns)
    {
        return take(name, {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows)});
    }

    const TensorInfo *vector(const std::string &name, int length)
    {
        const TensorInfo *tensor = take(name, {static_cast<std::uint64_t>(length)});
        if (tensor && tensor->typeId != static_cast<std::uint32_t>(QuantId::F32)) {
            refuse(ErrorCode::Unsupported, tensorName(*tensor),
                   "is " + ggmlTypeName(tensor->typeId) + ", expected F32");
            return nullptr;
        }
        return tensor;
    }

    bool has(const std::string &name) const { return m_file.findTensor(name) != nullptr; }

    void checkNothingIsLeft(const char *architecture)
    {
        for (const TensorInfo &tensor : m_file.tensors())
            if (!m_taken.contains(&tensor))
                refuse(ErrorCode::Unsupported, tensorName(tensor),
                       std::string("has no place in a ") + architecture + " model of " + m_layerText);
    }

    void setLayers(int layers) { m_layerText = std::to_string(layers) + " layers as this version knows it"; }
    const std::optional<Error> &error() const { return m_error; }

private:
    const TensorInfo *take(const std::string &name, std::vector<std::uint64_t> expected)
    {
        if (m_error)
            return nullptr;
        const TensorInfo *tensor = m_file.findTensor(name);
        if (!tensor) {
            refuse(ErrorCode::BadFormat, "tensor " + name, "is missing");
            return nullptr;
        }
        std::vector<std::uint64_t> shape = tensor->shape;
        while (shape.size() > 1 && shape.back() == 1) // some writers pad with ones
            shape.pop_back();
        while (expected.size() > 1 && expected.back() == 1)
            expected.pop_back();
        if (shape != expected) {
            refuse(ErrorCode::BadFormat, tensorName(*tensor),
                   "shape is " + shapeText(tensor->shape) + ", expected " + shapeText(expected));
            return nullptr;
        }
        m_taken.insert(tensor);
        return tensor;
    }

    void refuse(ErrorCode code, const std::string &subject, const std::string &message)
    {
        if (!m_error)
            m_error = fileError(m_file, code, subject, message);
    }

    const GgufFile &m_file;
    std::unordered_set<const TensorInfo *> m_taken;
    std::string m_layerText;
    std::optional<Error> m_error;
};

// A number that no version of ggml known here uses; before anything else, since such a file may be of a later format.
Result<void> checkTypesAreKnown(const GgufFile &file)
{
    for (const TensorInfo &tensor : file.tensors()) {
        const std::string type = ggmlTypeName(tensor.typeId);
        if (type == "type " + std::to_string(tensor.typeId))
            return tl::unexpected(fileError(file, ErrorCode::Unsupported, tensorName(tensor),
                                            type + " not known to this version",
                                            "A newer version may be able to run the file."));
    }
    return {};
}

Result<void> checkTypesAreSupported(const GgufFile &file)
{
    std::string list;
    for (const QuantType &type : quantTypes())
        list += (list.empty() ? "" : ", ") + std::string(type.name);
    for (const TensorInfo &tensor : file.tensors()) {
        if (!findQuantType(tensor.typeId))
            return fail(ErrorCode::Unsupported,
                        tensorName(tensor) + " is " + ggmlTypeName(tensor.typeId) +
                            ", which this version cannot run yet",
                        file.path().string(), "Choose a file whose weights are " + list + ".");
    }
    return {};
}

void assignRoles(TensorRoles &roles, Model &model)
{
    const ModelSpec &spec = model.spec;
    roles.setLayers(spec.layerCount());
    model.tokenEmbedding = roles.matrix("token_embd.weight", spec.vocabulary, spec.width);
    model.layers.reserve(spec.layers.size());
    for (std::size_t i = 0; i < spec.layers.size() && !roles.error(); ++i) {
        const LayerSpec &shape = spec.layers[i];
        const std::string prefix = "blk." + std::to_string(i) + ".";
        LayerTensors layer;
        layer.attnNorm = roles.vector(prefix + "attn_norm.weight", spec.width);
        layer.q = roles.matrix(prefix + "attn_q.weight", shape.qWidth(), spec.width);
        layer.k = roles.matrix(prefix + "attn_k.weight", shape.kWidth(), spec.width);
        layer.v = roles.matrix(prefix + "attn_v.weight", shape.vWidth(), spec.width);
        layer.attnOutput = roles.matrix(prefix + "attn_output.weight", spec.width, shape.mixedWidth());
        layer.ffnNorm = roles.vector(prefix + "ffn_norm.weight", spec.width);
        layer.gate = roles.matrix(prefix + "ffn_gate.weight", shape.feedForward, spec.width);
        layer.up = roles.matrix(prefix + "ffn_up.weight", shape.feedForward, spec.width);
        layer.down = roles.matrix(prefix + "ffn_down.weight", spec.width, shape.feedForward);
        model.layers.push_back(layer);
    }
    model.outputNorm = roles.vector("output_norm.weight", spec.width);
    model.output =
        spec.hasTiedOutput ? model.tokenEmbedding : roles.matrix("output.weight", spec.vocabulary, spec.width);
    if (roles.has("rope_freqs.weight"))
        model.ropeFactors = roles.vector("rope_freqs.weight", spec.layers[0].ropeDims / 2);
    roles.checkNothingIsLeft(spec.architecture->name);
}

// Every id that the vocabulary can give has a row in the embedding. Padding is no such id: nothing here uses it, and
// widely shared files name one past the end.
Result<void> checkTokenIds(const GgufFile &file, const ModelSpec &spec)
{
    const auto rows = static_cast<std::uint64_t>(spec.vocabulary);
    const std::string available = ", but token_embd.weight has " + std::to_string(rows) + " rows";
    const std::vector<std::string> *pieces = file.strings("tokenizer.ggml.tokens");
    if (pieces && pieces->size() > rows)
        return tl::unexpected(fileError(file, ErrorCode::BadFormat, "key tokenizer.ggml.tokens",
                                        "has " + std::to_string(pieces->size()) + " pieces" + available));
    constexpr std::array kIdKeys{"bos", "eos", "eot", "eom", "unknown", "seperator"}; // spelt so in files
    for (const char *key : kIdKeys) {
        const std::string name = std::string("tokenizer.ggml.") + key + "_token_id";
        const auto id = file.uintOr(name, 0);
        if (!id)
            return tl::unexpected(id.error());
        if (*id >= rows)
            return tl::unexpected(
                fileError(file, ErrorCode::BadFormat, "key " + name, "is " + std::to_string(*id) + available));
    }
    return {};
}

} // namespace

Result<Model> openModel(std::shared_ptr<const GgufFile> file)
{
    if (auto known = checkTypesAreKnown(*file); !known)
        return tl::unexpected(known.error());
    auto spec = readModelSpec(*file);
    if (!spec)
        return tl::unexpected(spec.error());
    if (auto supported = checkTypesAreSupported(*file); !supported)
        return tl::unexpected(supported.error());

    Model model;
    model.spec = std::move(*spec);
    TensorRoles roles(*file);
    assignRoles(roles, model);
    if (roles.error())
        return tl::unexpected(*roles.error());
    if (auto ids = checkTokenIds(*file, model.spec); !ids)
        return tl::unexpected(ids.error());
    model.file = std::move(file);
    return model;
}

} // namespace lectern
