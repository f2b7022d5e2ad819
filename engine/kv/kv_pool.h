// SPDX-License-Identifier: GPL-3.0-or-later
// KV cache: a pool of fixed-size blocks and the block table of a sequence.
//
// A block holds kKvBlockTokens positions of every layer (the design of vLLM's paged attention, SOSP'23). Inside a
// block: [layer][K or V][KV head][kKvBlockTokens · headSize], so that attention reads one run per head and block. Keys
// are stored rotated. Inside such a run values are [position][headSize]; keys are so in `reference` and transposed,
// [headSize][position], in `cpu`, whose attention scores a whole block at once. Thread: engine thread only. The address
// space is reserved once; blocks never touch the heap.
#pragma once

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"
#include "engine/model/model_spec.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lectern {

inline constexpr int kKvBlockTokens = 16;
enum class KvElement
{
    F16,
    F32
};
constexpr int kvElementBytes(KvElement element)
{
    return element == KvElement::F16 ? 2 : 4;
}

using BlockId = std::int32_t;

class KvPool
{
public:
    // Reserves as many whole blocks as fit `budgetBytes`. OutOfMemory (naming the bytes asked for and available) when
    // not one block fits or the machine cannot reserve them.
    static Result<KvPool> create(const ModelSpec &spec, KvElement element, std::uint64_t budgetBytes);

    KvElement element() const { return m_element; }
    std::uint64_t bytesPerToken() const { return m_bytesPerToken; }
    std::uint64_t blockBytes() const { return m_bytesPerToken * kKvBlockTokens; }
    std::uint64_t budgetBytes() const { return blockBytes() * static_cast<std::uint64_t>(m_blockCount); }
    int blockCount() const { return m_blockCount; }
    int usedBlocks() const { return m_blockCount - static_cast<int>(m_free.size()); }
    std::uint64_t allocatedBytes() const { return blockBytes() * static_cast<std::uint64_t>(usedBlocks()); }

    // Hands out a block or nothing when the pool is exhausted; O(1).
    std::optional<BlockId> take();
    void release(BlockId block);

    // First of the kKvBlockTokens · headSize elements of a KV head in a layer.
    std::byte *keys(BlockId block, int layer, int kvHead);
    std::byte *values(BlockId block, int layer, int kvHead);

private:
    AlignedBuffer m_memory;
    std::vector<BlockId> m_free;
    KvElement m_element = KvElement::F16;
    std::uint64_t m_bytesPerToken = 0;
    std::uint64_t m_headBytes = 0; // one head of one block: kKvBlockTokens · headSize · element
    int m_kvHeads = 0;
    int m_blockCount = 0;
};

// Positions [0, tokens()) of one sequence. Owns its blocks.
class KvSequence
{
public:
    explicit KvSequence(KvPool &pool)
        : m_pool(&pool)
    {
    }
    KvSequence(const KvSequence &) = delete;
    KvSequence &operator=(const KvSequence &) = delete;
    ~KvSequence() { truncate(0); }

    // Makes room for `count` more positions after tokens(). OutOfMemory naming budget and need; takes nothing then.
    Result<void> reserve(int count);
    void commit(int count) { m_tokens += count; } // the backend has written them
    void truncate(int tokens);                    // forgets later positions and releases whole blocks

    int tokens() const { return m_tokens; }
    std::uint64_t usedBytes() const { return m_pool->bytesPerToken() * static_cast<std::uint64_t>(m_tokens); }
    std::uint64_t allocatedBytes() const { return m_pool->blockBytes() * m_blocks.size(); }
    const std::vector<BlockId> &blocks() const { return m_blocks; }
    KvPool &pool() { return *m_pool; }

private:
    KvPool *m_pool;
    std::vector<BlockId> m_blocks;
    int m_tokens = 0;
};

} // namespace lectern
