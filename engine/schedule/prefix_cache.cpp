// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/prefix_cache.h"

#include <algorithm>

namespace lectern {

int commonPrefix(std::span<const TokenId> held, std::span<const TokenId> prompt)
{
    const auto [heldEnd, promptEnd] = std::mismatch(held.begin(), held.end(), prompt.begin(), prompt.end());
    return static_cast<int>(promptEnd - prompt.begin());
}

void PrefixCache::shrinkTo(std::size_t most)
{
    while (m_entries.size() > most)
        m_entries.pop_front();
}

bool PrefixCache::dropOldest()
{
    if (m_entries.empty())
        return false;
    m_entries.pop_front();
    return true;
}

} // namespace lectern
