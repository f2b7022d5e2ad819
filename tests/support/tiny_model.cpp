// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/tiny_model.h"

#include "tests/support/gguf_writer.h"
#include "tests/support/quantise.h"
#include "tests/support/tiny_vocabulary.h"

#include <QtGlobal>
#include <cmath>
#include <fstream>

namespace lectern::test {

namespace {

// SplitMix64 (Steele, Lea, Flood 2014).
class Random
{
public:
    explicit Random(std::uint64_t seed)
        : m_state(seed)
    {
    }

    std::uint64_t next()
    {
        std::uint64_t z = m_state += 0x9E3779B97F4A7C15u;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
        z = (z ^ z >> 27) * 0x94D049BB133111EBu;
        return z ^ z >> 31;
    }

    // About normal: the sum of four 16-bit numbers, centred, times a constant. Mean 0, deviation `deviation`.
    float normal(float deviation)
    {
        const std::uint64_t bits = next();
        const int sum =
            static_cast<int>((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48));
        return static_cast<float>(sum - 131070) * (deviation / 37837.0f);
    }

private:
    std::uint64_t m_state;
};

std::uint64_t hashOf(std::string_view name)
{
    std::uint64_t hash = 14695981039346656037u; // FNV-1a
    for (const char c : name)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return hash;
}

// A tensor has its own random numbers, so that leaving one out changes no other.
class WeightMaker
{
public:
    WeightMaker(GgufWriter &writer, const TinyModelSpec &spec)
        : m_writer(writer)
        , m_spec(spec)
    {
    }

    void matrix(const std::string &name, int columns, int rows, float deviation)
    {
        std::vector<float> values(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows));
        Random random(m_spec.seed * 1000003u + hashOf(name));
        for (float &value : values)
            value = random.normal(deviation);
        m_writer.addTensor(name, {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows)},
                           static_cast<std::uint32_t>(m_spec.weights), quantise(m_spec.weights, values));
    }

    void norm(const std::string &name)
    {
        std::vector<float> values(static_cast<std::size_t>(m_spec.width));
        Random random(m_spec.seed * 1000003u + hashOf(name));
        for (float &value : values)
            value = 1.0f + random.normal(0.25f);
        vector(name, values);
    }

    void vector(const std::string &name, const std::vector<float> &values)
    {
        m_writer.addTensor(name, {values.size()}, static_cast<std::uint32_t>(QuantId::F32),
                           quantise(QuantId::F32, values));
    }

private:
    GgufWriter &m_writer;
    const TinyModelSpec &m_spec;
};

void addHyperParameters(GgufWriter &writer, const TinyModelSpec &spec)
{
    const auto u32 = [](int value) { return static_cast<std::uint32_t>(value); };
    writer.addText("general.architecture", "llama").addText("general.name", "Tiny llama");
    writer.addU32("llama.block_count", u32(spec.layers)).addU32("llama.context_length", u32(spec.contextLength));
    const auto perLayer = [&](const char *key, int alike, const std::vector<std::int32_t> &list) {
        list.empty() ? writer.addU32(key, u32(alike)) : writer.addI32s(key, list);
    };
    writer.addU32("llama.embedding_length", u32(spec.width));
    perLayer("llama.feed_forward_length", spec.feedForward, spec.feedForwardOf);
    writer.addU32("llama.attention.head_count", u32(spec.heads));
    perLayer("llama.attention.head_count_kv", spec.kvHeads, spec.kvHeadsOf);
    writer.addU32("llama.attention.key_length", u32(spec.headSize));
    writer.addU32("llama.attention.value_length", u32(spec.headSize));
    writer.addU32("llama.rope.dimension_count", u32(spec.ropeDims));
    writer.addF32("llama.attention.layer_norm_rms_epsilon", 1e-5f).addF32("llama.rope.freq_base", 10000.0f);
}

