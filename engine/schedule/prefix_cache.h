// SPDX-License-Identifier: GPL-3.0-or-later
// What ended runs left in the KV cache, so that a run with the same beginning need not compute it again. Engine thread.
#pragma once

#include "engine/kv/kv_sequence.h"
#include "engine/text/vocabulary.h"

#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace lectern {

// How many tokens `held` and `prompt` have in common at their beginning.
int commonPrefix(std::span<const TokenId> held, std::span<const TokenId> prompt);

class PrefixCache
{
public:
    struct Entry
    {
        std::vector<TokenId> ids; // one for each position that `kv` holds
        std::unique_ptr<KvSequence> kv;
    };

    void keep(Entry entry) { m_entries.push_back(std::move(entry)); }
    const std::deque<Entry> &entries() const { return m_entries; } // oldest first

    // Gives up the oldest entries until `most` are left, or one of them: false when there is none.
    void shrinkTo(std::size_t most);
    bool dropOldest();

private:
    std::deque<Entry> m_entries;
};

} // namespace lectern
