// SPDX-License-Identifier: GPL-3.0-or-later
// Python's str.split, str.rsplit, str.splitlines and str.replace.
#include "engine/base/utf8.h"
#include "engine/text/jinja/text.h"

#include <algorithm>

namespace lectern::jinja {

namespace {

void addPart(Meter &meter, std::vector<Text> &parts, const Text &text, std::size_t begin, std::size_t end)
{
    meter.step();
    parts.push_back(text.part(begin, end));
}

// Begin and end of every run of characters that are no white space.
std::vector<TextRange> words(Meter &meter, std::string_view bytes)
{
    std::vector<TextRange> found;
    bool isInWord = false;
    for (std::size_t at = 0; at < bytes.size();) {
        const CodePoint c = codePointAt(bytes, at);
        const bool isSpace = isPythonSpace(c.value);
        if (!isSpace && !isInWord) {
            meter.step();
            found.push_back({at, bytes.size()});
        } else if (isSpace && isInWord) {
            found.back().end = at;
        }
        isInWord = !isSpace;
        at += c.bytes;
    }
    return found;
}

std::vector<Text> splitAtSpace(Meter &meter, const Text &text, std::int64_t limit, bool fromRight)
{
    const std::vector<TextRange> all = words(meter, text.bytes());
    const auto count = static_cast<std::int64_t>(all.size());
    std::vector<Text> parts;
    if (limit < 0 || limit >= count) {
        for (const TextRange &word : all)
            addPart(meter, parts, text, word.begin, word.end);
        return parts;
    }
    // What is not split any more keeps its inner white space, and its outer one only on the far side.
    if (fromRight) {
        if (count > limit)
            addPart(meter, parts, text, 0, all[static_cast<std::size_t>(count - limit - 1)].end);
        for (std::int64_t i = count - limit; i < count; ++i)
            addPart(meter, parts, text, all[static_cast<std::size_t>(i)].begin, all[static_cast<std::size_t>(i)].end);
    } else {
        for (std::int64_t i = 0; i < limit; ++i)
            addPart(meter, parts, text, all[static_cast<std::size_t>(i)].begin, all[static_cast<std::size_t>(i)].end);
        if (count > limit)
            addPart(meter, parts, text, all[static_cast<std::size_t>(limit)].begin, text.size());
    }
    return parts;
}

bool isLineEnd(char32_t c)
{
    return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

} // namespace

std::vector<Text> split(Meter &meter, const Text &text, std::optional<std::string_view> separator, std::int64_t limit,
                        bool fromRight)
{
    meter.work(2 * text.size());
    if (!separator)
        return splitAtSpace(meter, text, limit, fromRight);

    const std::string_view bytes = text.bytes();
    std::vector<Text> parts;
    if (fromRight) {
        std::size_t end = bytes.size();
        while (limit != 0 && end >= separator->size()) {
            const std::size_t at = bytes.rfind(*separator, end - separator->size());
            if (at == std::string_view::npos)
                break;
            addPart(meter, parts, text, at + separator->size(), end);
            end = at;
            --limit;
        }
        addPart(meter, parts, text, 0, end);
        std::reverse(parts.begin(), parts.end());
        return parts;
    }
    std::size_t begin = 0;
    while (limit != 0) {
        const std::size_t at = bytes.find(*separator, begin);
        if (at == std::string_view::npos)
            break;
        addPart(meter, parts, text, begin, at);
        begin = at + separator->size();
        --limit;
    }
    addPart(meter, parts, text, begin, bytes.size());
    return parts;
}

std::vector<Text> splitLines(Meter &meter, const Text &text, bool keepEnds)
{
    meter.work(2 * text.size());
    const std::string_view bytes = text.bytes();
    std::vector<Text> lines;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < bytes.size();) {
        const CodePoint c = codePointAt(bytes, at);
        if (!isLineEnd(c.value)) {
            at += c.bytes;
            continue;
        }
        const std::size_t lineEnd = at;
        at += bytes.substr(at, 2) == "\r\n" ? 2 : c.bytes;
        addPart(meter, lines, text, begin, keepEnds ? at : lineEnd);
        begin = at;
    }
    if (begin < bytes.size())
        addPart(meter, lines, text, begin, bytes.size());
    return lines;
}

Text replaced(Meter &meter, const Text &text, std::string_view from, const Text &to, std::int64_t count)
{
    meter.work(2 * text.size());
    const std::string_view bytes = text.bytes();
    Text result;
    std::size_t begin = 0;
    std::size_t look = 0;
    while (count != 0) {
        const std::size_t at = from.empty() ? look : bytes.find(from, look);
        if (at == std::string_view::npos || at > bytes.size())
            break;
        meter.step();
        meter.work(to.size());
        result.append(text, begin, at);
        result.append(to);
        meter.checkTextSize(result.size());
        begin = at + from.size();
        // An empty string is found before every character and at the end.
        look = from.empty() ? (at < bytes.size() ? at + codePointAt(bytes, at).bytes : at + 1) : begin;
        --count;
    }
    result.append(text, begin, bytes.size());
    meter.checkTextSize(result.size());
    return result;
}

} // namespace lectern::jinja
