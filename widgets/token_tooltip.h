// SPDX-License-Identifier: GPL-3.0-or-later
// What hovering a token tells: id, bytes, text, position, log-probability, step time, KV length.
#pragma once

#include "app/core/token_selection.h"
#include "engine/trace/run_record.h"

#include <QString>

namespace lectern {

// Rich text for one token at `index` of its part; `promptCount` is where output positions start.
QString tokenToolTip(const TokenRecord &token, TokenPart part, int index, int promptCount);

// For several tokens that share a character: one block each, under a line that says so.
QString tokensToolTip(const std::vector<TokenRecord> &tokens, int first, int last, TokenPart part, int promptCount);

} // namespace lectern
