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

    TokenSpan span;
    bool isOpen = false;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const TokenRecord &token = tokens[i];
        if (token.end <= from || token.begin >= token.end)
            continue;
        if (token.begin >= to)
            break;
        if (!isOpen) {
            // A token that begins before the wanted part is shown from the part's first character on.
            std::size_t begin = std::max(token.begin, from);
            while (positionOf[begin - from] < 0)
                ++begin;
            span = {positionOf[begin - from], 0, static_cast<int>(i), 0, token.isSpecial};
            isOpen = true;
        }
        span.lastToken = static_cast<int>(i);
        span.end = positionOf[std::min(token.end, to) - from];
        if (span.end >= 0) { // ends with a character: the span is complete
            if (span.end > span.begin)
                result.spans.push_back(span);
            isOpen = false;
        }
    }
    return result;
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
