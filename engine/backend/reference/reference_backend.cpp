// SPDX-License-Identifier: GPL-3.0-or-later
// The forward pass of a decoder-only transformer, in the order of the papers, in float32. It is here to be read, and to
// say what every faster backend has to compute.
#include "engine/backend/batch.h"
#include "engine/backend/layer_support.h"
#include "engine/backend/reference/operations.h"
#include "engine/backend/reference/reference_weights.h"
#include "engine/base/cpu_features.h"

#include <algorithm>
#include <string>

namespace lectern {

namespace {

using namespace reference;

constexpr LayerSupport kSupport{.backend = "reference", .hasWindows = true, .hasUnlikeHeadSizes = true};

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

    BackendInfo info() const override
    {
        return {"reference", "float32", m_pool.threads(), m_weights.memory.size(), kPassTokens};
    }
    KvElement kvElement() const override { return KvElement::F32; }
    Result<std::unique_ptr<KvMemory>> createKvMemory(KvLayout layout, KvCapacity capacity) override
    {
        return HostKvMemory::create(m_spec, std::move(layout), std::move(capacity));
    }

    Result<std::vector<LogitRows>> forward(std::span<const BatchSlice> batch, PassTrace *trace) override;

private:
    std::vector<LogitRows> logitsOf(std::span<const BatchSlice> batch, std::span<const float> x, PassTrace *trace);

