// SPDX-License-Identifier: GPL-3.0-or-later
// The forward pass of a batch on all cores. Five rounds of the thread pool a layer: Q·K·V | attention | output +
// residual | gate·up with activation | down + residual. Norm, quantisation and rotation of a single token run on the
// calling thread in between. All slices go through the matrices together, so weights are read once.
//
// Chunked prefill, whole prefill, decoding, and any of them in whatever company give the same bits: every kernel
// computes a row by itself (kernels.h) and attention cuts the cache at fixed positions (attention.h).
#include "engine/backend/batch.h"
#include "engine/backend/cpu/attention.h"
#include "engine/backend/cpu/cpu_weights.h"
#include "engine/backend/layer_support.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace lectern {

namespace {

using namespace cpu;

constexpr LayerSupport kSupport{.backend = "cpu", .hasWindows = true};

class CpuBackend : public Backend
{
public:
    static Result<std::unique_ptr<Backend>> create(const Model &model, int threads,
                                                   const LoadProgressFunction &progress, const StopFlag &stop);
    CpuBackend(const ModelSpec &spec, int threads)
        : m_spec(spec)
        , m_isa(bestIsaLevel())
        , m_kernels(kernelsFor(m_isa))
        , m_pool(threads)
    {
    }

    BackendInfo info() const override
    {
        return {"cpu", std::string(isaLevelName(m_isa)), m_pool.threads(), m_weights.memory.size(), kPassTokens};
    }
    KvElement kvElement() const override { return KvElement::F16; }
    Result<std::unique_ptr<KvMemory>> createKvMemory(KvLayout layout, KvCapacity capacity) override
    {
        return HostKvMemory::create(m_spec, std::move(layout), std::move(capacity));
    }

    Result<std::vector<LogitRows>> forward(std::span<const BatchSlice> batch, PassTrace *trace) override;

private:
    Result<void> allocate();
    Result<void> reserveLogits(int rows);
    bool runLayers(std::span<const BatchSlice> batch, PassTrace *trace);
    bool runLayer(int index, std::span<const BatchSlice> batch, PassTrace *trace);
    void embed(std::span<const BatchSlice> batch);
    void prepareRotations(int layer);
    void rotateAndStore(int layer);
    void rotateAndStorePiece(const LayerSpec &layer, int index, const AttentionSlice &slice, int from, int to);
    int keepWanted(std::span<const BatchSlice> batch);
    void feedForward(const LayerSpec &spec, const LayerWeights &layer, int index, int tokens, PassTrace *trace);
    std::vector<LogitRows> computeLogits(std::span<const BatchSlice> batch, PassTrace *trace);

    ModelSpec m_spec;
    IsaLevel m_isa;
    const Kernels &m_kernels;
    ThreadPool m_pool;
    CpuWeights m_weights;
    ActivationTiles m_tiles;
    Attention m_attention;

    // One batch, all [kPassTokens][...], widths of the widest layer; they live in m_memory.
    Rows m_x;                // residual stream [width]
    Rows m_q, m_k, m_v;      // [qWidth], [kWidth], [vWidth]
    Rows m_mixed;            // what attention gives [mixedWidth]
    Rows m_hidden;           // [feedForward]
    Rows m_cosines, m_sines; // [ropeDims], one for every element: see Kernels::rotate
    AlignedBuffer m_memory;
    std::vector<AttentionSlice> m_slices; // of the batch; in the last layer those whose logits are wanted
    float m_rotationBase = 0;             // what m_cosines and m_sines hold; 0: nothing
    int m_rotationDims = 0;
    std::vector<std::byte> m_embeddingRow;

