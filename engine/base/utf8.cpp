// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/utf8.h"

#include <algorithm>

namespace lectern {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD"; // U+FFFD

// How many bytes a character takes that starts with `lead`, and what its second byte may be (Unicode table 3-7).
struct LeadByte
{
    int length = 0; // 0: no character starts so
    unsigned char secondLow = 0x80;
    unsigned char secondHigh = 0xBF;
};

constexpr LeadByte leadByte(unsigned char lead)
{
    if (lead < 0x80)
        return {.length = 1};
    if (lead < 0xC2)
        return {};
    if (lead < 0xE0)
        return {.length = 2};
    if (lead == 0xE0)
        return {.length = 3, .secondLow = 0xA0};
    if (lead == 0xED)
        return {.length = 3, .secondHigh = 0x9F};
    if (lead < 0xF0)
        return {.length = 3};
    if (lead == 0xF0)
        return {.length = 4, .secondLow = 0x90};
    if (lead < 0xF4)
        return {.length = 4};
    if (lead == 0xF4)
        return {.length = 4, .secondHigh = 0x8F};
    return {};
}

// The longest part at the start of `text` (not empty) that begins like a character, at least one byte.
struct Part
{
    std::size_t bytes = 1;
    bool isWhole = false;        // a valid character
    bool isCutByTextEnd = false; // more bytes could make it one
};

Part firstPart(std::string_view text)
{
    const LeadByte lead = leadByte(static_cast<unsigned char>(text[0]));
    Part part;
    if (lead.length == 0)
        return part;
    while (part.bytes < static_cast<std::size_t>(lead.length)) {
        if (part.bytes == text.size()) {
            part.isCutByTextEnd = true;
            return part;
        }
        const unsigned char next = static_cast<unsigned char>(text[part.bytes]);
        const unsigned char low = part.bytes == 1 ? lead.secondLow : 0x80;
        const unsigned char high = part.bytes == 1 ? lead.secondHigh : 0xBF;
        if (next < low || next > high)
            return part;
        ++part.bytes;
    }
    part.isWhole = true;
    return part;
}

} // namespace

CodePoint codePointAt(std::string_view text, std::size_t offset)
{
    const std::string_view rest = text.substr(offset);
    const Part part = firstPart(rest);
    if (!part.isWhole)
        return {.value = 0xFFFD, .bytes = 1, .isValid = false};
    const unsigned char lead = static_cast<unsigned char>(rest[0]);
    char32_t value = part.bytes == 1 ? lead : lead & (0x7Fu >> part.bytes);
    for (std::size_t i = 1; i < part.bytes; ++i)
        value = value << 6 | (static_cast<unsigned char>(rest[i]) & 0x3Fu);
    return {.value = value, .bytes = static_cast<std::uint8_t>(part.bytes), .isValid = true};
}

void appendUtf8(std::string &text, char32_t codePoint)
{
    const auto put = [&text](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (codePoint > 0x10FFFF || (codePoint >= 0xD800 && codePoint < 0xE000)) {
        text += kReplacement;
    } else if (codePoint < 0x80) {
        put(codePoint);
    } else if (codePoint < 0x800) {
        put(0xC0 | codePoint >> 6);
        put(0x80 | (codePoint & 0x3F));
    } else if (codePoint < 0x10000) {
        put(0xE0 | codePoint >> 12);
        put(0x80 | (codePoint >> 6 & 0x3F));
        put(0x80 | (codePoint & 0x3F));
    } else {
        put(0xF0 | codePoint >> 18);
        put(0x80 | (codePoint >> 12 & 0x3F));
        put(0x80 | (codePoint >> 6 & 0x3F));
        put(0x80 | (codePoint & 0x3F));
    }
}

std::size_t firstInvalidUtf8(std::string_view text)
{
    for (std::size_t at = 0; at < text.size();) {
        const Part part = firstPart(text.substr(at));
        if (!part.isWhole)
            return at;
        at += part.bytes;
    }
    return std::string_view::npos;
}

CleanText replaceInvalidUtf8(std::string_view text)
{
    CleanText clean;
    clean.text.reserve(text.size());
    while (!text.empty()) {
        const Part part = firstPart(text);
        if (part.isWhole) {
            clean.text += text.substr(0, part.bytes);
        } else {
            clean.text += kReplacement;
            ++clean.replacedCount;
        }
        text.remove_prefix(part.bytes);
    }
    return clean;
}

std::string printableText(std::string_view text, std::size_t maxBytes)
{
    std::size_t end = std::min(maxBytes, text.size());
    if (end < text.size())
        while (end > 0 && maxBytes - end < 3 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
            --end; // to the first byte of the character
    std::string clean = replaceInvalidUtf8(text.substr(0, end)).text;
    for (char &c : clean)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
            c = c == '\n' || c == '\r' || c == '\t' ? ' ' : '?';
    return end < text.size() ? clean + "... (" + std::to_string(text.size()) + " bytes)" : clean;
}

std::string Utf8Gate::push(std::string_view bytes)
{
    m_tail += bytes;
    std::string_view rest = m_tail;
    std::string complete;
    while (!rest.empty()) {
        const Part part = firstPart(rest);
        if (part.isCutByTextEnd)
            break;
        complete += part.isWhole ? rest.substr(0, part.bytes) : kReplacement;
        rest.remove_prefix(part.bytes);
    }
    m_tail.erase(0, m_tail.size() - rest.size());
    return complete;
}

std::string Utf8Gate::finish()
{
    const bool held = isHolding();
    m_tail.clear();
    return held ? std::string(kReplacement) : std::string();
}

} // namespace lectern
