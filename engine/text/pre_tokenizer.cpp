// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/pre_tokenizer.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <utf8proc.h>

namespace lectern {

namespace {

enum class CharClass : std::uint8_t
{
    Letter,
    Number,
    Space,
    Sign
};

// \s of the reference tokenizers is the Unicode property White_Space.
constexpr bool isSpace(char32_t point)
{
    return (point >= 0x09 && point <= 0x0D) || point == 0x20 || point == 0x85 || point == 0xA0 || point == 0x1680 ||
           (point >= 0x2000 && point <= 0x200A) || point == 0x2028 || point == 0x2029 || point == 0x202F ||
           point == 0x205F || point == 0x3000;
}

CharClass lookUpClass(char32_t point)
{
    if (isSpace(point))
        return CharClass::Space;
    const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(point));
    if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO)
        return CharClass::Letter;
    if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO)
        return CharClass::Number;
    return CharClass::Sign;
}

const std::array<CharClass, 128> kAsciiClasses = [] {
    std::array<CharClass, 128> classes{};
    for (std::size_t point = 0; point < classes.size(); ++point)
        classes[point] = lookUpClass(static_cast<char32_t>(point));
    return classes;
}();

struct ClassifiedChar
{
    CharClass kind = CharClass::Sign;
    std::size_t bytes = 0;
};

ClassifiedChar charAt(std::string_view text, std::size_t offset)
{
    const auto byte = static_cast<unsigned char>(text[offset]);
    if (byte < kAsciiClasses.size())
        return {kAsciiClasses[byte], 1};
    const CodePoint point = codePointAt(text, offset);
    return {point.isValid ? lookUpClass(point.value) : CharClass::Sign, point.bytes};
}

std::size_t runEnd(std::string_view text, std::size_t offset, CharClass kind)
{
    while (offset < text.size()) {
        const ClassifiedChar next = charAt(text, offset);
        if (next.kind != kind)
            break;
        offset += next.bytes;
    }
    return offset;
}

// Length of an English contraction at `begin`, or 0. Lower case only, as in the original pattern.
std::size_t contractionLength(std::string_view text, std::size_t begin)
{
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
        if (text.substr(begin, ending.size()) == ending)
            return ending.size();
    }
    return 0;
}

// \s+(?!\S)|\s+ : a run of spaces leaves its last character to the word that follows.
std::size_t spaceRunEnd(std::string_view text, std::size_t begin, bool numbersStandAlone)
{
    std::size_t end = begin;
    std::size_t last = begin; // where the last space of the run starts
    while (end < text.size()) {
        const ClassifiedChar next = charAt(text, end);
        if (next.kind != CharClass::Space)
            return last == begin || (numbersStandAlone && next.kind == CharClass::Number) ? end : last;
        last = end;
        end += next.bytes;
    }
    return end;
}

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// With `numbersStandAlone` every \p{N} is cut out first, and the pattern sees only what is between them.
std::size_t gpt2Word(std::string_view text, std::size_t begin, bool numbersStandAlone)
{
    if (text[begin] == '\'') {
        if (const std::size_t length = contractionLength(text, begin); length != 0)
            return begin + length;
    }
    std::size_t start = begin;
    ClassifiedChar first = charAt(text, start);
    if (text[begin] == ' ' && begin + 1 < text.size()) {
        const ClassifiedChar next = charAt(text, begin + 1);
        const bool joins = next.kind != CharClass::Space && !(numbersStandAlone && next.kind == CharClass::Number);
        if (joins) {
            start = begin + 1;
            first = next;
        }
    }
    if (first.kind == CharClass::Space)
        return spaceRunEnd(text, begin, numbersStandAlone);
    if (first.kind == CharClass::Number && numbersStandAlone)
        return start + first.bytes;
    return runEnd(text, start + first.bytes, first.kind);
}

constexpr std::array kPreTokenizers{
    PreTokenizer{"gpt-2", [](std::string_view text, std::size_t begin) { return gpt2Word(text, begin, false); }},
    PreTokenizer{"smollm", [](std::string_view text, std::size_t begin) { return gpt2Word(text, begin, true); }},
};

} // namespace

const PreTokenizer *findPreTokenizer(std::string_view name)
{
    const auto row = std::find_if(kPreTokenizers.begin(), kPreTokenizers.end(),
                                  [name](const PreTokenizer &candidate) { return candidate.name == name; });
    return row == kPreTokenizers.end() ? nullptr : &*row;
}

std::string preTokenizerNames()
{
    std::string names;
    for (const PreTokenizer &row : kPreTokenizers)
        names += (names.empty() ? "" : ", ") + std::string(row.name);
    return names;
}

} // namespace lectern