    // Of wanted logits two rows each, see computeLogits(); grown when more are wanted than ever before.
    Rows m_headInput; // [width]
    Rows m_logits;    // [vocabulary]
    AlignedBuffer m_logitMemory;
    int m_logitRows = 0;
};

OperationCost normCost(int width)
{
    return {static_cast<std::uint64_t>(width) * sizeof(float), 0, 0};
}

Result<std::unique_ptr<Backend>> CpuBackend::create(const Model &model, int threads,
                                                    const LoadProgressFunction &progress, const StopFlag &stop)
{
    if (model.spec.architecture->activation != Activation::Silu)
        return fail(ErrorCode::Unsupported, "the cpu backend has no kernel for the activation of this architecture",
                    model.spec.architecture->name, "Use the reference backend.");
    if (auto computed = checkLayers(model.spec, kSupport); !computed)
        return tl::unexpected(computed.error());
    auto backend = std::make_unique<CpuBackend>(model.spec, threads > 0 ? threads : cpuCoreCount());
    Result<CpuWeights> weights = loadCpuWeights(model, backend->m_pool, progress, stop);
    if (!weights)
        return tl::unexpected(weights.error());
    backend->m_weights = std::move(*weights);
    if (auto allocated = backend->allocate(); !allocated)
        return tl::unexpected(allocated.error());
    return backend;
}

struct Wish // for rows of floats
{
    Rows *rows;
    int columns, count;
};

// One piece of memory for all of them.
Result<AlignedBuffer> allocateRows(std::span<const Wish> wishes)
{
    std::size_t floats = 0;
    for (const Wish &wish : wishes)
        floats += rowStride(wish.columns) * static_cast<std::size_t>(wish.count);
    Result<AlignedBuffer> memory = AlignedBuffer::create(floats * sizeof(float));
    if (!memory)
        return memory;
    float *next = memory->as<float>();
    for (const Wish &wish : wishes) {
        *wish.rows = {next, rowStride(wish.columns)};
        next += rowStride(wish.columns) * static_cast<std::size_t>(wish.count);
    }
    return memory;
}

Result<void> CpuBackend::allocate()
{
    const int qWidth = m_spec.widest(&LayerSpec::qWidth), feedForward = m_spec.widest(&LayerSpec::feedForward);
    const int mixedWidth = m_spec.widest(&LayerSpec::mixedWidth), ropeDims = m_spec.widest(&LayerSpec::ropeDims);
    Result<AlignedBuffer> memory = allocateRows(std::array{
        Wish{&m_x, m_spec.width, kPassTokens},
        Wish{&m_q, qWidth, kPassTokens},
        Wish{&m_k, m_spec.widest(&LayerSpec::kWidth), kPassTokens},
        Wish{&m_v, m_spec.widest(&LayerSpec::vWidth), kPassTokens},
        Wish{&m_mixed, mixedWidth, kPassTokens},
        Wish{&m_hidden, feedForward, kPassTokens},
        Wish{&m_cosines, ropeDims, kPassTokens},
        Wish{&m_sines, ropeDims, kPassTokens},
    });
    if (!memory)
        return tl::unexpected(memory.error());
    // Twice as many rows for the head: see computeLogits().
    Result<ActivationTiles> tiles =
        ActivationTiles::create(2 * kPassTokens, std::max({m_spec.width, mixedWidth, feedForward}));
    if (!tiles)
        return tl::unexpected(tiles.error());
    Result<Attention> attention = Attention::create(m_spec, m_pool.threads(), kPassTokens);
    if (!attention)
        return tl::unexpected(attention.error());
    m_memory = std::move(*memory);
    m_tiles = std::move(*tiles);
    m_attention = std::move(*attention);
    return reserveLogits(1);
}

Result<void> CpuBackend::reserveLogits(int rows)
{
    if (rows <= m_logitRows)
        return {};
    Result<AlignedBuffer> memory = allocateRows(
        std::array{Wish{&m_headInput, m_spec.width, 2 * rows}, Wish{&m_logits, m_spec.vocabulary, 2 * rows}});
    if (!memory)
        return tl::unexpected(memory.error());
    m_logitMemory = std::move(*memory);
    m_logitRows = rows;
    return {};
}

Result<std::vector<LogitRows>> CpuBackend::forward(std::span<const BatchSlice> batch, PassTrace *trace)
{
    if (auto ready = beginBatch(batch, m_spec, kPassTokens, KvElement::F16); !ready)
        return tl::unexpected(ready.error());
    int wanted = 0, row = 0;
    m_slices.clear();
    for (const BatchSlice &slice : batch) {
        const int tokens = static_cast<int>(slice.tokens.size());
        m_slices.push_back({slice.kv, row, slice.kv->tokens(), tokens});
        row += tokens;
        wanted += slice.logits;
    }
    if (auto room = reserveLogits(wanted); !room) {
        abandonBatch(batch);
        return tl::unexpected(room.error());
    }
    if (!runLayers(batch, trace)) {
        abandonBatch(batch);
        return fail(ErrorCode::Cancelled, "the forward pass was stopped");
    }
    std::vector<LogitRows> logits = computeLogits(batch, trace);
    commitBatch(batch);
    return logits;
}

// False when stopped.
bool CpuBackend::runLayers(std::span<const BatchSlice> batch, PassTrace *trace)
{
    embed(batch);
    m_rotationBase = 0; // the positions are new
    if (trace)
        trace->add(Operation::Embed, -1,
                   {m_weights.embedding.rowBytes() * static_cast<std::uint64_t>(tokenCount(batch)), 0, 0});
    for (int i = 0; i < m_spec.layerCount(); ++i)
        if (!runLayer(i, batch, trace))
            return false;
    return true;
}

bool CpuBackend::runLayer(int index, std::span<const BatchSlice> batch, PassTrace *trace)
{
    if (isStopRequested(batch))
        return false;
    const LayerSpec &spec = m_spec.layers[static_cast<std::size_t>(index)];
    const LayerWeights &layer = m_weights.layers[static_cast<std::size_t>(index)];
    const int count = tokenCount(batch);
    const auto done = [&](Operation operation, const auto &cost) {
        if (trace)
            trace->add(operation, index, cost());
    };
    const ActivationTiles::Norm norm{layer.attnNorm, m_spec.normEpsilon};
    const std::array projections{Product{&layer.q, m_q}, Product{&layer.k, m_k}, Product{&layer.v, m_v}};
    const auto own = std::span(projections).first(spec.keepsKv() ? 3 : 1); // else those of an earlier layer are used
    m_tiles.prepare(m_pool, m_kernels, m_x, count, m_spec.width, &norm, std::array{&layer.q, &layer.k, &layer.v});
    done(Operation::AttentionNorm, [&] { return normCost(m_spec.width); });
    multiply(m_pool, m_kernels, m_tiles, own, false);
    done(Operation::Qkv, [&] {
        OperationCost cost;
        for (const Product &product : own)
            cost += product.weights->cost(count);
        return cost;
    });
    prepareRotations(index);
    rotateAndStore(index);
    done(Operation::RopeStore, [] { return OperationCost(); });

    // After the last layer's keys and values only the tokens whose logits are wanted are of interest.
    const int left = index + 1 == m_spec.layerCount() ? keepWanted(batch) : count;
    if (left == 0)
        return true;
    m_attention.run(m_pool, m_kernels, m_slices, index, m_q, m_mixed);
    done(Operation::Attention, [&] { return m_attention.cost(m_slices, index); });
    m_tiles.prepare(m_pool, m_kernels, m_mixed, left, spec.mixedWidth(), nullptr, std::array{&layer.attnOutput});
    multiply(m_pool, m_kernels, m_tiles, std::array{Product{&layer.attnOutput, m_x}}, true);
    done(Operation::AttentionOutput, [&] { return layer.attnOutput.cost(left); });
    if (isStopRequested(batch)) // the feed-forward part is two thirds of a layer
        return false;
    feedForward(spec, layer, index, left, trace);
    return true;
}

// Moves what goes on to the front; how many rows that are. One row is wanted of each decoding sequence, so a batch of
// nothing else stays as it is.
int CpuBackend::keepWanted(std::span<const BatchSlice> batch)
{
    std::vector<AttentionSlice> kept;
    int rows = 0;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const AttentionSlice &slice = m_slices[i];
        const int skipped = slice.tokens - batch[i].logits;
        if (batch[i].logits == 0)
            continue;
        for (int t = 0; t < batch[i].logits; ++t) {
            const int from = slice.row + skipped + t, to = rows + t;
            if (from == to)
                continue;
            std::memcpy(m_x.row(to), m_x.row(from), static_cast<std::size_t>(m_spec.width) * sizeof(float));
            std::memcpy(m_q.row(to), m_q.row(from),
                        static_cast<std::size_t>(m_spec.layers.back().qWidth()) * sizeof(float));
        }
        kept.push_back({slice.kv, rows, slice.first + skipped, batch[i].logits});
        rows += batch[i].logits;
    }
    m_slices = std::move(kept);
    return rows;
}

