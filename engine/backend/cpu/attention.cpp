// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace lectern::cpu {

namespace {

static_assert(kKvBlockTokens == 16, "a block of keys is one 512-bit register of positions");

constexpr int kTileRows =
    48; // queries that share a pass over the cache: 12 KiB for heads of 64, beside a span of 32 KiB

int spansFor(int positions)
{
    return (positions + kSpanTokens - 1) / kSpanTokens;
}

} // namespace

struct Attention::Call
{
    const Kernels &kernels;
    KvSequence &kv;
    int layer;
    int first; // position of query 0
    int tokens;
    Rows q, out;
};

// Takes in the result of a later span. `total` and `part` are the weighted sums of values, [headSize].
void Attention::Softmax::merge(const Kernels &kernels, const Softmax &span, float *total, const float *part,
                               int headSize)
{
    if (isEmpty) {
        *this = span;
        std::memcpy(total, part, static_cast<std::size_t>(headSize) * sizeof(float));
        return;
    }
    const bool isLarger = span.largest > largest;
    const float keep = isLarger ? std::exp2(largest - span.largest) : 1.0f;
    const float take = isLarger ? 1.0f : std::exp2(span.largest - largest);
    kernels.mergeSpan(total, keep, part, take, headSize);
    sum = sum * keep + span.sum * take;
    largest = isLarger ? span.largest : largest;
}

void Attention::Softmax::normalise(float *total, int headSize) const
{
    const float factor = 1.0f / sum;
    for (int d = 0; d < headSize; ++d)
        total[d] *= factor;
}

struct Attention::Scratch
{
    float *queries; // [groups][headSize][rows of the group]
    float *scores;  // [kGroupRows][kSpanTokens]
    float *parts;   // [kGroupRows][headSize]
};

Result<Attention> Attention::create(const ModelSpec &spec, int threads)
{
    Attention attention;
    attention.m_heads = spec.heads;
    attention.m_kvHeads = spec.kvHeads;
    attention.m_headSize = spec.headSize;
    attention.m_headsPerKv = spec.heads / spec.kvHeads;
    attention.m_tileRows = std::max(kTileRows, attention.m_headsPerKv);
    const auto headSize = static_cast<std::size_t>(spec.headSize);
    const std::size_t floats =
        (static_cast<std::size_t>(attention.m_tileRows) + kGroupRows) * headSize + kGroupRows * kSpanTokens;
    attention.m_scratchBytes = (floats * sizeof(float) + 63) / 64 * 64;
    Result<AlignedBuffer> memory = AlignedBuffer::create(attention.m_scratchBytes * static_cast<std::size_t>(threads));
    if (!memory)
        return tl::unexpected(memory.error());
    attention.m_scratch = std::move(*memory);
    attention.m_tileSums.resize(static_cast<std::size_t>(attention.m_tileRows) * static_cast<std::size_t>(threads));
    attention.m_spansLeft = std::vector<std::atomic<int>>(static_cast<std::size_t>(spec.kvHeads));
    return attention;
}

Attention::Scratch Attention::scratch(int thread) const
{
    auto *bytes = const_cast<std::byte *>(m_scratch.data()) + m_scratchBytes * static_cast<std::size_t>(thread);
    auto *scores = reinterpret_cast<float *>(bytes);
    float *parts = scores + kGroupRows * kSpanTokens;
    return {parts + kGroupRows * m_headSize, scores, parts};
}

void Attention::store(const Kernels &kernels, KvSequence &kv, int layer, int first, int tokens, Rows k, Rows v) const
{
    std::array<std::uint16_t, 64> half;
    for (int t = 0; t < tokens; ++t) {
        const BlockId block = kv.blocks()[static_cast<std::size_t>((first + t) / kKvBlockTokens)];
        const int slot = (first + t) % kKvBlockTokens;
        for (int head = 0; head < m_kvHeads; ++head) {
            auto *keys = reinterpret_cast<std::uint16_t *>(kv.pool().keys(block, layer, head)) + slot;
            auto *values = reinterpret_cast<std::uint16_t *>(kv.pool().values(block, layer, head));
            kernels.toHalf(v.row(t) + head * m_headSize, m_headSize, values + slot * m_headSize);
            for (int d = 0; d < m_headSize; d += static_cast<int>(half.size())) {
                const int count = std::min(m_headSize - d, static_cast<int>(half.size()));
                kernels.toHalf(k.row(t) + head * m_headSize + d, count, half.data());
                for (int i = 0; i < count; ++i)
                    keys[(d + i) * kKvBlockTokens] = half[static_cast<std::size_t>(i)];
            }
        }
    }
}

