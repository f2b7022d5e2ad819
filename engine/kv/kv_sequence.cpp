// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/kv/kv_sequence.h"

#include <algorithm>
#include <string>

namespace lectern {

namespace {

// The oldest position that the newest of `tokens` positions sees: what counts as used, and a little more than what the
// next one will see.
int firstSeen(const KvGroup &group, int tokens)
{
    return tokens - group.heldTokens(tokens);
}

} // namespace

KvSequence::KvSequence(KvPool &pool)
    : m_pool(&pool)
    , m_tables(pool.layout().groups.size())
{
}

// The block that the next position is written to, where it exists already.
bool KvSequence::writesSharedBlock(int group) const
{
    return m_tokens % kKvBlockTokens != 0 &&
           m_pool->blocks(group).isShared(blocks(group)[static_cast<std::size_t>(m_tokens / kKvBlockTokens)]);
}

int KvSequence::missingBlocks(int group, int count) const
{
    const int held = static_cast<int>(blocks(group).size());
    return kvBlocksFor(m_tokens + count) - held + (writesSharedBlock(group) ? 1 : 0);
}

Result<void> KvSequence::reserve(int count)
{
    const bool needsState =
        m_pool->layout().stateBytes > 0 && (m_state == kNoBlock || m_pool->states().isShared(m_state));
    if (needsState && m_pool->states().freeCount() == 0)
        return tl::unexpected(noRoom(count));
    for (int group = 0; group < static_cast<int>(m_tables.size()); ++group)
        if (missingBlocks(group, count) > m_pool->blocks(group).freeCount())
            return tl::unexpected(noRoom(count));

    for (int group = 0; group < static_cast<int>(m_tables.size()); ++group) {
        if (writesSharedBlock(group))
            makeOwn(group);
        for (int missing = missingBlocks(group, count); missing > 0; --missing)
            m_tables[static_cast<std::size_t>(group)].push_back(*m_pool->blocks(group).take());
    }
    if (needsState) {
        const BlockId own = *m_pool->states().take();
        if (m_state == kNoBlock) {
            m_pool->memory().clearState(own);
        } else {
            m_pool->memory().copyState(m_state, own);
            m_pool->states().release(m_state);
        }
        m_state = own;
    }
    return {};
}

void KvSequence::makeOwn(int group)
{
    BlockId &block = m_tables[static_cast<std::size_t>(group)][static_cast<std::size_t>(m_tokens / kKvBlockTokens)];
    const BlockId own = *m_pool->blocks(group).take();
    m_pool->memory().copyBlock(group, block, own);
    m_pool->blocks(group).release(block);
    block = own;
}

void KvSequence::commit(int count)
{
    m_tokens += count;
    for (int group = 0; group < static_cast<int>(m_tables.size()); ++group)
        dropBehindWindow(group);
}

void KvSequence::dropBehindWindow(int group)
{
    const int seen = firstSeen(m_pool->layout().groups[static_cast<std::size_t>(group)], m_tokens) / kKvBlockTokens;
    std::vector<BlockId> &table = m_tables[static_cast<std::size_t>(group)];
    for (int i = seen - 1; i >= 0 && table[static_cast<std::size_t>(i)] != kNoBlock; --i) {
        m_pool->blocks(group).release(table[static_cast<std::size_t>(i)]);
        table[static_cast<std::size_t>(i)] = kNoBlock;
    }
}

void KvSequence::releaseFrom(int group, int firstBlock)
{
    std::vector<BlockId> &table = m_tables[static_cast<std::size_t>(group)];
    for (; static_cast<int>(table.size()) > firstBlock; table.pop_back())
        if (table.back() != kNoBlock)
            m_pool->blocks(group).release(table.back());
}

bool KvSequence::canGoBackTo(int tokens) const
{
    if (tokens == 0 || tokens == m_tokens)
        return true;
    if (m_pool->layout().stateBytes > 0)
        return false;
    for (std::size_t i = 0; i < m_tables.size(); ++i) {
        const int seen = firstSeen(m_pool->layout().groups[i], tokens) / kKvBlockTokens;
        if (m_tables[i][static_cast<std::size_t>(seen)] == kNoBlock)
            return false;
    }
    return true;
}

void KvSequence::truncate(int tokens)
{
    const int wanted = std::clamp(tokens, 0, m_tokens);
    m_tokens = canGoBackTo(wanted) ? wanted : 0;
    for (int group = 0; group < static_cast<int>(m_tables.size()); ++group)
        releaseFrom(group, kvBlocksFor(m_tokens));
    if (m_tokens == 0 && m_state != kNoBlock) {
        m_pool->states().release(m_state);
        m_state = kNoBlock;
    }
}

void KvSequence::share(const KvSequence &other, int tokens)
{
    tokens = std::clamp(tokens, 0, other.m_tokens);
    if (tokens == 0 || !other.canGoBackTo(tokens))
        return;
    m_tokens = tokens;
    for (std::size_t group = 0; group < m_tables.size(); ++group) {
        m_tables[group].assign(other.m_tables[group].begin(), other.m_tables[group].begin() + kvBlocksFor(tokens));
        for (const BlockId block : m_tables[group])
            if (block != kNoBlock)
                m_pool->blocks(static_cast<int>(group)).share(block);
    }
    m_state = other.m_state;
    if (m_state != kNoBlock)
        m_pool->states().share(m_state);
}

std::uint64_t KvSequence::allocatedBytes() const
{
    std::uint64_t bytes = m_state != kNoBlock ? m_pool->layout().stateBytes : 0;
    for (std::size_t i = 0; i < m_tables.size(); ++i) {
        const auto held =
            m_tables[i].size() - static_cast<std::size_t>(std::count(m_tables[i].begin(), m_tables[i].end(), kNoBlock));
        bytes += m_pool->layout().groups[i].blockBytes() * held;
    }
    return bytes;
}

Error KvSequence::noRoom(int count) const
{
    std::uint64_t need = m_pool->layout().stateBytes;
    for (const KvGroup &group : m_pool->layout().groups)
        need += group.blockBytes() * static_cast<std::uint64_t>(kvBlocksFor(group.heldTokens(m_tokens + count)));
    return {ErrorCode::OutOfMemory,
            "the budget of " + std::to_string(m_pool->budgetBytes()) +
                " bytes is used up: " + std::to_string(m_tokens + count) + " tokens need " + std::to_string(need) +
                " bytes, and the free blocks hold " + std::to_string(m_pool->budgetBytes() - m_pool->allocatedBytes()),
            "KV cache", "Set a larger KV budget or shorten the prompt."};
}

} // namespace lectern