void addWeights(GgufWriter &writer, const TinyModelSpec &spec, int vocabulary)
{
    WeightMaker make(writer, spec);
    const int qWidth = spec.heads * spec.headSize;
    // Deviations that keep every part of the network at work: attention neither flat nor on one token, logits of some
    // units.
    const float fromWidth = 1.0f / std::sqrt(static_cast<float>(spec.width));
    make.matrix("token_embd.weight", spec.width, vocabulary, 0.4f);
    if (!spec.isTied)
        make.matrix("output.weight", spec.width, vocabulary, 0.4f);
    make.norm("output_norm.weight");
    if (spec.hasRopeFreqs) {
        std::vector<float> factors;
        for (int i = 0; i < spec.ropeDims / 2; ++i)
            factors.push_back(1.0f + static_cast<float>(i)); // the slow pairs become slower
        make.vector("rope_freqs.weight", factors);
    }
    for (int layer = 0; layer < spec.layers; ++layer) {
        const std::string block = "blk." + std::to_string(layer) + ".";
        const auto index = static_cast<std::size_t>(layer);
        const int kvWidth = (spec.kvHeadsOf.empty() ? spec.kvHeads : spec.kvHeadsOf[index]) * spec.headSize;
        const int feedForward = spec.feedForwardOf.empty() ? spec.feedForward : spec.feedForwardOf[index];
        make.norm(block + "attn_norm.weight");
        make.matrix(block + "attn_q.weight", spec.width, qWidth, 1.4f * fromWidth);
        make.matrix(block + "attn_k.weight", spec.width, kvWidth, 1.4f * fromWidth);
        make.matrix(block + "attn_v.weight", spec.width, kvWidth, fromWidth);
        make.matrix(block + "attn_output.weight", qWidth, spec.width, 1.0f / std::sqrt(static_cast<float>(qWidth)));
        make.norm(block + "ffn_norm.weight");
        make.matrix(block + "ffn_gate.weight", spec.width, feedForward, 1.4f * fromWidth);
        make.matrix(block + "ffn_up.weight", spec.width, feedForward, 1.4f * fromWidth);
        make.matrix(block + "ffn_down.weight", feedForward, spec.width,
                    1.0f / std::sqrt(static_cast<float>(feedForward)));
    }
}

} // namespace

std::string tinyModelBytes(const TinyModelSpec &spec)
{
    GgufWriter writer;
    addHyperParameters(writer, spec);
    const int vocabulary = addTinyVocabulary(writer, spec);
    if (spec.paddingId)
        writer.addU32("tokenizer.ggml.padding_token_id", *spec.paddingId);
    addWeights(writer, spec, vocabulary);
    return writer.bytes();
}

std::filesystem::path writeTinyModel(const std::filesystem::path &folder, const std::string &name,
                                     const TinyModelSpec &spec)
{
    const std::filesystem::path path = folder / name;
    const std::string bytes = tinyModelBytes(spec);
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file)
        qFatal("cannot write %s", path.c_str());
    return path;
}

const std::vector<NamedTinyModel> &tinyModels()
{
    static const std::vector<NamedTinyModel> models = {
        {"llama_f32", {}},
        {"llama_f32_untied", {.isTied = false}},
        {"llama_f16", {.weights = QuantId::F16}},
        {"llama_bf16", {.weights = QuantId::BF16}},
        {"llama_q4_0", {.weights = QuantId::Q4_0}},
        {"llama_q4_1", {.weights = QuantId::Q4_1}},
        {"llama_q8_0", {.weights = QuantId::Q8_0, .isTied = false}},
        {"llama_rope_freqs", {.hasRopeFreqs = true}},
        {"llama_partial_rope", {.ropeDims = 8}},
        {"llama_wide_heads", {.headSize = 32, .ropeDims = 32}},
        {"llama_one_kv_head", {.kvHeads = 1, .headSize = 32, .ropeDims = 32}},
        {"llama_all_kv_heads", {.layers = 3, .kvHeads = 6}},
        {"llama_sentencepiece", {.vocabulary = TinyVocabulary::SentencePiece}},
    };
    return models;
}

const TinyModelSpec &tinyModel(std::string_view name)
{
    for (const NamedTinyModel &model : tinyModels()) {
        if (model.name == name)
            return model.spec;
    }
    qFatal("there is no tiny model %s", std::string(name).c_str());
}

} // namespace lectern::test
