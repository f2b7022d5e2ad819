// SPDX-License-Identifier: GPL-3.0-or-later
// The forward pass on all cores. Five rounds of the thread pool a layer: Q·K·V | attention | output + residual |
// gate·up with activation | down + residual. Norm, quantisation and rotation of a single token run on the calling
// thread in between.
//
// Chunked prefill, whole prefill and decoding give the same bits: every kernel computes a row by itself (kernels.h) and
// attention cuts the cache at fixed positions (attention.h).
#include "engine/backend/cpu/attention.h"
#include "engine/backend/cpu/cpu_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace lectern {

namespace {

using namespace cpu;

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
        return {"cpu", std::string(isaLevelName(m_isa)), m_pool.threads(), m_weights.memory.size()};
    }
    KvElement kvElement() const override { return KvElement::F16; }

    Result<std::span<float>> forward(KvSequence &kv, std::span<const TokenId> tokens, bool wantsLogits,
                                     const StopFlag &stop) override;
    PassCost cost(int position, int tokens, bool wantsLogits) const override;

private:
    Result<void> allocate();
    Result<void> checkInput(KvSequence &kv, std::span<const TokenId> tokens) const;
    bool runBatch(KvSequence &kv, int first, std::span<const TokenId> tokens, bool wantsLogits, const StopFlag &stop);
    void embed(std::span<const TokenId> tokens);
    void prepareRotations(int first, int tokens);
    void rotateAndStore(KvSequence &kv, int layer, int first, int tokens);
    void feedForward(const LayerWeights &layer, Rows x, int tokens);
    void computeLogits(int token);

    ModelSpec m_spec;
    IsaLevel m_isa;
    const Kernels &m_kernels;
    ThreadPool m_pool;
    CpuWeights m_weights;
    ActivationTiles m_tiles;
    Attention m_attention;

    // One batch, all [kPassTokens][...]; they live in m_memory.
    Rows m_x;                // residual stream [width]
    Rows m_q, m_k, m_v;      // [qWidth], [kvWidth]
    Rows m_mixed;            // what attention gives [qWidth]
    Rows m_hidden;           // [feedForward]
    Rows m_cosines, m_sines; // [ropeDims], one for every element: see Kernels::rotate
    Rows m_headInput;        // two rows [width]: see computeLogits()
    Rows m_logits;           // two rows [vocabulary]; the first is the result
    AlignedBuffer m_memory;
    std::vector<double> m_frequencies; // [ropeDims / 2], radians per position
    std::vector<std::byte> m_embeddingRow;
};

// left[columns] = x − what the one token of the tile stands for (activation_tile.h).
void subtractInt8Tile(const float *x, const std::byte *tile, int columns, float *left)
{
    for (int first = 0; first < columns; first += kBlockColumns, tile += kInt8BlockBytes) {
        float scale;
        std::memcpy(&scale, tile + kBlockColumns, sizeof scale);
        const auto *quants = reinterpret_cast<const std::int8_t *>(tile);
        for (int i = 0; i < kBlockColumns; ++i)
            left[first + i] = x[first + i] - static_cast<float>(quants[i]) * scale;
    }
}

Result<std::unique_ptr<Backend>> CpuBackend::create(const Model &model, int threads,
                                                    const LoadProgressFunction &progress, const StopFlag &stop)
{
    if (model.spec.architecture->activation != Activation::Silu)
        return fail(ErrorCode::Unsupported, "the cpu backend has no kernel for the activation of this architecture",
                    model.spec.architecture->name, "Use the reference backend.");
    auto backend = std::make_unique<CpuBackend>(model.spec, threads > 0 ? threads : cpuCoreCount());
    Result<CpuWeights> weights = loadCpuWeights(model, backend->m_pool, progress, stop);
    if (!weights)
        return tl::unexpected(weights.error());
    backend->m_weights = std::move(*weights);
    if (auto allocated = backend->allocate(); !allocated)
        return tl::unexpected(allocated.error());
    return backend;
}

