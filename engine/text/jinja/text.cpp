// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/jinja/text.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <set>

namespace lectern::jinja {

namespace {

// Going through a text character by character costs more than copying it.
constexpr std::size_t kCharacterWork = 8;

std::size_t lastCharacterBegin(std::string_view bytes, std::size_t end)
{
    std::size_t begin = end - 1;
    while (begin > 0 && end - begin < 4 && (static_cast<unsigned char>(bytes[begin]) & 0xC0) == 0x80)
        --begin;
    const CodePoint c = codePointAt(bytes, begin);
    return c.isValid && begin + c.bytes == end ? begin : end - 1;
}

} // namespace

Text::Text(std::string bytes, bool isUser)
    : m_bytes(std::move(bytes))
{
    if (isUser && !m_bytes.empty())
        m_userRanges.push_back({0, m_bytes.size()});
}

bool Text::isUser(std::size_t offset) const
{
    const auto after = std::upper_bound(m_userRanges.begin(), m_userRanges.end(), offset,
                                        [](std::size_t at, const TextRange &range) { return at < range.begin; });
    return after != m_userRanges.begin() && offset < std::prev(after)->end;
}

void Text::append(std::string_view bytes, bool isUser)
{
    const std::size_t begin = m_bytes.size();
    m_bytes += bytes;
    if (!isUser || bytes.empty())
        return;
    if (!m_userRanges.empty() && m_userRanges.back().end == begin)
        m_userRanges.back().end = m_bytes.size();
    else
        m_userRanges.push_back({begin, m_bytes.size()});
}

void Text::append(const Text &other, std::size_t begin, std::size_t end)
{
    const std::string_view bytes = other.m_bytes;
    auto range = std::lower_bound(other.m_userRanges.begin(), other.m_userRanges.end(), begin,
                                  [](const TextRange &r, std::size_t at) { return r.end <= at; });
    for (std::size_t at = begin; at < end;) {
        const bool hasRange = range != other.m_userRanges.end() && range->begin < end;
        const std::size_t userBegin = hasRange ? std::max(range->begin, begin) : end;
        const std::size_t userEnd = hasRange ? std::min(range->end, end) : end;
        append(bytes.substr(at, userBegin - at), false);
        append(bytes.substr(userBegin, userEnd - userBegin), true);
        at = userEnd;
        if (hasRange)
            ++range;
    }
}

Text Text::part(std::size_t begin, std::size_t end) const
{
    Text result;
    result.append(*this, begin, end);
    return result;
}

bool isPythonSpace(char32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::size_t characterCount(std::string_view text)
{
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size(); at += codePointAt(text, at).bytes)
        ++count;
    return count;
}

std::vector<Text> characters(Meter &meter, const Text &text)
{
    std::vector<Text> result;
    for (std::size_t at = 0; at < text.size();) {
        meter.step();
        const std::size_t end = at + codePointAt(text.bytes(), at).bytes;
        result.push_back(text.part(at, end));
        at = end;
    }
    return result;
}

Text mapCharacters(Meter &meter, const Text &text, const CharacterWriter &write)
{
    meter.work(kCharacterWork * text.size());
    Text result;
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = codePointAt(text.bytes(), at);
        out.clear();
        write(c.value, std::string_view(text.bytes()).substr(at, c.bytes), out);
        result.append(out, text.isUser(at));
        meter.checkTextSize(result.size());
        at += c.bytes;
    }
    return result;
}

Text stripped(Meter &meter, const Text &text, Side side, std::optional<std::string_view> stripCharacters)
{
    meter.work(text.size());
    const std::string_view bytes = text.bytes();
    std::set<std::string_view> stripSet;
    for (std::size_t i = 0; stripCharacters && i < stripCharacters->size();) {
        const std::size_t length = codePointAt(*stripCharacters, i).bytes;
        stripSet.insert(stripCharacters->substr(i, length));
        i += length;
        meter.step();
    }
    const auto goes = [&](std::size_t at, std::size_t length) {
        return stripCharacters ? stripSet.contains(bytes.substr(at, length))
                               : isPythonSpace(codePointAt(bytes, at).value);
    };
    std::size_t begin = 0;
    std::size_t end = bytes.size();
    while (side != Side::Right && begin < end) {
        const std::size_t length = codePointAt(bytes, begin).bytes;
        if (!goes(begin, length))
            break;
        begin += length;
    }
    while (side != Side::Left && begin < end) {
        const std::size_t last = lastCharacterBegin(bytes, end);
        if (!goes(last, end - last))
            break;
        end = last;
    }
    return text.part(begin, end);
}

Text repeated(Meter &meter, const Text &text, std::int64_t times)
{
    Text result;
    if (times <= 0 || text.size() == 0)
        return result;
    if (static_cast<std::size_t>(times) > kMaxTextBytes)
        meter.checkTextSize(static_cast<std::size_t>(times));
    meter.checkTextSize(text.size() * static_cast<std::size_t>(times));
    meter.work(text.size() * static_cast<std::size_t>(times));
    Text doubled = text;
    for (std::int64_t rest = times;; rest /= 2) {
        if (rest % 2 != 0)
            result.append(doubled);
        if (rest <= 1)
            return result;
        doubled.append(Text(doubled));
    }
}

} // namespace lectern::jinja