void CpuBackend::embed(std::span<const BatchSlice> batch)
{
    int row = 0;
    for (const BatchSlice &slice : batch)
        for (const TokenId token : slice.tokens)
            m_weights.embedding.dequantiseRow(token, m_x.row(row++), m_embeddingRow);
}

// Most models rotate alike in every layer: computed once then.
void CpuBackend::prepareRotations(int index)
{
    const LayerSpec &layer = m_spec.layers[static_cast<std::size_t>(index)];
    if (layer.ropeDims == 0 || (layer.ropeBase == m_rotationBase && layer.ropeDims == m_rotationDims))
        return;
    m_rotationBase = layer.ropeBase;
    m_rotationDims = layer.ropeDims;
    const bool halves = m_spec.architecture->ropePairing == RopePairing::Halves;
    const int pairs = layer.ropeDims / 2;
    std::vector<double> frequencies; // radians per position
    for (int i = 0; i < pairs; ++i) {
        const double factor = m_weights.ropeFactors ? static_cast<double>(m_weights.ropeFactors[i]) : 1.0;
        frequencies.push_back(std::pow(static_cast<double>(layer.ropeBase), -2.0 * i / layer.ropeDims) / factor);
    }
    const auto rotationOf = [&](int position, int row) {
        float *cosines = m_cosines.row(row), *sines = m_sines.row(row);
        for (int i = 0; i < pairs; ++i) {
            const double angle = position * frequencies[static_cast<std::size_t>(i)];
            const int one = halves ? i : 2 * i, other = halves ? i + pairs : 2 * i + 1;
            cosines[one] = cosines[other] = static_cast<float>(std::cos(angle));
            sines[other] = static_cast<float>(std::sin(angle));
            sines[one] = -sines[other];
        }
    };
    constexpr int kTokensAtOnce = 32;
    for (const AttentionSlice &slice : m_slices)
        m_pool.forEach(slice.tokens, kTokensAtOnce, [&](std::int64_t begin, std::int64_t end) {
            for (int t = static_cast<int>(begin); t < static_cast<int>(end); ++t)
                rotationOf(slice.first + t, slice.row + t);
        });
}