Result<void> CpuBackend::allocate()
{
    struct Wish
    {
        Rows *rows;
        int columns, tokens;
    };
    const std::array wishes = {
        Wish{&m_x, m_spec.width, kPassTokens},
        Wish{&m_q, m_spec.qWidth(), kPassTokens},
        Wish{&m_k, m_spec.kvWidth(), kPassTokens},
        Wish{&m_v, m_spec.kvWidth(), kPassTokens},
        Wish{&m_mixed, m_spec.qWidth(), kPassTokens},
        Wish{&m_hidden, m_spec.feedForward, kPassTokens},
        Wish{&m_cosines, m_spec.ropeDims, kPassTokens},
        Wish{&m_sines, m_spec.ropeDims, kPassTokens},
        Wish{&m_headInput, m_spec.width, 2},
        Wish{&m_logits, m_spec.vocabulary, 2},
    };
    std::size_t floats = 0;
    for (const Wish &wish : wishes)
        floats += rowStride(wish.columns) * static_cast<std::size_t>(wish.tokens);
    Result<AlignedBuffer> memory = AlignedBuffer::create(floats * sizeof(float));
    Result<ActivationTiles> tiles =
        ActivationTiles::create(kPassTokens, std::max({m_spec.width, m_spec.qWidth(), m_spec.feedForward}));
    Result<Attention> attention = Attention::create(m_spec, m_pool.threads());
    if (!memory)
        return tl::unexpected(memory.error());
    if (!tiles)
        return tl::unexpected(tiles.error());
    if (!attention)
        return tl::unexpected(attention.error());
    m_memory = std::move(*memory);
    m_tiles = std::move(*tiles);
    m_attention = std::move(*attention);
    float *next = m_memory.as<float>();
    for (const Wish &wish : wishes) {
        *wish.rows = {next, rowStride(wish.columns)};
        next += rowStride(wish.columns) * static_cast<std::size_t>(wish.tokens);
    }

    for (int i = 0; i < m_spec.ropeDims / 2; ++i) {
        const double factor = m_weights.ropeFactors ? static_cast<double>(m_weights.ropeFactors[i]) : 1.0;
        m_frequencies.push_back(std::pow(static_cast<double>(m_spec.ropeBase), -2.0 * i / m_spec.ropeDims) / factor);
    }
    return {};
}

Result<void> CpuBackend::checkInput(KvSequence &kv, std::span<const TokenId> tokens) const
{
    if (tokens.empty())
        return fail(ErrorCode::InvalidInput, "there is nothing to evaluate");
    if (kv.pool().element() != KvElement::F16)
        return fail(ErrorCode::InvalidInput, "the cpu backend needs a KV pool of F16");
    for (const TokenId id : tokens) {
        if (id < 0 || id >= m_spec.vocabulary)
            return fail(ErrorCode::InvalidInput,
                        "token id " + std::to_string(id) + " is outside 0 to " + std::to_string(m_spec.vocabulary - 1));
    }
    return {};
}

Result<std::span<float>> CpuBackend::forward(KvSequence &kv, std::span<const TokenId> tokens, bool wantsLogits,
                                             const StopFlag &stop)
{
    if (auto sound = checkInput(kv, tokens); !sound)
        return tl::unexpected(sound.error());
    const int held = kv.tokens();
    const int count = static_cast<int>(tokens.size());
    if (auto room = kv.reserve(count); !room)
        return tl::unexpected(room.error());
    for (int done = 0; done < count; done += kPassTokens) {
        const int batch = std::min(kPassTokens, count - done);
        const bool isLast = done + batch == count;
        if (!runBatch(kv, held + done, tokens.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(batch)),
                      isLast && wantsLogits, stop)) {
            kv.truncate(held); // gives back what was reserved
            return fail(ErrorCode::Cancelled, "the forward pass was stopped");
        }
    }
    kv.commit(count);
    if (!wantsLogits)
        return std::span<float>();
    return std::span(m_logits.data, static_cast<std::size_t>(m_spec.vocabulary));
}

