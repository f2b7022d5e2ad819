// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/token_spans.h"

#include "engine/base/utf8.h"

#include <algorithm>

namespace lectern {

SpannedText spansOfText(const std::string &bytes, const std::vector<TokenRecord> &tokens, std::size_t from,
                        std::size_t to)
{
    SpannedText result;
    to = std::min(to, bytes.size());
    from = std::min(from, to);

    // UTF-16 position of every byte that starts a character; -1 inside one.
    std::vector<int> positionOf(to - from + 1, -1);
    for (std::size_t offset = from; offset < to;) {
        positionOf[offset - from] = static_cast<int>(result.text.size());
        const CodePoint character = codePointAt(bytes, offset);
        result.text += QString::fromUcs4(&character.value, 1);
        offset += character.bytes;
    }
    positionOf[to - from] = static_cast<int>(result.text.size());

    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const TokenRecord &token = tokens[i];
        if (token.end <= from || token.begin >= token.end)
            continue;
        if (token.begin >= to)
            break;
        // From the character that it begins in to the end of the one that it ends in.
        std::size_t begin = std::max(token.begin, from) - from;
        while (positionOf[begin] < 0)
            --begin;
        std::size_t end = std::min(token.end, to) - from;
        while (positionOf[end] < 0)
            ++end;
        const TokenSpan span{positionOf[begin], positionOf[end], static_cast<int>(i), static_cast<int>(i),
                             token.isSpecial};
        if (!result.spans.empty() && span.begin < result.spans.back().end) {
            result.spans.back().end = std::max(result.spans.back().end, span.end);
            result.spans.back().lastToken = span.lastToken;
        } else {
            result.spans.push_back(span);
        }
    }
    return result;
}

std::vector<LeftOutSpan> leftOutSpans(const std::string &bytes, const std::vector<TextRange> &leftOut, std::size_t from,
                                      std::size_t to)
{
    std::vector<LeftOutSpan> spans;
    to = std::min(to, bytes.size());
    int position = 0;
    auto range = leftOut.begin();
    for (std::size_t offset = from; offset < to && range != leftOut.end();) {
        const CodePoint character = codePointAt(bytes, offset);
        const std::size_t end = offset + character.bytes;
        const int endPosition = position + (character.value > 0xFFFF ? 2 : 1);
        for (; range != leftOut.end() && range->begin < end; ++range) {
            const TextRange here{std::max(range->begin, offset), std::min(range->end, end)};
            if (here.begin < here.end) {
                const bool goesOn = range->begin < here.begin && !spans.empty() && spans.back().end == position;
                if (!goesOn && (spans.empty() || spans.back().end <= position))
                    spans.push_back({position, 0, {}});
                spans.back().end = endPosition;
                spans.back().bytes += bytes.substr(here.begin, here.end - here.begin);
            }
            if (range->end > end)
                break;
        }
        position = endPosition;
        offset = end;
    }
    return spans;
}

void appendOutputSpans(SpannedText &target, const std::vector<TokenRecord> &tokens, std::size_t firstNew,
                       bool showSpecial)
{
    for (std::size_t i = firstNew; i < tokens.size(); ++i) {
        const TokenRecord &token = tokens[i];
        QString text = QString::fromUtf8(token.text.data(), static_cast<qsizetype>(token.text.size()));
        if (text.isEmpty() && token.isSpecial && showSpecial)
            text = QString::fromUtf8(token.bytes.data(), static_cast<qsizetype>(token.bytes.size()));
        if (text.isEmpty())
            continue;
        int first = static_cast<int>(i);
        // Earlier tokens without text of their own hold the beginning of this character.
        while (first > 0 && tokens[static_cast<std::size_t>(first) - 1].text.empty() &&
               !tokens[static_cast<std::size_t>(first) - 1].isSpecial)
            --first;
        const int begin = static_cast<int>(target.text.size());
        target.text += text;
        target.spans.push_back(
            {begin, static_cast<int>(target.text.size()), first, static_cast<int>(i), token.isSpecial});
    }
}

int spanAt(const std::vector<TokenSpan> &spans, int position)
{
    const auto after = std::upper_bound(spans.begin(), spans.end(), position,
                                        [](int value, const TokenSpan &span) { return value < span.begin; });
    if (after == spans.begin())
        return -1;
    const auto candidate = std::prev(after);
    return position < candidate->end ? static_cast<int>(candidate - spans.begin()) : -1;
}

int spanOfToken(const std::vector<TokenSpan> &spans, int token)
{
    const auto after = std::upper_bound(spans.begin(), spans.end(), token,
                                        [](int value, const TokenSpan &span) { return value < span.firstToken; });
    if (after == spans.begin())
        return -1;
    const auto candidate = std::prev(after);
    return token <= candidate->lastToken ? static_cast<int>(candidate - spans.begin()) : -1;
}

} // namespace lectern
