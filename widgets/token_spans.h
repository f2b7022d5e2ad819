// SPDX-License-Identifier: GPL-3.0-or-later
// Where tokens lie in a QString: UTF-8 byte ranges become UTF-16 ranges. Tokens that share a character form one span,
// so that the character is drawn once over all of them.
#pragma once

#include "engine/trace/run_record.h"

#include <QString>

#include <string>
#include <vector>

namespace lectern {

struct TokenSpan
{
    int begin = 0; // UTF-16 positions [begin, end)
    int end = 0;
    int firstToken = 0;
    int lastToken = 0; // inclusive; more than one when tokens share a character
    bool isSpecial = false;
};

// Characters of which no token stands for some bytes, or for none. They may lie in a TokenSpan too: other bytes of the
// character have tokens, or a token was merged across it.
struct LeftOutSpan
{
    int begin = 0; // UTF-16 positions [begin, end)
    int end = 0;
    std::string bytes; // those left out
};

struct SpannedText
{
    QString text;
    std::vector<TokenSpan> spans;          // ascending, not overlapping; tokens without text have none
    std::vector<LeftOutSpan> leftOut = {}; // the same
};

// `bytes` is what the tokens' ranges refer to; only [from, to) of it is wanted (positions count from `from`). Bytes
// that are not UTF-8 become U+FFFD.
SpannedText spansOfText(const std::string &bytes, const std::vector<TokenRecord> &tokens, std::size_t from,
                        std::size_t to);

// Of `leftOut`, ranges of `bytes`, those in [from, to): one span each, but those in one character form one.
std::vector<LeftOutSpan> leftOutSpans(const std::string &bytes, const std::vector<TextRange> &leftOut, std::size_t from,
                                      std::size_t to);

// Appends output tokens [firstNew, tokens.size()) with the text each made showable. Tokens that completed no character
// are taken into the span of the one that does. With `showSpecial`, control tokens appear by name ("<|im_end|>").
void appendOutputSpans(SpannedText &target, const std::vector<TokenRecord> &tokens, std::size_t firstNew,
                       bool showSpecial);

// Index of the span at a position, or -1.
int spanAt(const std::vector<TokenSpan> &spans, int position);
// Index of the span that holds a token, or -1.
int spanOfToken(const std::vector<TokenSpan> &spans, int token);

} // namespace lectern
