// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers of blocks (or states) with the count of sequences that use each: taken with a count of 1, free at 0.
// The order in which numbers are handed out is the same in every run. Thread: engine thread only. After construction
// nothing touches the heap.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lectern {

using BlockId = std::int32_t;
inline constexpr BlockId kNoBlock = -1;

class BlockAllocator
{
public:
    explicit BlockAllocator(int count);

    int count() const { return static_cast<int>(m_users.size()); }
    int freeCount() const { return static_cast<int>(m_free.size()); }
    int usedCount() const { return count() - freeCount(); }

    std::optional<BlockId> take(); // nothing when all are in use; O(1)
    void share(BlockId block) { ++m_users[static_cast<std::size_t>(block)]; }
    void release(BlockId block);
    bool isShared(BlockId block) const { return m_users[static_cast<std::size_t>(block)] > 1; }

private:
    std::vector<BlockId> m_free; // last in, first out: warm blocks are used again first
    std::vector<std::int32_t> m_users;
};

} // namespace lectern