// Pieces are blocks of positions: the keys of a block interleave, two threads in it would fight for its cache lines.
void CpuBackend::rotateAndStore(int index)
{
    const LayerSpec &layer = m_spec.layers[static_cast<std::size_t>(index)];
    const auto firstBlock = [](const AttentionSlice &slice) { return slice.first / kKvBlockTokens; };
    int blocks = 0;
    for (const AttentionSlice &slice : m_slices)
        blocks += kvBlocksFor(slice.first + slice.tokens) - firstBlock(slice);
    const int grain = blocks == static_cast<int>(m_slices.size()) ? blocks : 1; // decoding: too little to share out
    m_pool.forEach(blocks, grain, [&](std::int64_t begin, std::int64_t end) {
        int before = 0; // blocks of the slices before this one
        for (const AttentionSlice &slice : m_slices) {
            const int count = kvBlocksFor(slice.first + slice.tokens) - firstBlock(slice);
            const int from = std::max(0, static_cast<int>(begin) - before);
            const int to = std::min(count, static_cast<int>(end) - before);
            if (from < to)
                rotateAndStorePiece(layer, index, slice,
                                    std::max(0, (firstBlock(slice) + from) * kKvBlockTokens - slice.first),
                                    std::min(slice.tokens, (firstBlock(slice) + to) * kKvBlockTokens - slice.first));
            before += count;
        }
    });
}

