// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/kv/kv_pool.h"

#include "engine/base/cpu_features.h"

#include <algorithm>
#include <limits>
#include <string>

namespace lectern {

namespace {

int blocksFor(int tokens)
{
    return (tokens + kKvBlockTokens - 1) / kKvBlockTokens;
}

} // namespace

Result<KvPool> KvPool::create(const ModelSpec &spec, KvElement element, std::uint64_t budgetBytes)
{
    KvPool pool;
    pool.m_element = element;
    pool.m_kvHeads = spec.kvHeads;
    pool.m_bytesPerToken = spec.kvBytesPerToken(kvElementBytes(element));
    pool.m_headBytes = static_cast<std::uint64_t>(kKvBlockTokens) * static_cast<std::uint64_t>(spec.headSize) *
                       static_cast<std::uint64_t>(kvElementBytes(element));
    if (budgetBytes < pool.blockBytes()) {
        return fail(ErrorCode::OutOfMemory,
                    "a budget of " + std::to_string(budgetBytes) + " bytes is too small: one block of " +
                        std::to_string(kKvBlockTokens) + " tokens needs " + std::to_string(pool.blockBytes()) +
                        " bytes",
                    "KV cache", "Set a larger KV budget.");
    }

    const std::uint64_t blocks =
        std::min<std::uint64_t>(budgetBytes / pool.blockBytes(), std::numeric_limits<BlockId>::max() / kKvBlockTokens);
    pool.m_blockCount = static_cast<int>(blocks);

    // The address space alone is nearly always granted, so the machine is asked what it really has.
    const std::uint64_t available = availableMemoryBytes();
    if (available != 0 && pool.budgetBytes() > available) {
        return fail(ErrorCode::OutOfMemory,
                    std::to_string(pool.budgetBytes()) + " bytes are needed (" + std::to_string(pool.m_bytesPerToken) +
                        " per token), " + std::to_string(available) + " are available",
                    "KV cache", "Choose a shorter context or a smaller KV budget.");
    }
    auto memory = AlignedBuffer::create(pool.budgetBytes());
    if (!memory)
        return tl::unexpected(memory.error());
    pool.m_memory = std::move(*memory);

    // Last in, first out, from block 0 upwards: the order is the same in every run, and warm blocks are used again
    // first.
    pool.m_free.resize(blocks);
    for (int i = 0; i < pool.m_blockCount; ++i)
        pool.m_free[static_cast<std::size_t>(i)] = pool.m_blockCount - 1 - i;
    return pool;
}

std::optional<BlockId> KvPool::take()
{
    if (m_free.empty())
        return std::nullopt;
    const BlockId block = m_free.back();
    m_free.pop_back();
    return block;
}

void KvPool::release(BlockId block)
{
    m_free.push_back(block);
}

std::byte *KvPool::keys(BlockId block, int layer, int kvHead)
{
    const std::uint64_t head = 2ull * static_cast<std::uint64_t>(layer) * static_cast<std::uint64_t>(m_kvHeads) +
                               static_cast<std::uint64_t>(kvHead);
    return m_memory.data() + static_cast<std::uint64_t>(block) * blockBytes() + head * m_headBytes;
}

std::byte *KvPool::values(BlockId block, int layer, int kvHead)
{
    return keys(block, layer, kvHead) + static_cast<std::uint64_t>(m_kvHeads) * m_headBytes;
}

Result<void> KvSequence::reserve(int count)
{
    const auto held = static_cast<int>(m_blocks.size());
    const int missing = blocksFor(m_tokens + count) - held;
    const int free = m_pool->blockCount() - m_pool->usedBlocks();
    if (missing > free) {
        return fail(ErrorCode::OutOfMemory,
                    "the budget of " + std::to_string(m_pool->budgetBytes()) +
                        " bytes is used up: " + std::to_string(m_tokens + count) + " tokens need " +
                        std::to_string(m_pool->blockBytes() * static_cast<std::uint64_t>(held + missing)) +
                        " bytes, and the free blocks hold " +
                        std::to_string(m_pool->blockBytes() * static_cast<std::uint64_t>(free)),
                    "KV cache", "Set a larger KV budget or shorten the prompt.");
    }
    for (int i = 0; i < missing; ++i)
        m_blocks.push_back(*m_pool->take());
    return {};
}

void KvSequence::truncate(int tokens)
{
    m_tokens = std::min(m_tokens, std::max(tokens, 0));
    const auto kept = static_cast<std::size_t>(blocksFor(m_tokens));
    while (m_blocks.size() > kept) {
        m_pool->release(m_blocks.back());
        m_blocks.pop_back();
    }
}

} // namespace lectern
