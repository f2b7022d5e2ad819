// SPDX-License-Identifier: GPL-3.0-or-later
// The forward pass of a decoder-only transformer, in the order of the papers, in float32. It is here to be read, and to
// say what every faster backend has to compute.
#include "engine/backend/reference/operations.h"
#include "engine/backend/reference/reference_weights.h"
#include "engine/base/cpu_features.h"

#include <algorithm>
#include <string>

namespace lectern {

namespace {

using namespace reference;

class ReferenceBackend : public Backend
{
public:
    ReferenceBackend(const ModelSpec &spec, Weights weights, int threads, ResidualObserver observer)
        : m_spec(spec)
        , m_weights(std::move(weights))
        , m_pool(threads)
        , m_observer(std::move(observer))
    {
    }

    BackendInfo info() const override { return {"reference", "float32", m_pool.threads(), m_weights.memory.size()}; }
    KvElement kvElement() const override { return KvElement::F32; }

    Result<std::span<float>> forward(KvSequence &kv, std::span<const TokenId> tokens, bool wantsLogits,
                                     const StopFlag &stop) override;
    PassCost cost(int position, int tokens, bool wantsLogits) const override;

private:
    Result<void> checkInput(KvSequence &kv, std::span<const TokenId> tokens) const;

    ModelSpec m_spec;
    Weights m_weights;
    ThreadPool m_pool;
    ResidualObserver m_observer; // may be empty
    std::vector<float> m_logits;
};

Result<std::span<float>> ReferenceBackend::forward(KvSequence &kv, std::span<const TokenId> tokens, bool wantsLogits,
                                                   const StopFlag &stop)
{
    if (auto sound = checkInput(kv, tokens); !sound)
        return tl::unexpected(sound.error());
    const int first = kv.tokens(); // position of the first new token
    const int count = static_cast<int>(tokens.size());
    if (auto room = kv.reserve(count); !room)
        return tl::unexpected(room.error());

    const ModelSpec &spec = m_spec;
    const RopePairing pairing = spec.architecture->ropePairing;
    const auto matrix = [count](int width) {
        return std::vector<float>(static_cast<std::size_t>(count) * static_cast<std::size_t>(width));
    };
    std::vector<float> x = matrix(spec.width);      // residual stream
    std::vector<float> normed = matrix(spec.width); // what a block reads from it
    std::vector<float> update = matrix(spec.width); // what a block adds to it
    std::vector<float> q = matrix(spec.qWidth()), mixed = matrix(spec.qWidth());
    std::vector<float> k = matrix(spec.kvWidth()), v = matrix(spec.kvWidth());
    std::vector<float> gate = matrix(spec.feedForward), up = matrix(spec.feedForward);

    // Embedding: one row of the table per token.
    const auto width = static_cast<std::size_t>(spec.width);
    for (std::size_t t = 0; t < tokens.size(); ++t)
        std::copy_n(m_weights.tokenEmbedding.begin() + static_cast<std::ptrdiff_t>(tokens[t]) * spec.width, width,
                    x.begin() + static_cast<std::ptrdiff_t>(t * width));
    const auto observe = [&](int layersDone) {
        if (m_observer)
            m_observer(layersDone, std::span(x).last(width));
    };
    observe(0);
    const auto turns = rotations(first, count, spec.ropeDims, spec.ropeBase, m_weights.ropeFactors);

    for (int layer = 0; layer < spec.layers; ++layer) {
        if (stop.isRequested()) {
            kv.truncate(first);
            return fail(ErrorCode::Cancelled, "the run was stopped");
        }
        const LayerWeights &w = m_weights.layers[static_cast<std::size_t>(layer)];

        // Attention: each token looks at itself and at all tokens before it.
        rmsNorm(normed, x, w.attnNorm, spec.normEpsilon);
        matmul(q, w.q, normed, count, m_pool);
        matmul(k, w.k, normed, count, m_pool);
        matmul(v, w.v, normed, count, m_pool);
        rope(q, turns, count, spec.heads, spec.headSize, pairing);
        rope(k, turns, count, spec.kvHeads, spec.headSize, pairing);
        storeKv(kv, layer, first, k, v, spec);
        attention(mixed, q, kv, layer, first, spec, m_pool);
        matmul(update, w.attnOutput, mixed, count, m_pool);
        add(x, update);

        // Feed-forward: each token by itself.
        rmsNorm(normed, x, w.ffnNorm, spec.normEpsilon);
        matmul(gate, w.gate, normed, count, m_pool);
        matmul(up, w.up, normed, count, m_pool);
        gatedActivation(gate, up, spec.architecture->activation);
        matmul(update, w.down, gate, count, m_pool);
        add(x, update);
        observe(layer + 1);
    }
    kv.commit(count);
    if (!wantsLogits)
        return std::span<float>();

    // Logits: the last token's state against every row of the output matrix.
    std::vector<float> last(width);
    rmsNorm(last, std::span(x).last(width), m_weights.outputNorm, spec.normEpsilon);
    m_logits.resize(static_cast<std::size_t>(spec.vocabulary));
    matmul(m_logits, m_weights.output, last, 1, m_pool);
    return std::span(m_logits);
}

Result<void> ReferenceBackend::checkInput(KvSequence &kv, std::span<const TokenId> tokens) const
{
    if (tokens.empty())
        return fail(ErrorCode::InvalidInput, "there is nothing to evaluate");
    if (kv.pool().element() != KvElement::F32)
        return fail(ErrorCode::InvalidInput, "the reference backend needs a KV pool of F32");
    const auto outside =
        std::find_if(tokens.begin(), tokens.end(), [this](TokenId id) { return id < 0 || id >= m_spec.vocabulary; });
    if (outside != tokens.end())
        return fail(ErrorCode::InvalidInput, "token id " + std::to_string(*outside) + " is outside 0 to " +
                                                 std::to_string(m_spec.vocabulary - 1));
    return {};
}

PassCost ReferenceBackend::cost(int position, int tokens, bool wantsLogits) const
{
    const auto count = static_cast<std::uint64_t>(tokens);
    const auto number = [](int value) { return static_cast<std::uint64_t>(value); };
    const std::uint64_t width = number(m_spec.width), queries = number(m_spec.qWidth());
    const std::uint64_t perLayer =
        width * (2 * queries + 2 * number(m_spec.kvWidth()) + 3 * number(m_spec.feedForward));
    const std::uint64_t layers = number(m_spec.layers);
    const std::uint64_t norms = (2 * layers + 1) * width;
    const std::uint64_t logits = wantsLogits ? width * number(m_spec.vocabulary) : 0;
    // Token t sees position + t + 1 positions.
    const std::uint64_t seen = count * number(position) + count * (count + 1) / 2;

    PassCost cost;
    cost.weightBytes = sizeof(float) * (count * width + layers * perLayer + norms + logits);
    cost.kvBytes = seen * m_spec.kvBytesPerToken(kvElementBytes(KvElement::F32));
    cost.flops = 2 * (count * layers * perLayer + logits) + 4 * layers * queries * seen;
    return cost;
}

} // namespace

Result<std::unique_ptr<Backend>> createReferenceBackend(const Model &model, int threads,
                                                        const LoadProgressFunction &progress, const StopFlag &stop,
                                                        ResidualObserver observer)
{
    auto weights = readWeights(model, progress, stop);
    if (!weights)
        return tl::unexpected(weights.error());
    return std::make_unique<ReferenceBackend>(model.spec, std::move(*weights), threads > 0 ? threads : cpuCoreCount(),
                                              std::move(observer));
}

} // namespace lectern
