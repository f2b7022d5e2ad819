// SPDX-License-Identifier: GPL-3.0-or-later
// Causal attention over the KV blocks of the sequences of a batch, flash style: spans of 128 positions, each with a
// softmax of its own, merged in order (Milakov and Gimelshein 2018; Dao et al. 2022). The spans start at position 0
// whatever is computed, so a query row has the same bits in a prefill of any chunk size, in decoding and in any
// company.
//
// The cpu backend keeps keys transposed inside a block: F16 [headSize][16 positions]; values are [16][headSize].
#pragma once

#include "engine/backend/backend.h"
#include "engine/backend/cpu/matmul.h"
#include "engine/backend/host_kv_memory.h"

#include <atomic>
#include <span>
#include <vector>

namespace lectern::cpu {

// The tokens of one sequence: rows row ... of the batch, at positions first ...
struct AttentionSlice
{
    const KvSequence *kv;
    int row;
    int first;
    int tokens;
};

class Attention
{
public:
    // For all layers of `spec`, up to `maxSlices` sequences at once.
    static Result<Attention> create(const ModelSpec &spec, int threads, int maxSlices);

    // Writes rows of k [kWidth], already rotated, and v [vWidth] of a layer at positions first ... Safe from several
    // threads when no two of them write the same block of positions.
    void store(const Kernels &kernels, const KvSequence &kv, int layer, int first, int tokens, Rows k, Rows v) const;

    // out[mixedWidth] for the queries q[qWidth] (rotated) of all slices, whose keys and values are stored. One round of
    // the pool: free threads take the next piece of whichever sequence.
    void run(ThreadPool &pool, const Kernels &kernels, std::span<const AttentionSlice> slices, int layer, Rows q,
             Rows out);

    // One layer. Bytes: what a tile of queries reads of the cache, once per tile. Operations: 4 · headSize per pair.
    OperationCost cost(std::span<const AttentionSlice> slices, int layer) const;

private:
    struct Call;    // one layer's arguments
    struct Work;    // one slice cut into pieces
    struct Scratch; // one thread's buffers
    struct Softmax  // of one query row, over the positions seen so far
    {
        float largest = 0; // score
        float sum = 0;     // of 2^(score - largest)
        bool isEmpty = true;

        void merge(const Kernels &kernels, const Softmax &span, float *total, const float *part, int headSize);
        void normalise(float *total, int headSize) const;
    };

    std::vector<Work> plan(std::span<const AttentionSlice> slices, const LayerSpec &layer);
    void runTile(const Call &call, const Work &work, int piece, int thread);
    void runSpan(const Call &call, const Work &work, int piece, int thread);
    void mergeSpans(const Call &call, const Work &work, int kvHead);
    Scratch scratch(int thread) const;
    void gather(const Call &call, const Work &work, int kvHead, int firstToken, int rows, float *queries) const;
    void spanOf(const Call &call, const Work &work, int kvHead, int span, int firstToken, int firstRow, int rows,
                const float *queries, float *parts, Softmax *partSums, const Scratch &scratch) const;

    std::vector<LayerSpec> m_layers;
    int m_widestHead = 0;           // size
    int m_tileRows = 0;             // query rows a thread has room for
    std::size_t m_scratchBytes = 0; // of one thread
    AlignedBuffer m_scratch;
    std::vector<Softmax> m_tileSums; // [thread][tileRows]
    // Decoding: what the spans of every head gave, [slice][span][head], and how many spans of a KV head are to come.
    std::vector<float> m_parts; // [slice][span][head][headSize]
    std::vector<Softmax> m_partSums;
    std::vector<std::atomic<int>> m_spansLeft; // [slice][KV head]
};

} // namespace lectern::cpu
