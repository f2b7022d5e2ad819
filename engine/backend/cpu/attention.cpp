// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace lectern::cpu {

namespace {

static_assert(kKvBlockTokens == 16, "a block of keys is one 512-bit register of positions");

constexpr int kTileRows =
    48; // queries that share a pass over the cache: 12 KiB for heads of 64, beside a span of 32 KiB

int spansFor(int positions)
{
    return (positions + kSpanTokens - 1) / kSpanTokens;
}

int headsPerKv(const LayerSpec &layer)
{
    return layer.heads / layer.kvHeads;
}

// As many as share a pass over the cache well, but enough tiles to keep a handful of threads busy.
int tokensPerTile(const LayerSpec &layer, int tokens, int tileRows)
{
    return std::clamp(tokens * layer.kvHeads / 16, 1, std::max(1, tileRows / headsPerKv(layer)));
}

// The oldest position that the token at `position` sees.
int oldestSeen(const LayerSpec &layer, int position)
{
    return layer.window > 0 ? std::max(0, position - layer.window + 1) : 0;
}

} // namespace

struct Attention::Call
{
    const Kernels &kernels;
    const LayerSpec &spec;
    int layer;
    Rows q, out;
};

// A slice of one token is cut into spans of the cache, several tokens into tiles of queries; both for each KV head.
struct Attention::Work
{
    AttentionSlice slice;
    const HostKvMemory *memory;
    std::span<const BlockId> blocks;
    int perTile;         // tokens; 0: cut into spans
    int pieces;          // spans or tiles
    int firstSpan;       // the first that is seen
    int firstUnit;       // of the whole batch's units: pieces · KV heads
    std::size_t counter; // into m_spansLeft
    std::size_t part;    // into m_partSums
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

Result<Attention> Attention::create(const ModelSpec &spec, int threads, int maxSlices)
{
    Attention attention;
    attention.m_layers = spec.layers;
    attention.m_tileRows = std::max(kTileRows, spec.widest(headsPerKv));
    attention.m_widestHead = spec.widest(&LayerSpec::keySize);
    const auto headSize = static_cast<std::size_t>(attention.m_widestHead);
    const std::size_t floats =
        (static_cast<std::size_t>(attention.m_tileRows) + kGroupRows) * headSize + kGroupRows * kSpanTokens;
    attention.m_scratchBytes = (floats * sizeof(float) + 63) / 64 * 64;
    Result<AlignedBuffer> memory = AlignedBuffer::create(attention.m_scratchBytes * static_cast<std::size_t>(threads));
    if (!memory)
        return tl::unexpected(memory.error());
    attention.m_scratch = std::move(*memory);
    attention.m_tileSums.resize(static_cast<std::size_t>(attention.m_tileRows) * static_cast<std::size_t>(threads));
    attention.m_spansLeft = std::vector<std::atomic<int>>(static_cast<std::size_t>(maxSlices) *
                                                          static_cast<std::size_t>(spec.widest(&LayerSpec::kvHeads)));
    return attention;
}

Attention::Scratch Attention::scratch(int thread) const
{
    auto *bytes = const_cast<std::byte *>(m_scratch.data()) + m_scratchBytes * static_cast<std::size_t>(thread);
    auto *scores = reinterpret_cast<float *>(bytes);
    float *parts = scores + kGroupRows * kSpanTokens;
    return {parts + kGroupRows * m_widestHead, scores, parts};
}

void Attention::store(const Kernels &kernels, const KvSequence &kv, int layer, int first, int tokens, Rows k,
                      Rows v) const
{
    const LayerSpec &spec = m_layers[static_cast<std::size_t>(layer)];
    const auto &memory = static_cast<const HostKvMemory &>(kv.pool().memory());
    const std::span<const BlockId> blocks = kv.blocks(memory.layout().groupOf[static_cast<std::size_t>(layer)]);
    const int size = spec.keySize;
    std::array<std::uint16_t, 64> half;
    for (int t = 0; t < tokens; ++t) {
        const BlockId block = blocks[static_cast<std::size_t>((first + t) / kKvBlockTokens)];
        const int slot = (first + t) % kKvBlockTokens;
        for (int head = 0; head < spec.kvHeads; ++head) {
            auto *keys = reinterpret_cast<std::uint16_t *>(memory.keys(block, layer, head)) + slot;
            auto *values = reinterpret_cast<std::uint16_t *>(memory.values(block, layer, head));
            kernels.toHalf(v.row(t) + head * size, size, values + slot * size);
            for (int d = 0; d < size; d += static_cast<int>(half.size())) {
                const int count = std::min(size - d, static_cast<int>(half.size()));
                kernels.toHalf(k.row(t) + head * size + d, count, half.data());
                for (int i = 0; i < count; ++i)
                    keys[(d + i) * kKvBlockTokens] = half[static_cast<std::size_t>(i)];
            }
        }
    }
}

// Query row i of a tile is token i / headsPerKv and head i % headsPerKv of the KV head's group. The scale and the
// change of base (softmax works with powers of two) go into the query.
void Attention::gather(const Call &call, const Work &work, int kvHead, int firstToken, int rows, float *queries) const
{
    const int size = call.spec.keySize, perKv = headsPerKv(call.spec);
    const float scale = static_cast<float>(1.4426950408889634 / std::sqrt(static_cast<double>(size)));
    for (int first = 0; first < rows; first += kGroupRows) {
        const int count = std::min(kGroupRows, rows - first);
        for (int r = 0; r < count; ++r) {
            const int token = firstToken + (first + r) / perKv;
            const int head = kvHead * perKv + (first + r) % perKv;
            const float *q = call.q.row(work.slice.row + token) + head * size;
            for (int d = 0; d < size; ++d)
                queries[d * count + r] = q[d] * scale;
        }
        queries += count * size;
    }
}

// Rows firstRow ... of a tile over one span: their weighted sums of values into parts[rows][headSize], the softmax into
// partSums.
void Attention::spanOf(const Call &call, const Work &work, int kvHead, int span, int firstToken, int firstRow, int rows,
                       const float *queries, float *parts, Softmax *partSums, const Scratch &scratch) const
{
    const int start = span * kSpanTokens, size = call.spec.keySize;
    const auto inSpan = [start](int position) { return std::clamp(position - start, 0, kSpanTokens); };
    const auto positionOf = [&](int row) {
        return work.slice.first + firstToken + (firstRow + row) / headsPerKv(call.spec);
    };
    // Positions of the span that the row may see: [oldest, visible).
    const auto visible = [&](int row) { return inSpan(positionOf(row) + 1); };
    const auto oldest = [&](int row) { return inSpan(oldestSeen(call.spec, positionOf(row))); };
    const int most = visible(rows - 1);
    const int firstBlock = oldest(0) / kKvBlockTokens;
    if (most <= oldest(0)) {
        std::fill(partSums, partSums + rows, Softmax{});
        return;
    }
    const int skipped = firstBlock * kKvBlockTokens; // left behind by the windows of all rows
    const int blocks = (most + kKvBlockTokens - 1) / kKvBlockTokens - firstBlock;
    std::array<const std::uint16_t *, kSpanBlocks> keys, values;
    for (int b = 0; b < blocks; ++b) {
        const BlockId block = work.blocks[static_cast<std::size_t>(start / kKvBlockTokens + firstBlock + b)];
        keys[static_cast<std::size_t>(b)] =
            reinterpret_cast<const std::uint16_t *>(work.memory->keys(block, call.layer, kvHead));
        values[static_cast<std::size_t>(b)] =
            reinterpret_cast<const std::uint16_t *>(work.memory->values(block, call.layer, kvHead));
    }
    call.kernels.scores(queries, rows, keys.data(), blocks, size, scratch.scores);
    for (int r = 0; r < rows; ++r) {
        float *row = scratch.scores + r * kSpanTokens;
        const int from = oldest(r) - skipped, count = visible(r) - skipped;
        partSums[r] = Softmax{};
        if (count > from) {
            std::fill(row, row + from, -std::numeric_limits<float>::infinity()); // weight 0
            partSums[r].sum = call.kernels.softmax(row, count, &partSums[r].largest);
            partSums[r].isEmpty = false;
        }
        const int written = count > from ? (count + kKvBlockTokens - 1) / kKvBlockTokens * kKvBlockTokens : 0;
        std::fill(row + written, row + std::max(written, most - skipped), 0.0f); // what other rows see
    }
    call.kernels.weightedSum(scratch.scores, rows, values.data(), most - skipped, size, parts,
                             static_cast<std::size_t>(size));
}

// Several tokens first: their pieces are the longest.
std::vector<Attention::Work> Attention::plan(std::span<const AttentionSlice> slices, const LayerSpec &layer)
{
    std::vector<Work> works;
    works.reserve(slices.size());
    int units = 0;
    std::size_t counters = 0, parts = 0;
    for (const bool isDecode : {false, true}) {
        for (const AttentionSlice &slice : slices) {
            if ((slice.tokens == 1) != isDecode)
                continue;
            const int index = static_cast<int>(&layer - m_layers.data());
            const auto &memory = static_cast<const HostKvMemory &>(slice.kv->pool().memory());
            const auto blocks = slice.kv->blocks(memory.layout().groupOf[static_cast<std::size_t>(index)]);
            const int firstSpan = oldestSeen(layer, slice.first) / kSpanTokens;
            const int perTile = isDecode ? 0 : tokensPerTile(layer, slice.tokens, m_tileRows);
            const int pieces =
                isDecode ? spansFor(slice.first + 1) - firstSpan : (slice.tokens + perTile - 1) / perTile;
            works.push_back({slice, &memory, blocks, perTile, pieces, firstSpan, units, counters, parts});
            units += pieces * layer.kvHeads;
            if (!isDecode)
                continue;
            for (int head = 0; head < layer.kvHeads; ++head)
                m_spansLeft[counters++].store(pieces, std::memory_order_relaxed);
            parts += static_cast<std::size_t>(pieces * layer.heads);
        }
    }
    if (m_parts.size() < parts * static_cast<std::size_t>(layer.keySize))
        m_parts.resize(2 * parts * static_cast<std::size_t>(layer.keySize));
    if (m_partSums.size() < parts)
        m_partSums.resize(2 * parts);
    return works;
}

void Attention::run(ThreadPool &pool, const Kernels &kernels, std::span<const AttentionSlice> slices, int layer, Rows q,
                    Rows out)
{
    const LayerSpec &spec = m_layers[static_cast<std::size_t>(layer)];
    const Call call{kernels, spec, layer, q, out};
    const std::vector<Work> works = plan(slices, spec);
    const int units = works.back().firstUnit + works.back().pieces * spec.kvHeads;
    std::atomic<int> next{0};
    pool.run([&](int thread) {
        auto work = works.begin();
        for (;;) {
            const int unit = next.fetch_add(1, std::memory_order_relaxed);
            if (unit >= units)
                return;
            while (unit >= work->firstUnit + work->pieces * spec.kvHeads)
                ++work;
            if (work->perTile > 0)
                runTile(call, *work, unit - work->firstUnit, thread);
            else
                runSpan(call, *work, unit - work->firstUnit, thread);
        }
    });
}

void Attention::runTile(const Call &call, const Work &work, int piece, int thread)
{
    const Scratch own = scratch(thread);
    const auto tileRows = static_cast<std::size_t>(m_tileRows);
    const std::span<Softmax> sums =
        std::span(m_tileSums).subspan(static_cast<std::size_t>(thread) * tileRows, tileRows);
    std::array<Softmax, kGroupRows> spanSums;
    const int size = call.spec.keySize, perKv = headsPerKv(call.spec);
    const int kvHead = piece % call.spec.kvHeads;
    const int firstToken = (work.pieces - 1 - piece / call.spec.kvHeads) * work.perTile; // the longest first
    const int tokens = std::min(work.perTile, work.slice.tokens - firstToken);
    const int rows = tokens * perKv;
    gather(call, work, kvHead, firstToken, rows, own.queries);
    std::fill(sums.begin(), sums.end(), Softmax{});
    const auto total = [&](int row) {
        return call.out.row(work.slice.row + firstToken + row / perKv) + (kvHead * perKv + row % perKv) * size;
    };
    const int firstSpan = oldestSeen(call.spec, work.slice.first + firstToken) / kSpanTokens;
    for (int span = firstSpan; span < spansFor(work.slice.first + firstToken + tokens); ++span) {
        for (int firstRow = 0; firstRow < rows; firstRow += kGroupRows) {
            const int count = std::min(kGroupRows, rows - firstRow);
            spanOf(call, work, kvHead, span, firstToken, firstRow, count, own.queries + firstRow * size, own.parts,
                   spanSums.data(), own);
            for (int r = 0; r < count; ++r) {
                if (const Softmax &part = spanSums[static_cast<std::size_t>(r)]; !part.isEmpty)
                    sums[static_cast<std::size_t>(firstRow + r)].merge(call.kernels, part, total(firstRow + r),
                                                                       own.parts + r * size, size);
            }
        }
    }
    for (int row = 0; row < rows; ++row)
        sums[static_cast<std::size_t>(row)].normalise(total(row), size);
}

// One token: the spans of a head are computed by whoever is free; who finishes the last one merges them in order.
void Attention::runSpan(const Call &call, const Work &work, int piece, int thread)
{
    const Scratch own = scratch(thread);
    const int size = call.spec.keySize, perKv = headsPerKv(call.spec);
    const int kvHead = piece % call.spec.kvHeads, span = piece / call.spec.kvHeads;
    gather(call, work, kvHead, 0, perKv, own.queries);
    for (int row = 0; row < perKv; row += kGroupRows) {
        const std::size_t part = work.part + static_cast<std::size_t>(span * call.spec.heads + kvHead * perKv + row);
        spanOf(call, work, kvHead, work.firstSpan + span, 0, row, std::min(kGroupRows, perKv - row),
               own.queries + row * size, m_parts.data() + part * static_cast<std::size_t>(size),
               m_partSums.data() + part, own);
    }
    const std::size_t counter = work.counter + static_cast<std::size_t>(kvHead);
    if (m_spansLeft[counter].fetch_sub(1, std::memory_order_acq_rel) == 1)
        mergeSpans(call, work, kvHead);
}

void Attention::mergeSpans(const Call &call, const Work &work, int kvHead)
{
    const int size = call.spec.keySize, perKv = headsPerKv(call.spec);
    for (int head = kvHead * perKv; head < (kvHead + 1) * perKv; ++head) {
        float *total = call.out.row(work.slice.row) + head * size;
        Softmax sums;
        for (int span = 0; span < work.pieces; ++span) {
            const std::size_t part = work.part + static_cast<std::size_t>(span * call.spec.heads + head);
            if (!m_partSums[part].isEmpty)
                sums.merge(call.kernels, m_partSums[part], total,
                           m_parts.data() + part * static_cast<std::size_t>(size), size);
        }
        sums.normalise(total, size);
    }
}

OperationCost Attention::cost(std::span<const AttentionSlice> slices, int layer) const
{
    const LayerSpec &spec = m_layers[static_cast<std::size_t>(layer)];
    std::uint64_t positionsRead = 0, pairs = 0;
    for (const AttentionSlice &slice : slices) {
        const int perTile = slice.tokens == 1 ? 1 : tokensPerTile(spec, slice.tokens, m_tileRows);
        const auto seen = [&](int from, int to) { // by the tokens [from, to)
            return static_cast<std::uint64_t>(slice.first + to - oldestSeen(spec, slice.first + from));
        };
        for (int t = 0; t < slice.tokens; t += perTile)
            positionsRead += seen(t, std::min(t + perTile, slice.tokens));
        for (int t = 0; t < slice.tokens; ++t)
            pairs += seen(t, t + 1);
    }
    const auto perPosition =
        static_cast<std::uint64_t>((spec.kWidth() + spec.vWidth()) * kvElementBytes(KvElement::F16));
    return {0, positionsRead * perPosition, 4 * pairs * static_cast<std::uint64_t>(spec.qWidth())};
}

} // namespace lectern::cpu
