// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/model_draft.h"

#include <QtGlobal>

namespace lectern::test {

ModelDraft::ModelDraft()
{
    text("general.architecture", "llama");
    text("general.name", "Draft");
    number("llama.block_count", 2);
    number("llama.context_length", 128);
    number("llama.embedding_length", 64);
    number("llama.feed_forward_length", 96);
    number("llama.attention.head_count", 4);
    number("llama.attention.head_count_kv", 2);
    number("llama.rope.dimension_count", 16);
    real("llama.rope.freq_base", 10000);
    real("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    texts("tokenizer.ggml.tokens", 40);
    number("tokenizer.ggml.bos_token_id", 1);
    setShape("token_embd.weight", {64, 40});
    for (const char *block : {"blk.0.", "blk.1."}) {
        const std::string prefix = block;
        setShape(prefix + "attn_norm.weight", {64});
        setShape(prefix + "attn_q.weight", {64, 64});
        setShape(prefix + "attn_k.weight", {64, 32});
        setShape(prefix + "attn_v.weight", {64, 32});
        setShape(prefix + "attn_output.weight", {64, 64});
        setShape(prefix + "ffn_norm.weight", {64});
        setShape(prefix + "ffn_gate.weight", {64, 96});
        setShape(prefix + "ffn_up.weight", {64, 96});
        setShape(prefix + "ffn_down.weight", {96, 64});
    }
    setShape("output_norm.weight", {64});
}

void ModelDraft::set(const std::string &key, WriteEntry write)
{
    for (auto &entry : m_entries) {
        if (entry.first == key) {
            entry.second = std::move(write);
            return;
        }
    }
    m_entries.emplace_back(key, std::move(write));
}

void ModelDraft::number(const std::string &key, std::uint32_t value)
{
    set(key, [value](GgufWriter &writer, const std::string &name) { writer.addU32(name, value); });
}

void ModelDraft::real(const std::string &key, float value)
{
    set(key, [value](GgufWriter &writer, const std::string &name) { writer.addF32(name, value); });
}

void ModelDraft::text(const std::string &key, const std::string &value)
{
    set(key, [value](GgufWriter &writer, const std::string &name) { writer.addText(name, value); });
}

void ModelDraft::texts(const std::string &key, std::size_t count)
{
    set(key, [count](GgufWriter &writer, const std::string &name) {
        writer.addTexts(name, std::vector<std::string>(count, "x"));
    });
}

void ModelDraft::list(const std::string &key, const std::vector<std::int32_t> &values)
{
    set(key, [values](GgufWriter &writer, const std::string &name) { writer.addI32s(name, values); });
}

void ModelDraft::removeKey(const std::string &key)
{
    std::erase_if(m_entries, [&key](const auto &entry) { return entry.first == key; });
}

ModelDraft::Tensor *ModelDraft::find(const std::string &name)
{
    for (Tensor &tensor : m_tensors)
        if (tensor.name == name)
            return &tensor;
    return nullptr;
}

void ModelDraft::setShape(const std::string &name, std::vector<std::uint64_t> shape)
{
    std::uint64_t bytes = 4;
    for (const std::uint64_t dimension : shape)
        bytes *= dimension;
    Tensor *known = find(name);
    Tensor &tensor = known ? *known : m_tensors.emplace_back();
    tensor = {name, std::move(shape), 0, bytes};
}

void ModelDraft::setType(const std::string &name, std::uint32_t type, std::uint64_t bytes)
{
    Tensor *tensor = find(name);
    if (!tensor)
        qFatal("the draft has no tensor %s", name.c_str());
    tensor->type = type;
    tensor->bytes = bytes;
}

void ModelDraft::removeTensor(const std::string &name)
{
    std::erase_if(m_tensors, [&name](const Tensor &tensor) { return tensor.name == name; });
}

std::string ModelDraft::bytes() const
{
    GgufWriter writer;
    for (const auto &[key, write] : m_entries)
        write(writer, key);
    for (const Tensor &tensor : m_tensors)
        writer.addTensor(tensor.name, tensor.shape, tensor.type, std::string(tensor.bytes, '\0'));
    return writer.bytes();
}

} // namespace lectern::test
