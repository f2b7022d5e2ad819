// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/merge_table.h"

#include <algorithm>
#include <bit>
#include <queue>
#include <utility>

namespace lectern {

namespace {

constexpr std::size_t kShortWord = 48; // below this the heap costs more than scanning
constexpr std::size_t kStopInterval = 4096;

std::uint64_t pairKey(TokenId left, TokenId right)
{
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

void mergeShort(const MergeTable &table, std::vector<Symbol> &word)
{
    Merge merges[kShortWord]; // merges[i]: of symbols i and i + 1
    for (std::size_t i = 0; i + 1 < word.size(); ++i)
        merges[i] = table.find(word[i].id, word[i + 1].id);
    while (word.size() > 1) {
        const std::size_t pairCount = word.size() - 1;
        const Merge *best = std::min_element(merges, merges + pairCount,
                                             [](const Merge &a, const Merge &b) { return a.rank < b.rank; });
        if (best->rank == Merge::kNoRank)
            return;
        const auto at = static_cast<std::size_t>(best - merges);
        word[at] = {best->result, word[at].bytes + word[at + 1].bytes};
        word.erase(word.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        std::copy(merges + at + 1, merges + pairCount, merges + at);
        if (at + 1 < word.size())
            merges[at] = table.find(word[at].id, word[at + 1].id);
        if (at > 0)
            merges[at - 1] = table.find(word[at - 1].id, word[at].id);
    }
}

// A linked list over the symbols and a heap of pairs. A pair whose symbols changed meanwhile has another rank by now
// and is skipped; symbols that were merged into their left neighbour have length 0.
class LongWord
{
public:
    LongWord(const MergeTable &table, std::vector<Symbol> &word)
        : m_table(table)
        , m_word(word)
        , m_links(word.size())
    {
        std::vector<Pair> pairs;
        for (std::size_t i = 0; i < word.size(); ++i) {
            m_links[i] = {static_cast<std::int32_t>(i) - 1, static_cast<std::int32_t>(i) + 1};
            if (i + 1 < word.size()) {
                const Merge merge = table.find(word[i].id, word[i + 1].id);
                if (merge.rank != Merge::kNoRank)
                    pairs.push_back({merge, static_cast<std::int32_t>(i)});
            }
        }
        m_links.back().next = kNone;
        m_heap = Heap(Later(), std::move(pairs));
    }

    bool run(const StopFlag &stop)
    {
        for (std::size_t step = 1; !m_heap.empty(); ++step) {
            if (step % kStopInterval == 0 && stop.isRequested())
                return false;
            const Pair pair = m_heap.top();
            m_heap.pop();
            if (isCurrent(pair))
                apply(pair);
        }
        std::erase_if(m_word, [](const Symbol &symbol) { return symbol.bytes == 0; });
        return true;
    }

private:
    static constexpr std::int32_t kNone = -1;
    struct Link
    {
        std::int32_t previous = kNone;
        std::int32_t next = kNone;
    };
    struct Pair
    {
        Merge merge;
        std::int32_t left = 0;
    };
    struct Later
    {
        bool operator()(const Pair &a, const Pair &b) const
        {
            return std::pair(a.merge.rank, a.left) > std::pair(b.merge.rank, b.left);
        }
    };
    using Heap = std::priority_queue<Pair, std::vector<Pair>, Later>;

    Symbol &symbol(std::int32_t index) { return m_word[static_cast<std::size_t>(index)]; }
    Link &link(std::int32_t index) { return m_links[static_cast<std::size_t>(index)]; }

    bool isCurrent(const Pair &pair)
    {
        const std::int32_t right = link(pair.left).next;
        return symbol(pair.left).bytes != 0 && right != kNone &&
               m_table.find(symbol(pair.left).id, symbol(right).id).rank == pair.merge.rank;
    }

    void apply(const Pair &pair)
    {
        const std::int32_t right = link(pair.left).next;
        symbol(pair.left) = {pair.merge.result, symbol(pair.left).bytes + symbol(right).bytes};
        symbol(right).bytes = 0;
        link(pair.left).next = link(right).next;
        if (link(right).next != kNone)
            link(link(right).next).previous = pair.left;
        offer(link(pair.left).previous);
        offer(pair.left);
    }

    void offer(std::int32_t left)
    {
        if (left == kNone || link(left).next == kNone)
            return;
        const Merge merge = m_table.find(symbol(left).id, symbol(link(left).next).id);
        if (merge.rank != Merge::kNoRank)
            m_heap.push({merge, left});
    }

    const MergeTable &m_table;
    std::vector<Symbol> &m_word;
    std::vector<Link> m_links;
    Heap m_heap;
};

} // namespace

MergeTable::MergeTable(std::size_t mergeCount)
    : m_slots(std::bit_ceil(2 * mergeCount + 2))
{
}

std::size_t MergeTable::slotOf(std::uint64_t pair) const
{
    const std::size_t mask = m_slots.size() - 1;
    std::uint64_t hash = pair * 0x9E3779B97F4A7C15u; // Fibonacci hashing; the high half holds the mixed bits
    hash ^= hash >> 32;
    std::size_t slot = hash & mask;
    while (m_slots[slot].pair != kEmpty && m_slots[slot].pair != pair)
        slot = (slot + 1) & mask;
    return slot;
}

void MergeTable::add(TokenId left, TokenId right, Merge merge)
{
    Slot &slot = m_slots[slotOf(pairKey(left, right))];
    if (slot.pair == kEmpty)
        slot = {pairKey(left, right), merge};
}

Merge MergeTable::find(TokenId left, TokenId right) const
{
    return m_slots[slotOf(pairKey(left, right))].merge;
}

bool mergeSymbols(const MergeTable &table, std::vector<Symbol> &word, const StopFlag &stop)
{
    if (word.size() <= kShortWord) {
        mergeShort(table, word);
        return true;
    }
    return LongWord(table, word).run(stop);
}

} // namespace lectern
