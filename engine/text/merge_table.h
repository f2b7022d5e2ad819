// SPDX-License-Identifier: GPL-3.0-or-later
// The merges of a byte-pair vocabulary (Sennrich et al., ACL 2016): which two neighbours become one piece, and which
// pair goes first.
#pragma once

#include "engine/base/stop_flag.h"
#include "engine/text/vocabulary.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace lectern {

struct Merge
{
    static constexpr std::int32_t kNoRank = std::numeric_limits<std::int32_t>::max();
    std::int32_t rank = kNoRank; // lowest first; kNoRank: the pair stays apart
    TokenId result = 0;
};

class MergeTable
{
public:
    explicit MergeTable(std::size_t mergeCount);

    // The first rank given for a pair counts.
    void add(TokenId left, TokenId right, Merge merge);
    Merge find(TokenId left, TokenId right) const;

private:
    struct Slot
    {
        std::uint64_t pair = kEmpty;
        Merge merge;
    };
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
    std::size_t slotOf(std::uint64_t pair) const; // where it is or belongs

    std::vector<Slot> m_slots; // open addressing, at most half full, size a power of two
};

// One piece of a word while it is being merged.
struct Symbol
{
    TokenId id = 0;
    std::int32_t bytes = 0;
};

// Merges the neighbours in `word` until no pair of the table is left: lowest rank first, ties leftmost. Short words are
// scanned again and again, long ones use a heap (n log n). Returns false when `stop` was set.
bool mergeSymbols(const MergeTable &table, std::vector<Symbol> &word, const StopFlag &stop);

} // namespace lectern