// False when stopped.
bool CpuBackend::runBatch(KvSequence &kv, int first, std::span<const TokenId> tokens, bool wantsLogits,
                          const StopFlag &stop)
{
    const int count = static_cast<int>(tokens.size());
    embed(tokens);
    prepareRotations(first, count);
    for (int i = 0; i < m_spec.layers; ++i) {
        if (stop.isRequested())
            return false;
        const LayerWeights &layer = m_weights.layers[static_cast<std::size_t>(i)];
        const ActivationTiles::Norm norm{layer.attnNorm, m_spec.normEpsilon};
        m_tiles.prepare(m_pool, m_kernels, m_x, count, m_spec.width, &norm, std::array{&layer.q, &layer.k, &layer.v});
        multiply(m_pool, m_kernels, m_tiles,
                 std::array{Product{&layer.q, m_q}, Product{&layer.k, m_k}, Product{&layer.v, m_v}}, false);
        rotateAndStore(kv, i, first, count);

        // After the last layer's keys and values only the last token is of interest, and only for its logits.
        const bool isLastLayer = i + 1 == m_spec.layers;
        if (isLastLayer && !wantsLogits)
            return true;
        const int from = isLastLayer ? count - 1 : 0;
        const int left = count - from;
        m_attention.run(m_pool, m_kernels, kv, i, first + from, left, m_q.from(from), m_mixed);
        m_tiles.prepare(m_pool, m_kernels, m_mixed, left, m_spec.qWidth(), nullptr, std::array{&layer.attnOutput});
        multiply(m_pool, m_kernels, m_tiles, std::array{Product{&layer.attnOutput, m_x.from(from)}}, true);
        if (stop.isRequested()) // the feed-forward part is two thirds of a layer
            return false;
        feedForward(layer, m_x.from(from), left);
    }
    computeLogits(count - 1);
    return true;
}

void CpuBackend::embed(std::span<const TokenId> tokens)
{
    for (std::size_t t = 0; t < tokens.size(); ++t)
        m_weights.embedding.dequantiseRow(tokens[t], m_x.row(static_cast<int>(t)), m_embeddingRow);
}

void CpuBackend::prepareRotations(int first, int tokens)
{
    constexpr int kTokensAtOnce = 32;
    const bool halves = m_spec.architecture->ropePairing == RopePairing::Halves;
    const int pairs = m_spec.ropeDims / 2;
    m_pool.forEach(tokens, kTokensAtOnce, [&](std::int64_t begin, std::int64_t end) {
        for (int t = static_cast<int>(begin); t < static_cast<int>(end); ++t) {
            float *cosines = m_cosines.row(t), *sines = m_sines.row(t);
            for (int i = 0; i < pairs; ++i) {
                const double angle = (first + t) * m_frequencies[static_cast<std::size_t>(i)];
                const int one = halves ? i : 2 * i, other = halves ? i + pairs : 2 * i + 1;
                cosines[one] = cosines[other] = static_cast<float>(std::cos(angle));
                sines[other] = static_cast<float>(std::sin(angle));
                sines[one] = -sines[other];
            }
        }
    });
}

void CpuBackend::rotateAndStore(KvSequence &kv, int layer, int first, int tokens)
{
    const bool halves = m_spec.architecture->ropePairing == RopePairing::Halves;
    // Pieces are blocks of positions: the keys of a block interleave, two threads in it would fight for its cache
    // lines.
    const int firstBlock = first / kKvBlockTokens;
    const int blocks = (first + tokens - 1) / kKvBlockTokens - firstBlock + 1;
    m_pool.forEach(blocks, 1, [&](std::int64_t begin, std::int64_t end) {
        const int from = std::max(0, (firstBlock + static_cast<int>(begin)) * kKvBlockTokens - first);
        const int to = std::min(tokens, (firstBlock + static_cast<int>(end)) * kKvBlockTokens - first);
        for (int t = from; t < to; ++t) {
            for (int head = 0; head < m_spec.heads; ++head)
                m_kernels.rotate(m_q.row(t) + head * m_spec.headSize, m_cosines.row(t), m_sines.row(t), m_spec.ropeDims,
                                 halves);
            for (int head = 0; head < m_spec.kvHeads; ++head)
                m_kernels.rotate(m_k.row(t) + head * m_spec.headSize, m_cosines.row(t), m_sines.row(t), m_spec.ropeDims,
                                 halves);
        }
        m_attention.store(m_kernels, kv, layer, first + from, to - from, m_k.from(from), m_v.from(from));
    });
}