// Tokens [from, to) of a slice.
void CpuBackend::rotateAndStorePiece(const LayerSpec &layer, int index, const AttentionSlice &slice, int from, int to)
{
    const bool halves = m_spec.architecture->ropePairing == RopePairing::Halves;
    const auto rotate = [&](Rows rows, int row, int heads) {
        for (int head = 0; head < heads; ++head)
            m_kernels.rotate(rows.row(row) + head * layer.keySize, m_cosines.row(row), m_sines.row(row), layer.ropeDims,
                             halves);
    };
    for (int row = slice.row + from; row < slice.row + to && layer.ropeDims > 0; ++row) {
        rotate(m_q, row, layer.heads);
        if (layer.keepsKv())
            rotate(m_k, row, layer.kvHeads);
    }
    if (layer.keepsKv())
        m_attention.store(m_kernels, *slice.kv, index, slice.first + from, to - from, m_k.from(slice.row + from),
                          m_v.from(slice.row + from));
}

void CpuBackend::feedForward(const LayerSpec &spec, const LayerWeights &layer, int index, int tokens, PassTrace *trace)
{
    const ActivationTiles::Norm norm{layer.ffnNorm, m_spec.normEpsilon};
    m_tiles.prepare(m_pool, m_kernels, m_x, tokens, m_spec.width, &norm, std::array{&layer.gate, &layer.up});
    if (trace)
        trace->add(Operation::FfnNorm, index, normCost(m_spec.width));
    multiplyGated(m_pool, m_kernels, m_tiles, layer.gate, layer.up, m_hidden);
    if (trace)
        trace->add(Operation::GateUp, index, layer.gate.cost(tokens) += layer.up.cost(tokens));
    m_tiles.prepare(m_pool, m_kernels, m_hidden, tokens, spec.feedForward, nullptr, std::array{&layer.down});
    multiply(m_pool, m_kernels, m_tiles, std::array{Product{&layer.down, m_x}}, true);
    if (trace)
        trace->add(Operation::Down, index, layer.down.cost(tokens));
}

// The states of the wanted tokens lie at the front of m_x. An int8 head sees each as two rows: the rounded value and
// what the rounding left over. Both share one pass over the weights, and the logits come closer to exact ones than
// llama.cpp's (figures in tst_logits).
std::vector<LogitRows> CpuBackend::computeLogits(std::span<const BatchSlice> batch, PassTrace *trace)
{
    int count = 0;
    std::vector<LogitRows> logits;
    for (const BatchSlice &slice : batch) {
        logits.push_back({m_logits.row(count), m_logits.stride, slice.logits, m_spec.vocabulary});
        count += slice.logits;
    }
    if (count == 0)
        return logits;
    const int width = m_spec.width;
    for (int row = 0; row < count; ++row)
        m_kernels.rmsNorm(m_x.row(row), m_weights.outputNorm, m_spec.normEpsilon, width, m_headInput.row(row));
    const std::array users{&m_weights.output};
    m_tiles.prepare(m_pool, m_kernels, m_headInput, count, width, nullptr, users);
    const bool isTwofold = m_weights.output.format->activations == ActivationKind::Int8;
    if (isTwofold) {
        for (int row = 0; row < count; ++row)
            m_tiles.subtractInt8(m_headInput.row(row), row, m_headInput.row(count + row));
        m_tiles.prepare(m_pool, m_kernels, m_headInput, 2 * count, width, nullptr, users);
    }
    if (trace)
        trace->add(Operation::OutputNorm, -1, normCost(width));
    multiply(m_pool, m_kernels, m_tiles, std::array{Product{&m_weights.output, m_logits}}, false);
    if (isTwofold)
        m_pool.forEach(count, 1, [&](std::int64_t begin, std::int64_t end) {
            for (int row = static_cast<int>(begin); row < static_cast<int>(end); ++row)
                for (int i = 0; i < m_spec.vocabulary; ++i)
                    m_logits.row(row)[i] += m_logits.row(count + row)[i];
        });
    if (trace)
        trace->add(Operation::Logits, -1, m_weights.output.cost(isTwofold ? 2 * count : count));
    return logits;
}

} // namespace

Result<std::unique_ptr<Backend>> createCpuBackend(const Model &model, int threads, const LoadProgressFunction &progress,
                                                  const StopFlag &stop)
{
    return CpuBackend::create(model, threads, progress, stop);
}

} // namespace lectern
