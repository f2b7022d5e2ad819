// SPDX-License-Identifier: GPL-3.0-or-later
// What the cache holds of one sequence: positions [0, tokens()), as block tables and, for some models, a state.
//
// Blocks are shared between sequences with a common beginning and copied on the first write to a shared one. Thread:
// engine thread only.
#pragma once

#include "engine/kv/kv_pool.h"

#include <span>
#include <vector>

namespace lectern {

class KvSequence
{
public:
    explicit KvSequence(KvPool &pool); // which must outlive it
    KvSequence(const KvSequence &) = delete;
    KvSequence &operator=(const KvSequence &) = delete;
    ~KvSequence() { truncate(0); }

    // Makes room for `count` more positions after tokens(), in blocks that nobody else uses. OutOfMemory naming budget
    // and need; takes nothing then.
    Result<void> reserve(int count);
    // The backend has written them. Windowed groups give back blocks that no later position sees.
    void commit(int count);
    // Goes back to `tokens` positions, or to 0 where that cannot be: a state belongs to the newest position alone, and
    // what a window has left behind is gone. Later blocks are released, reserved ones too.
    void truncate(int tokens);
    // Takes over the first `tokens` positions of `other`, or none where that cannot be. This one must be empty.
    void share(const KvSequence &other, int tokens);

    int tokens() const { return m_tokens; }
    std::uint64_t usedBytes() const { return m_pool->layout().usedBytes(m_tokens); }
    std::uint64_t allocatedBytes() const; // of all blocks and the state it uses, shared ones too
    // Table of a group: the block of position p is blocks(group)[p / kKvBlockTokens], kNoBlock where a window left it
    // behind. Valid until the next change.
    std::span<const BlockId> blocks(int group) const { return m_tables[static_cast<std::size_t>(group)]; }
    BlockId state() const { return m_state; } // kNoBlock before the first reserve(), and for models without states
    KvPool &pool() const { return *m_pool; }

private:
    bool canGoBackTo(int tokens) const;
    int missingBlocks(int group, int count) const;
    bool writesSharedBlock(int group) const;
    void makeOwn(int group);
    void releaseFrom(int group, int firstBlock);
    void dropBehindWindow(int group);
    Error noRoom(int count) const;

    KvPool *m_pool;
    std::vector<std::vector<BlockId>> m_tables; // [groups]
    BlockId m_state = kNoBlock;
    int m_tokens = 0;
};

} // namespace lectern