    ModelSpec m_spec;
    Weights m_weights;
    ThreadPool m_pool;
    ResidualObserver m_observer; // may be empty
    std::vector<float> m_logits;
};

// F32 caches are of this backend alone.
const HostKvMemory &cacheOf(const BatchSlice &slice)
{
    return static_cast<const HostKvMemory &>(slice.kv->pool().memory());
}

// Multiplying `tokens` vectors with a matrix.
OperationCost matrixCost(std::span<const float> weights, int tokens)
{
    return {weights.size_bytes(), 0, 2 * weights.size() * static_cast<std::uint64_t>(tokens)};
}

OperationCost attentionCost(std::span<const BatchSlice> batch, const LayerSpec &layer)
{
    std::uint64_t seen = 0; // positions, by all tokens together
    for (const BatchSlice &slice : batch)
        for (int t = 1; t <= static_cast<int>(slice.tokens.size()); ++t)
            seen += static_cast<std::uint64_t>(layer.window > 0 ? std::min(layer.window, slice.kv->tokens() + t)
                                                                : slice.kv->tokens() + t);
    const auto perPosition = static_cast<std::uint64_t>(layer.kvHeads * (layer.keySize + layer.valueSize));
    const auto perPair = static_cast<std::uint64_t>(layer.qWidth() + layer.mixedWidth());
    return {0, seen * perPosition * sizeof(float), 2 * seen * perPair};
}

// Slice by slice: what belongs to one sequence is at rows `row` ... of the batch.
template <class Visit>
void forEachSlice(std::span<const BatchSlice> batch, Visit visit)
{
    std::size_t row = 0;
    for (const BatchSlice &slice : batch) {
        visit(slice, row, slice.tokens.size());
        row += slice.tokens.size();
    }
}

std::span<float> rowsOf(std::vector<float> &matrix, std::size_t row, std::size_t rows, int width)
{
    return std::span(matrix).subspan(row * static_cast<std::size_t>(width), rows * static_cast<std::size_t>(width));
}

Result<std::vector<LogitRows>> ReferenceBackend::forward(std::span<const BatchSlice> batch, PassTrace *trace)
{
    if (auto ready = beginBatch(batch, m_spec, kPassTokens, KvElement::F32); !ready)
        return tl::unexpected(ready.error());
    const ModelSpec &spec = m_spec;
    const RopePairing pairing = spec.architecture->ropePairing;
    const int count = tokenCount(batch);
    const auto done = [trace](Operation operation, int layer, const auto &cost) {
        if (trace)
            trace->add(operation, layer, cost());
    };
    const auto matrix = [count](int width) {
        return std::vector<float>(static_cast<std::size_t>(count) * static_cast<std::size_t>(width));
    };
    std::vector<float> x = matrix(spec.width);      // residual stream
    std::vector<float> normed = matrix(spec.width); // what a block reads from it
    std::vector<float> update = matrix(spec.width); // what a block adds to it

    // Embedding: one row of the table per token.
    const auto width = static_cast<std::size_t>(spec.width);
    auto row = x.begin();
    for (const BatchSlice &slice : batch)
        for (const TokenId token : slice.tokens)
            row = std::copy_n(m_weights.tokenEmbedding.begin() + static_cast<std::ptrdiff_t>(token) * spec.width, width,
                              row);
    done(Operation::Embed, -1, [&] { return OperationCost{x.size() * sizeof(float), 0, 0}; });
    const auto observe = [&](int layersDone) {
        if (m_observer)
            m_observer(layersDone, std::span(x).last(width));
    };
    observe(0);

    for (int index = 0; index < spec.layerCount(); ++index) {
        if (isStopRequested(batch)) {
            abandonBatch(batch);
            return fail(ErrorCode::Cancelled, "the run was stopped");
        }
        const LayerSpec &layer = spec.layers[static_cast<std::size_t>(index)];
        const LayerWeights &w = m_weights.layers[static_cast<std::size_t>(index)];
        std::vector<float> q = matrix(layer.qWidth()), mixed = matrix(layer.mixedWidth());
        std::vector<float> k = matrix(layer.kWidth()), v = matrix(layer.vWidth());
        std::vector<float> gate = matrix(layer.feedForward), up = matrix(layer.feedForward);

        // Attention: each token looks at itself and at all tokens of its sequence before it.
        rmsNorm(normed, x, w.attnNorm, spec.normEpsilon);
        done(Operation::AttentionNorm, index, [&] { return OperationCost{w.attnNorm.size_bytes(), 0, 0}; });
        matmul(q, w.q, normed, count, m_pool);
        if (layer.keepsKv()) {
            matmul(k, w.k, normed, count, m_pool);
            matmul(v, w.v, normed, count, m_pool);
        }
        done(Operation::Qkv, index, [&] {
            OperationCost cost = matrixCost(w.q, count);
            for (const auto own : {w.k, w.v})
                cost += matrixCost(layer.keepsKv() ? own : own.first(0), count);
            return cost;
        });
        forEachSlice(batch, [&](const BatchSlice &slice, std::size_t first, std::size_t rows) {
            const int tokens = static_cast<int>(rows), position = slice.kv->tokens();
            const auto turns = rotations(position, tokens, layer.ropeDims, layer.ropeBase, m_weights.ropeFactors);
            rope(rowsOf(q, first, rows, layer.qWidth()), turns, tokens, layer.heads, layer.keySize, pairing);
            if (!layer.keepsKv())
                return;
            const std::span<float> keys = rowsOf(k, first, rows, layer.kWidth());
            rope(keys, turns, tokens, layer.kvHeads, layer.keySize, pairing);
            storeKv({cacheOf(slice), *slice.kv, index}, position, keys, rowsOf(v, first, rows, layer.vWidth()), layer);
        });
        done(Operation::RopeStore, index, [] { return OperationCost(); });
        forEachSlice(batch, [&](const BatchSlice &slice, std::size_t first, std::size_t rows) {
            attention(rowsOf(mixed, first, rows, layer.mixedWidth()), rowsOf(q, first, rows, layer.qWidth()),
                      {cacheOf(slice), *slice.kv, index}, slice.kv->tokens(), layer, m_pool);
        });
        done(Operation::Attention, index, [&] { return attentionCost(batch, layer); });
        matmul(update, w.attnOutput, mixed, count, m_pool);
        add(x, update);
        done(Operation::AttentionOutput, index, [&] { return matrixCost(w.attnOutput, count); });

        // Feed-forward: each token by itself.
        rmsNorm(normed, x, w.ffnNorm, spec.normEpsilon);
        done(Operation::FfnNorm, index, [&] { return OperationCost{w.ffnNorm.size_bytes(), 0, 0}; });
        matmul(gate, w.gate, normed, count, m_pool);
        matmul(up, w.up, normed, count, m_pool);
        gatedActivation(gate, up, spec.architecture->activation);
        done(Operation::GateUp, index, [&] { return matrixCost(w.gate, count) += matrixCost(w.up, count); });
        matmul(update, w.down, gate, count, m_pool);
        add(x, update);
        done(Operation::Down, index, [&] { return matrixCost(w.down, count); });
        observe(index + 1);
    }
    std::vector<LogitRows> logits = logitsOf(batch, x, trace);
    commitBatch(batch);
    return logits;
}

// Logits: the states of the wanted tokens against every row of the output matrix.
std::vector<LogitRows> ReferenceBackend::logitsOf(std::span<const BatchSlice> batch, std::span<const float> x,
                                                  PassTrace *trace)
{
    const auto width = static_cast<std::size_t>(m_spec.width);
    const auto vocabulary = static_cast<std::size_t>(m_spec.vocabulary);
    std::vector<float> wanted;
    forEachSlice(batch, [&](const BatchSlice &slice, std::size_t first, std::size_t rows) {
        const auto count = static_cast<std::size_t>(slice.logits);
        const std::span<const float> states = x.subspan((first + rows - count) * width, count * width);
        wanted.insert(wanted.end(), states.begin(), states.end());
    });
    const std::size_t count = wanted.size() / width;
    m_logits.resize(count * vocabulary);
    if (count > 0) {
        std::vector<float> normed(wanted.size());
        rmsNorm(normed, wanted, m_weights.outputNorm, m_spec.normEpsilon);
        if (trace)
            trace->add(Operation::OutputNorm, -1, {m_weights.outputNorm.size_bytes(), 0, 0});
        matmul(m_logits, m_weights.output, normed, static_cast<int>(count), m_pool);
        if (trace)
            trace->add(Operation::Logits, -1, matrixCost(m_weights.output, static_cast<int>(count)));
    }
    std::vector<LogitRows> logits;
    float *next = m_logits.data();
    for (const BatchSlice &slice : batch) {
        logits.push_back({next, vocabulary, slice.logits, m_spec.vocabulary});
        next += static_cast<std::size_t>(slice.logits) * vocabulary;
    }
    return logits;
}

} // namespace

Result<std::unique_ptr<Backend>> createReferenceBackend(const Model &model, int threads,
                                                        const LoadProgressFunction &progress, const StopFlag &stop,
                                                        ResidualObserver observer)
{
    if (auto computed = checkLayers(model.spec, kSupport); !computed)
        return tl::unexpected(computed.error());
    auto weights = readWeights(model, progress, stop);
    if (!weights)
        return tl::unexpected(weights.error());
    return std::make_unique<ReferenceBackend>(model.spec, std::move(*weights), threads > 0 ? threads : cpuCoreCount(),
                                              std::move(observer));
}

} // namespace lectern
