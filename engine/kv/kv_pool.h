// SPDX-License-Identifier: GPL-3.0-or-later
// Bookkeeping of a KV cache: which blocks and states are in use, by how many sequences, and what that costs. True on
// any device; the bytes are in the backend's KvMemory. Thread: engine thread only.
#pragma once

#include "engine/base/result.h"
#include "engine/kv/kv_memory.h"

#include <memory>
#include <vector>

namespace lectern {

class KvPool
{
public:
    explicit KvPool(std::unique_ptr<KvMemory> memory);

    KvMemory &memory() { return *m_memory; }
    const KvLayout &layout() const { return m_memory->layout(); }
    std::uint64_t bytesPerToken() const { return layout().bytesPerToken(); }
    std::uint64_t budgetBytes() const { return layout().bytesOf(m_memory->capacity()); }
    // Blocks and states in use, a shared one counted once.
    std::uint64_t allocatedBytes() const;
    // Positions that one sequence can have at most, all blocks its own.
    int capacityTokens() const;
    int freeTokens() const; // of them, in blocks that nobody uses

    BlockAllocator &blocks(int group) { return m_blocks[static_cast<std::size_t>(group)]; }
    const BlockAllocator &blocks(int group) const { return m_blocks[static_cast<std::size_t>(group)]; }
    BlockAllocator &states() { return m_states; }

private:
    template <class Count>
    int endlessTokens(Count count) const;

    std::unique_ptr<KvMemory> m_memory;
    std::vector<BlockAllocator> m_blocks; // [groups]
    BlockAllocator m_states;
};

// The capacity that `budgetBytes` gives `sequences` at a time (KvLayout::capacityFor). OutOfMemory, naming the bytes
// needed and available, when not one block or state fits, or when the machine has less.
Result<KvCapacity> planKvCapacity(const KvLayout &layout, std::uint64_t budgetBytes, int sequences, int passTokens);

} // namespace lectern
