// SPDX-License-Identifier: GPL-3.0-or-later
// Where the bytes of a KV cache are: host memory or a card, in the order that its backend computes fastest. The
// bookkeeping (KvPool, KvSequence) knows blocks and states by number only; what is inside is the backend's.
// Thread: engine thread only.
#pragma once

#include "engine/kv/block_allocator.h"
#include "engine/kv/kv_layout.h"

#include <utility>

namespace lectern {

class KvMemory
{
public:
    KvMemory(KvLayout layout, KvCapacity capacity)
        : m_layout(std::move(layout))
        , m_capacity(std::move(capacity))
    {
    }
    virtual ~KvMemory() = default;

    const KvLayout &layout() const { return m_layout; }       // element type, bytes of a block of each group
    const KvCapacity &capacity() const { return m_capacity; } // blocks and states there is room for

    // All positions of a block of a group, or a whole state. Ordered before the next pass.
    virtual void copyBlock(int group, BlockId from, BlockId to) = 0;
    virtual void copyState(BlockId from, BlockId to) = 0;
    virtual void clearState(BlockId state) = 0; // a sequence begins with zeros

private:
    KvLayout m_layout;
    KvCapacity m_capacity;
};

} // namespace lectern
