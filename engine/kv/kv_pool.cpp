// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/kv/kv_pool.h"

#include "engine/base/cpu_features.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace lectern {

KvPool::KvPool(std::unique_ptr<KvMemory> memory)
    : m_memory(std::move(memory))
    , m_states(m_memory->capacity().states)
{
    for (const int count : m_memory->capacity().blocks)
        m_blocks.emplace_back(count);
}

std::uint64_t KvPool::allocatedBytes() const
{
    std::uint64_t bytes = layout().stateBytes * static_cast<std::uint64_t>(m_states.usedCount());
    for (std::size_t i = 0; i < m_blocks.size(); ++i)
        bytes += layout().groups[i].blockBytes() * static_cast<std::uint64_t>(m_blocks[i].usedCount());
    return bytes;
}

// Windowed groups have room for as many sequences as the pool was made for.
template <class Count>
int KvPool::endlessTokens(Count count) const
{
    int tokens = std::numeric_limits<int>::max();
    for (std::size_t i = 0; i < m_blocks.size(); ++i)
        if (layout().groups[i].window == 0)
            tokens = std::min(tokens, count(m_blocks[i]) * kKvBlockTokens);
    return tokens;
}

int KvPool::capacityTokens() const
{
    return endlessTokens([](const BlockAllocator &blocks) { return blocks.count(); });
}

int KvPool::freeTokens() const
{
    return endlessTokens([](const BlockAllocator &blocks) { return blocks.freeCount(); });
}

Result<KvCapacity> planKvCapacity(const KvLayout &layout, std::uint64_t budgetBytes, int sequences, int passTokens)
{
    KvCapacity capacity = layout.capacityFor(budgetBytes, sequences, passTokens);
    const bool hasBlocks = std::all_of(capacity.blocks.begin(), capacity.blocks.end(), [](int n) { return n > 0; });
    const bool hasStates = layout.stateBytes == 0 || capacity.states > 0;
    if (!hasBlocks || !hasStates) {
        return fail(ErrorCode::OutOfMemory,
                    "a budget of " + std::to_string(budgetBytes) + " bytes is too small: one block of " +
                        std::to_string(kKvBlockTokens) + " tokens needs " +
                        std::to_string(layout.budgetFor(kKvBlockTokens, 1)) + " bytes",
                    "KV cache", "Set a larger KV budget.");
    }
    // The address space alone is nearly always granted, so the machine is asked what it really has.
    const std::uint64_t available = availableMemoryBytes();
    if (available != 0 && layout.bytesOf(capacity) > available) {
        return fail(ErrorCode::OutOfMemory,
                    std::to_string(layout.bytesOf(capacity)) + " bytes are needed (" +
                        std::to_string(layout.bytesPerToken()) + " per token), " + std::to_string(available) +
                        " are available",
                    "KV cache", "Choose a shorter context or a smaller KV budget.");
    }
    return capacity;
}

} // namespace lectern
