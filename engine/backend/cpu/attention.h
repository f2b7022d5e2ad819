// SPDX-License-Identifier: GPL-3.0-or-later
// Causal attention over the KV blocks of a sequence, flash style: spans of 128 positions, each with a softmax of its
// own, merged in order (Milakov and Gimelshein 2018; Dao et al. 2022). The spans start at position 0 whatever is
// computed, so a query row has the same bits in a prefill of any chunk size and in decoding.
//
// The cpu backend keeps keys transposed inside a block: F16 [headSize][16 positions]; values are [16][headSize].
#pragma once

#include "engine/backend/backend.h"
#include "engine/backend/cpu/matmul.h"
#include "engine/kv/kv_pool.h"

#include <atomic>
#include <vector>

namespace lectern::cpu {

class Attention
{
public:
    static Result<Attention> create(const ModelSpec &spec, int threads);

    // Writes k and v [tokens][kvWidth], keys already rotated, at positions first ... Safe from several threads when no
    // two of them write the same block of positions.
    void store(const Kernels &kernels, KvSequence &kv, int layer, int first, int tokens, Rows k, Rows v) const;

    // out[tokens][qWidth] for the queries q (rotated) at positions first ..., whose keys and values are stored.
    void run(ThreadPool &pool, const Kernels &kernels, KvSequence &kv, int layer, int first, int tokens, Rows q,
             Rows out);

    // One layer. Bytes: what a tile of queries reads of the cache, once per tile. Operations: 4 · headSize per pair.
    PassCost cost(int first, int tokens) const;

private:
    struct Call;    // one layer's arguments
    struct Scratch; // one thread's buffers
    struct Softmax  // of one query row, over the positions seen so far
    {
        float largest = 0; // score
        float sum = 0;     // of 2^(score - largest)
        bool isEmpty = true;

        void merge(const Kernels &kernels, const Softmax &span, float *total, const float *part, int headSize);
        void normalise(float *total, int headSize) const;
    };

    int tokensPerTile(int tokens) const;
    void runTiles(ThreadPool &pool, const Call &call);
    void runSpans(ThreadPool &pool, const Call &call);
    Scratch scratch(int thread) const;
    void gather(const Call &call, int kvHead, int firstToken, int rows, float *queries) const;
    void spanOf(const Call &call, int kvHead, int span, int firstToken, int firstRow, int rows, const float *queries,
                float *parts, Softmax *partSums, const Scratch &scratch) const;

    int m_heads = 1, m_kvHeads = 1, m_headSize = 0, m_headsPerKv = 1;
    int m_tileRows = 0;             // query rows a thread has room for
    std::size_t m_scratchBytes = 0; // of one thread
    AlignedBuffer m_scratch;
    std::vector<Softmax> m_tileSums; // [thread][tileRows]
    // Decoding: what the spans of every head gave, [span][head], and how many spans of a KV head are still to come.
    std::vector<float> m_parts; // [span][head][headSize]
    std::vector<Softmax> m_partSums;
    std::vector<std::atomic<int>> m_spansLeft;
};

} // namespace lectern::cpu