// Query row i of a tile is token i / headsPerKv and head i % headsPerKv of the KV head's group. The scale and the
// change of base (softmax works with powers of two) go into the query.
void Attention::gather(const Call &call, int kvHead, int firstToken, int rows, float *queries) const
{
    const float scale = static_cast<float>(1.4426950408889634 / std::sqrt(static_cast<double>(m_headSize)));
    for (int first = 0; first < rows; first += kGroupRows) {
        const int count = std::min(kGroupRows, rows - first);
        for (int r = 0; r < count; ++r) {
            const int token = firstToken + (first + r) / m_headsPerKv;
            const int head = kvHead * m_headsPerKv + (first + r) % m_headsPerKv;
            const float *q = call.q.row(token) + head * m_headSize;
            for (int d = 0; d < m_headSize; ++d)
                queries[d * count + r] = q[d] * scale;
        }
        queries += count * m_headSize;
    }
}

// Rows firstRow ... of a tile over one span: their weighted sums of values into parts[rows][headSize], the softmax into
// partSums.
void Attention::spanOf(const Call &call, int kvHead, int span, int firstToken, int firstRow, int rows,
                       const float *queries, float *parts, Softmax *partSums, const Scratch &scratch) const
{
    const int start = span * kSpanTokens;
    const auto visible = [&](int row) { // positions of the span that the row may see
        return std::clamp(call.first + firstToken + (firstRow + row) / m_headsPerKv + 1 - start, 0, kSpanTokens);
    };
    const int most = visible(rows - 1);
    if (most == 0) {
        std::fill(partSums, partSums + rows, Softmax{});
        return;
    }
    const int blocks = (most + kKvBlockTokens - 1) / kKvBlockTokens;
    std::array<const std::uint16_t *, kSpanBlocks> keys, values;
    for (int b = 0; b < blocks; ++b) {
        const BlockId block = call.kv.blocks()[static_cast<std::size_t>(start / kKvBlockTokens + b)];
        keys[static_cast<std::size_t>(b)] =
            reinterpret_cast<const std::uint16_t *>(call.kv.pool().keys(block, call.layer, kvHead));
        values[static_cast<std::size_t>(b)] =
            reinterpret_cast<const std::uint16_t *>(call.kv.pool().values(block, call.layer, kvHead));
    }
    call.kernels.scores(queries, rows, keys.data(), blocks, m_headSize, scratch.scores);
    for (int r = 0; r < rows; ++r) {
        float *row = scratch.scores + r * kSpanTokens;
        const int count = visible(r);
        partSums[r] = Softmax{};
        if (count != 0) {
            partSums[r].sum = call.kernels.softmax(row, count, &partSums[r].largest);
            partSums[r].isEmpty = false;
        }
        const int written = (count + kKvBlockTokens - 1) / kKvBlockTokens * kKvBlockTokens;
        std::fill(row + written, row + std::max(written, most), 0.0f); // what later rows see and this one does not
    }
    call.kernels.weightedSum(scratch.scores, rows, values.data(), most, m_headSize, parts,
                             static_cast<std::size_t>(m_headSize));
}

int Attention::tokensPerTile(int tokens) const
{
    // As many as share a pass well, but enough tiles to keep a handful of threads busy.
    const int most = std::max(1, m_tileRows / m_headsPerKv);
    return std::clamp(tokens * m_kvHeads / 16, 1, most);
}

void Attention::run(ThreadPool &pool, const Kernels &kernels, KvSequence &kv, int layer, int first, int tokens, Rows q,
                    Rows out)
{
    const Call call{kernels, kv, layer, first, tokens, q, out};
    if (tokens == 1)
        runSpans(pool, call);
    else
        runTiles(pool, call);
}

