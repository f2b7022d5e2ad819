// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/kv/block_allocator.h"

namespace lectern {

BlockAllocator::BlockAllocator(int count)
    : m_free(static_cast<std::size_t>(count))
    , m_users(static_cast<std::size_t>(count))
{
    for (int i = 0; i < count; ++i)
        m_free[static_cast<std::size_t>(i)] = count - 1 - i; // from 0 upwards
}

std::optional<BlockId> BlockAllocator::take()
{
    if (m_free.empty())
        return std::nullopt;
    const BlockId block = m_free.back();
    m_free.pop_back();
    m_users[static_cast<std::size_t>(block)] = 1;
    return block;
}

void BlockAllocator::release(BlockId block)
{
    if (--m_users[static_cast<std::size_t>(block)] == 0)
        m_free.push_back(block);
}

} // namespace lectern