void CpuBackend::feedForward(const LayerWeights &layer, Rows x, int tokens)
{
    const ActivationTiles::Norm norm{layer.ffnNorm, m_spec.normEpsilon};
    m_tiles.prepare(m_pool, m_kernels, x, tokens, m_spec.width, &norm, std::array{&layer.gate, &layer.up});
    multiplyGated(m_pool, m_kernels, m_tiles, layer.gate, layer.up, m_hidden);
    m_tiles.prepare(m_pool, m_kernels, m_hidden, tokens, m_spec.feedForward, nullptr, std::array{&layer.down});
    multiply(m_pool, m_kernels, m_tiles, std::array{Product{&layer.down, x}}, true);
}

// An int8 head sees its input as two rows: the rounded value and what the rounding left over. Both share one pass over
// the weights, and the logits come closer to exact ones than llama.cpp's (figures in tst_logits).
void CpuBackend::computeLogits(int token)
{
    const int width = m_spec.width;
    float *input = m_headInput.row(0);
    m_kernels.rmsNorm(m_x.row(token), m_weights.outputNorm, m_spec.normEpsilon, width, input);
    const std::array users{&m_weights.output};
    m_tiles.prepare(m_pool, m_kernels, m_headInput, 1, width, nullptr, users);
    if (m_weights.output.format->activations == ActivationKind::Int8) {
        subtractInt8Tile(input, m_tiles.tile(ActivationKind::Int8, 0), width, m_headInput.row(1));
        m_tiles.prepare(m_pool, m_kernels, m_headInput, 2, width, nullptr, users);
    }
    multiply(m_pool, m_kernels, m_tiles, std::array{Product{&m_weights.output, m_logits}}, false);
    if (m_tiles.tokens() == 2)
        for (int i = 0; i < m_spec.vocabulary; ++i)
            m_logits.data[i] += m_logits.row(1)[i];
}

PassCost CpuBackend::cost(int position, int tokens, bool wantsLogits) const
{
    PassCost total;
    const auto add = [&total](const PassCost &part) {
        total.weightBytes += part.weightBytes;
        total.kvBytes += part.kvBytes;
        total.flops += part.flops;
    };
    for (int done = 0; done < tokens; done += kPassTokens) {
        const int batch = std::min(kPassTokens, tokens - done);
        const bool batchWantsLogits = wantsLogits && done + batch == tokens;
        for (std::size_t i = 0; i < m_weights.layers.size(); ++i) {
            const LayerWeights &layer = m_weights.layers[i];
            for (const PackedMatrix *matrix : {&layer.q, &layer.k, &layer.v})
                add(matrix->cost(batch));
            const bool isLastLayer = i + 1 == m_weights.layers.size();
            if (isLastLayer && !batchWantsLogits)
                continue;
            const int left = isLastLayer ? 1 : batch;
            add(m_attention.cost(position + done + batch - left, left));
            for (const PackedMatrix *matrix : {&layer.attnOutput, &layer.gate, &layer.up, &layer.down})
                add(matrix->cost(left));
        }
    }
    if (wantsLogits)
        add(m_weights.output.cost(m_weights.output.format->activations == ActivationKind::Int8 ? 2 : 1));
    return total;
}

} // namespace

Result<std::unique_ptr<Backend>> createCpuBackend(const Model &model, int threads, const LoadProgressFunction &progress,
                                                  const StopFlag &stop)
{
    return CpuBackend::create(model, threads, progress, stop);
}

} // namespace lectern
