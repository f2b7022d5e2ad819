// SPDX-License-Identifier: GPL-3.0-or-later
// The tokens of a prompt as a record keeps them, and what of its text they leave out.
//
// A tokenizer drops what its vocabulary has no token for and goes on, as the published ones do. What it dropped is not
// kept beside the tokens: their ranges tell it, in a live prompt and in a saved run alike.
#pragma once

#include "engine/text/tokenizer.h"
#include "engine/trace/run_record.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lectern {

std::vector<TokenRecord> promptTokens(const Tokenizer &tokenizer, std::span<const EncodedToken> tokens);

// `tokenizer` as a vocabulary or a record names it: "gpt2", "gpt2 / smollm". The bytes of byte-level tokens are those
// of the text; others normalise it first.
bool isByteLevel(std::string_view tokenizer);

// Are `bytes` those of `text` but for some between its ends? Merging goes across bytes that are left out.
bool areBytesOf(std::string_view bytes, std::string_view text);

// Bytes of `text` that no token stands for: in order, apart, none empty. They lie between the ranges of the tokens, and
// inside those of byte-level tokens that were merged across them.
std::vector<TextRange> leftOutRanges(std::string_view text, std::span<const TokenRecord> tokens,
                                     std::string_view tokenizer);
std::vector<TextRange> leftOutRanges(const RunRecord &record);
std::string bytesIn(std::string_view text, std::span<const TextRange> ranges);

// "2 bytes of the text are left out, since no token of the vocabulary stands for them: 0x04 at byte 1, 0xFF at byte 7".
// The first ones are named, all are counted. "" when nothing is left out. `textName`: "text".
std::string leftOutWarning(std::string_view text, std::span<const TextRange> leftOut, std::string_view textName);

} // namespace lectern
