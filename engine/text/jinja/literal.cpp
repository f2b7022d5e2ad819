// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/jinja/literal.h"

#include "engine/base/utf8.h"

#include <charconv>

namespace lectern::jinja {

namespace {

bool isDigit(char c, int base)
{
    const char lower = static_cast<char>(c | 0x20);
    return base == 16 ? (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'f') : c >= '0' && c < '0' + base;
}

// Digits with single underscores between them: how far they go from `at`.
std::size_t afterDigits(std::string_view source, std::size_t at, int base)
{
    while (at < source.size() && (isDigit(source[at], base) || (source[at] == '_' && at > 0 && at + 1 < source.size() &&
                                                                isDigit(source[at + 1], base))))
        ++at;
    return at;
}

bool digitAt(std::string_view source, std::size_t at)
{
    return at < source.size() && isDigit(source[at], 10);
}

} // namespace

NumberLiteral readNumber(std::string_view source, bool integerOnly)
{
    NumberLiteral number;
    const char mark = source.size() > 2 && source[0] == '0' ? static_cast<char>(source[1] | 0x20) : ' ';
    const int base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    if (base != 10 && isDigit(source[2], base)) {
        number.bytes = afterDigits(source, 2, base);
    } else {
        std::size_t at = afterDigits(source, 0, 10);
        if (!integerOnly) {
            if (at < source.size() && source[at] == '.' && digitAt(source, at + 1)) {
                at = afterDigits(source, at + 1, 10);
                number.isFloat = true;
            }
            if (at < source.size() && (source[at] | 0x20) == 'e') {
                const bool hasSign = at + 1 < source.size() && (source[at + 1] == '+' || source[at + 1] == '-');
                if (digitAt(source, at + 1 + hasSign)) {
                    at = afterDigits(source, at + 1 + hasSign, 10);
                    number.isFloat = true;
                }
            }
        }
        number.bytes = at;
    }
    for (const char c : source.substr(0, number.bytes))
        if (c != '_')
            number.digits += c;
    return number;
}

std::size_t endOfString(std::string_view source, std::size_t begin)
{
    for (std::size_t at = begin + 1; at < source.size(); ++at) {
        if (source[at] == '\\')
            ++at;
        else if (source[at] == source[begin])
            return at + 1;
    }
    return std::string_view::npos;
}

std::string unescaped(std::string_view literal, std::string &problem)
{
    static constexpr std::string_view kSimple = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v"; // letter, what it stands for
    std::string text;
    for (std::size_t at = 0; at < literal.size();) {
        if (literal[at] != '\\' || at + 1 >= literal.size()) {
            text += literal[at++];
            continue;
        }
        const char letter = literal[at + 1];
        const std::size_t simple = kSimple.find(letter);
        const bool isSimple = simple != std::string_view::npos && simple % 2 == 0;
        const bool isOctal = isDigit(letter, 8);
        const std::size_t hexDigits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
        if (isSimple) {
            text += kSimple[simple + 1];
            at += 2;
        } else if (letter == '\n') {
            at += 2;
        } else if (isOctal || hexDigits > 0) {
            const std::size_t begin = at + (isOctal ? 1 : 2);
            std::size_t end = begin;
            while (end < literal.size() && end - begin < (isOctal ? 3 : hexDigits) &&
                   isDigit(literal[end], isOctal ? 8 : 16))
                ++end;
            std::uint32_t value = 0;
            std::from_chars(literal.data() + begin, literal.data() + end, value, isOctal ? 8 : 16);
            if ((!isOctal && end - begin != hexDigits) || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
                problem = "the escape '" + std::string(literal.substr(at, end - at)) + "' names no character";
                return {};
            }
            appendUtf8(text, value);
            at = end;
        } else if (letter == 'N') {
            problem = "escapes with character names (\\N) are not supported";
            return {};
        } else { // unknown ones stay as they are
            text += '\\';
            ++at;
        }
    }
    return text;
}

} // namespace lectern::jinja