void Attention::runTiles(ThreadPool &pool, const Call &call)
{
    const int perTile = tokensPerTile(call.tokens);
    const int tiles = (call.tokens + perTile - 1) / perTile;
    std::atomic<int> next{0};
    pool.run([&](int thread) {
        const Scratch own = scratch(thread);
        const auto tileRows = static_cast<std::size_t>(m_tileRows);
        const std::span<Softmax> sums =
            std::span(m_tileSums).subspan(static_cast<std::size_t>(thread) * tileRows, tileRows);
        std::array<Softmax, kGroupRows> spanSums;
        for (;;) {
            const int unit = next.fetch_add(1, std::memory_order_relaxed);
            if (unit >= tiles * m_kvHeads)
                return;
            const int kvHead = unit % m_kvHeads;
            const int firstToken = (tiles - 1 - unit / m_kvHeads) * perTile; // the longest first
            const int tokens = std::min(perTile, call.tokens - firstToken);
            const int rows = tokens * m_headsPerKv;
            gather(call, kvHead, firstToken, rows, own.queries);
            std::fill(sums.begin(), sums.end(), Softmax{});
            const auto total = [&](int row) {
                const int head = kvHead * m_headsPerKv + row % m_headsPerKv;
                return call.out.row(firstToken + row / m_headsPerKv) + head * m_headSize;
            };
            for (int span = 0; span < spansFor(call.first + firstToken + tokens); ++span) {
                for (int firstRow = 0; firstRow < rows; firstRow += kGroupRows) {
                    const int count = std::min(kGroupRows, rows - firstRow);
                    spanOf(call, kvHead, span, firstToken, firstRow, count, own.queries + firstRow * m_headSize,
                           own.parts, spanSums.data(), own);
                    for (int r = 0; r < count; ++r) {
                        if (const Softmax &part = spanSums[static_cast<std::size_t>(r)]; !part.isEmpty)
                            sums[static_cast<std::size_t>(firstRow + r)].merge(call.kernels, part, total(firstRow + r),
                                                                               own.parts + r * m_headSize, m_headSize);
                    }
                }
            }
            for (int row = 0; row < rows; ++row)
                sums[static_cast<std::size_t>(row)].normalise(total(row), m_headSize);
        }
    });
}

// One token: the spans of a head are computed by whoever is free; who finishes the last one merges them in order.
void Attention::runSpans(ThreadPool &pool, const Call &call)
{
    const int spans = spansFor(call.first + 1);
    const auto slots = static_cast<std::size_t>(spans) * static_cast<std::size_t>(m_heads);
    if (m_parts.size() < slots * static_cast<std::size_t>(m_headSize))
        m_parts.resize(2 * slots * static_cast<std::size_t>(m_headSize));
    if (m_partSums.size() < slots)
        m_partSums.resize(2 * slots);
    for (std::atomic<int> &left : m_spansLeft)
        left.store(spans, std::memory_order_relaxed);
    const auto slotOf = [&](int span, int head) {
        return static_cast<std::size_t>(span) * static_cast<std::size_t>(m_heads) + static_cast<std::size_t>(head);
    };

    std::atomic<int> next{0};
    pool.run([&](int thread) {
        const Scratch own = scratch(thread);
        for (;;) {
            const int unit = next.fetch_add(1, std::memory_order_relaxed);
            if (unit >= spans * m_kvHeads)
                return;
            const int kvHead = unit % m_kvHeads, span = unit / m_kvHeads;
            const int firstHead = kvHead * m_headsPerKv;
            gather(call, kvHead, 0, m_headsPerKv, own.queries);
            for (int row = 0; row < m_headsPerKv; row += kGroupRows) {
                const std::size_t slot = slotOf(span, firstHead + row);
                spanOf(call, kvHead, span, 0, row, std::min(kGroupRows, m_headsPerKv - row),
                       own.queries + row * m_headSize, m_parts.data() + slot * static_cast<std::size_t>(m_headSize),
                       m_partSums.data() + slot, own);
            }
            if (m_spansLeft[static_cast<std::size_t>(kvHead)].fetch_sub(1, std::memory_order_acq_rel) != 1)
                continue;
            for (int head = firstHead; head < firstHead + m_headsPerKv; ++head) {
                float *total = call.out.row(0) + head * m_headSize;
                Softmax sums;
                for (int s = 0; s < spans; ++s) {
                    const std::size_t slot = slotOf(s, head);
                    sums.merge(call.kernels, m_partSums[slot], total,
                               m_parts.data() + slot * static_cast<std::size_t>(m_headSize), m_headSize);
                }
                sums.normalise(total, m_headSize);
            }
        }
    });
}

PassCost Attention::cost(int first, int tokens) const
{
    const int perTile = tokens == 1 ? 1 : tokensPerTile(tokens);
    std::uint64_t positionsRead = 0, pairs = 0;
    for (int t = 0; t < tokens; t += perTile)
        positionsRead += static_cast<std::uint64_t>(first + std::min(t + perTile, tokens));
    for (int t = 0; t < tokens; ++t)
        pairs += static_cast<std::uint64_t>(first + t + 1);
    const auto kvWidth = static_cast<std::uint64_t>(m_kvHeads * m_headSize);
    const auto qWidth = static_cast<std::uint64_t>(m_heads * m_headSize);
    return {0, positionsRead * kvWidth * 2 * sizeof(std::uint16_t), 4 * pairs * qWidth};
}

} // namespace lectern::cpu
