// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/vocabulary.h"

#include <algorithm>

namespace lectern {

bool Vocabulary::endsGeneration(TokenId id) const
{
    return std::binary_search(endOfGeneration.begin(), endOfGeneration.end(), id);
}

} // namespace lectern
