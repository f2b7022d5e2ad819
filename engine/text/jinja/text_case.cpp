// SPDX-License-Identifier: GPL-3.0-or-later
// Python's str.upper, str.lower and str.title: one character may become up to three.
#include "engine/base/utf8.h"
#include "engine/text/jinja/text.h"

#include <algorithm>
#include <utf8proc.h>

namespace lectern::jinja {

namespace {

struct LongUpper
{
    char32_t from;
    char32_t to[3];
};

// Characters whose upper case is longer than one (Unicode SpecialCasing.txt, unconditional rows), sorted.
constexpr LongUpper kLongUpper[] = {
    {0x00DF, {0x0053, 0x0053}},         {0x0149, {0x02BC, 0x004E}},         {0x01F0, {0x004A, 0x030C}},
    {0x0390, {0x0399, 0x0308, 0x0301}}, {0x03B0, {0x03A5, 0x0308, 0x0301}}, {0x0587, {0x0535, 0x0552}},
    {0x1E96, {0x0048, 0x0331}},         {0x1E97, {0x0054, 0x0308}},         {0x1E98, {0x0057, 0x030A}},
    {0x1E99, {0x0059, 0x030A}},         {0x1E9A, {0x0041, 0x02BE}},         {0x1F50, {0x03A5, 0x0313}},
    {0x1F52, {0x03A5, 0x0313, 0x0300}}, {0x1F54, {0x03A5, 0x0313, 0x0301}}, {0x1F56, {0x03A5, 0x0313, 0x0342}},
    {0x1F80, {0x1F08, 0x0399}},         {0x1F81, {0x1F09, 0x0399}},         {0x1F82, {0x1F0A, 0x0399}},
    {0x1F83, {0x1F0B, 0x0399}},         {0x1F84, {0x1F0C, 0x0399}},         {0x1F85, {0x1F0D, 0x0399}},
    {0x1F86, {0x1F0E, 0x0399}},         {0x1F87, {0x1F0F, 0x0399}},         {0x1F88, {0x1F08, 0x0399}},
    {0x1F89, {0x1F09, 0x0399}},         {0x1F8A, {0x1F0A, 0x0399}},         {0x1F8B, {0x1F0B, 0x0399}},
    {0x1F8C, {0x1F0C, 0x0399}},         {0x1F8D, {0x1F0D, 0x0399}},         {0x1F8E, {0x1F0E, 0x0399}},
    {0x1F8F, {0x1F0F, 0x0399}},         {0x1F90, {0x1F28, 0x0399}},         {0x1F91, {0x1F29, 0x0399}},
    {0x1F92, {0x1F2A, 0x0399}},         {0x1F93, {0x1F2B, 0x0399}},         {0x1F94, {0x1F2C, 0x0399}},
    {0x1F95, {0x1F2D, 0x0399}},         {0x1F96, {0x1F2E, 0x0399}},         {0x1F97, {0x1F2F, 0x0399}},
    {0x1F98, {0x1F28, 0x0399}},         {0x1F99, {0x1F29, 0x0399}},         {0x1F9A, {0x1F2A, 0x0399}},
    {0x1F9B, {0x1F2B, 0x0399}},         {0x1F9C, {0x1F2C, 0x0399}},         {0x1F9D, {0x1F2D, 0x0399}},
    {0x1F9E, {0x1F2E, 0x0399}},         {0x1F9F, {0x1F2F, 0x0399}},         {0x1FA0, {0x1F68, 0x0399}},
    {0x1FA1, {0x1F69, 0x0399}},         {0x1FA2, {0x1F6A, 0x0399}},         {0x1FA3, {0x1F6B, 0x0399}},
    {0x1FA4, {0x1F6C, 0x0399}},         {0x1FA5, {0x1F6D, 0x0399}},         {0x1FA6, {0x1F6E, 0x0399}},
    {0x1FA7, {0x1F6F, 0x0399}},         {0x1FA8, {0x1F68, 0x0399}},         {0x1FA9, {0x1F69, 0x0399}},
    {0x1FAA, {0x1F6A, 0x0399}},         {0x1FAB, {0x1F6B, 0x0399}},         {0x1FAC, {0x1F6C, 0x0399}},
    {0x1FAD, {0x1F6D, 0x0399}},         {0x1FAE, {0x1F6E, 0x0399}},         {0x1FAF, {0x1F6F, 0x0399}},
    {0x1FB2, {0x1FBA, 0x0399}},         {0x1FB3, {0x0391, 0x0399}},         {0x1FB4, {0x0386, 0x0399}},
    {0x1FB6, {0x0391, 0x0342}},         {0x1FB7, {0x0391, 0x0342, 0x0399}}, {0x1FBC, {0x0391, 0x0399}},
    {0x1FC2, {0x1FCA, 0x0399}},         {0x1FC3, {0x0397, 0x0399}},         {0x1FC4, {0x0389, 0x0399}},
    {0x1FC6, {0x0397, 0x0342}},         {0x1FC7, {0x0397, 0x0342, 0x0399}}, {0x1FCC, {0x0397, 0x0399}},
    {0x1FD2, {0x0399, 0x0308, 0x0300}}, {0x1FD3, {0x0399, 0x0308, 0x0301}}, {0x1FD6, {0x0399, 0x0342}},
    {0x1FD7, {0x0399, 0x0308, 0x0342}}, {0x1FE2, {0x03A5, 0x0308, 0x0300}}, {0x1FE3, {0x03A5, 0x0308, 0x0301}},
    {0x1FE4, {0x03A1, 0x0313}},         {0x1FE6, {0x03A5, 0x0342}},         {0x1FE7, {0x03A5, 0x0308, 0x0342}},
    {0x1FF2, {0x1FFA, 0x0399}},         {0x1FF3, {0x03A9, 0x0399}},         {0x1FF4, {0x038F, 0x0399}},
    {0x1FF6, {0x03A9, 0x0342}},         {0x1FF7, {0x03A9, 0x0342, 0x0399}}, {0x1FFC, {0x03A9, 0x0399}},
    {0xFB00, {0x0046, 0x0046}},         {0xFB01, {0x0046, 0x0049}},         {0xFB02, {0x0046, 0x004C}},
    {0xFB03, {0x0046, 0x0046, 0x0049}}, {0xFB04, {0x0046, 0x0046, 0x004C}}, {0xFB05, {0x0053, 0x0054}},
    {0xFB06, {0x0053, 0x0054}},         {0xFB13, {0x0544, 0x0546}},         {0xFB14, {0x0544, 0x0535}},
    {0xFB15, {0x0544, 0x053B}},         {0xFB16, {0x054E, 0x0546}},         {0xFB17, {0x0544, 0x053D}},
};

utf8proc_category_t categoryOf(char32_t c)
{
    return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool isCased(char32_t c)
{
    const utf8proc_category_t category = categoryOf(c);
    return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL || category == UTF8PROC_CATEGORY_LT;
}

// Marks and the like, which do not end a word (Unicode Case_Ignorable, by category).
bool isCaseIgnorable(char32_t c)
{
    const utf8proc_category_t category = categoryOf(c);
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME || category == UTF8PROC_CATEGORY_CF ||
           category == UTF8PROC_CATEGORY_LM || category == UTF8PROC_CATEGORY_SK || c == U'\'' || c == U'.' ||
           c == U':' || c == 0xB7 || c == 0x2019;
}

const LongUpper *findLongUpper(char32_t c)
{
    const auto row = std::lower_bound(std::begin(kLongUpper), std::end(kLongUpper), c,
                                      [](const LongUpper &r, char32_t value) { return r.from < value; });
    return row != std::end(kLongUpper) && row->from == c ? row : nullptr;
}

void appendUpper(std::string &out, char32_t c)
{
    const LongUpper *row = findLongUpper(c);
    if (!row) {
        appendUtf8(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
        return;
    }
    for (const char32_t upper : row->to)
        if (upper != 0)
            appendUtf8(out, upper);
}

// Only the first letter of a long upper case is large in a title: "ß" -> "Ss".
void appendTitle(std::string &out, char32_t c)
{
    const auto title = static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c)));
    const LongUpper *row = findLongUpper(c);
    if (!row || categoryOf(title) == UTF8PROC_CATEGORY_LT) {
        appendUtf8(out, title);
        return;
    }
    appendUtf8(out, row->to[0]);
    for (const char32_t upper : {row->to[1], row->to[2]})
        if (upper == 0x399 && c > 0x1F00) // a small iota under a Greek letter
            appendUtf8(out, 0x345);
        else if (upper != 0)
            appendUtf8(out, c == 0x149 ? upper
                                       : static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(upper))));
}

// The small sigma that ends a word has a form of its own: a cased letter before it and none after.
bool isFinalSigma(std::string_view text, std::size_t at, bool followsCased)
{
    if (!followsCased)
        return false;
    for (std::size_t next = at + codePointAt(text, at).bytes; next < text.size();) {
        const CodePoint c = codePointAt(text, next);
        if (!isCaseIgnorable(c.value))
            return !isCased(c.value);
        next += c.bytes;
    }
    return true;
}

void appendLower(std::string &out, char32_t c, bool isFinal)
{
    if (c == 0x3A3)
        appendUtf8(out, isFinal ? 0x3C2 : 0x3C3);
    else if (c == 0x130)
        out += "i\u0307";
    else
        appendUtf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}

bool isInvalid(char32_t c, std::string_view bytes)
{
    return c == 0xFFFD && bytes.size() == 1;
}

enum class FirstLetters
{
    Lower,
    TitleOfText,
    TitleOfWords
};

Text lowered(Meter &meter, const Text &text, FirstLetters first)
{
    bool followsCased = false; // looking back over characters that are ignored
    bool isInside = false;     // of what started with a title-case letter
    return mapCharacters(meter, text, [&](char32_t c, std::string_view bytes, std::string &out) {
        if (isInvalid(c, bytes)) {
            out += bytes;
            followsCased = isInside = false;
            return;
        }
        if (!isInside && first != FirstLetters::Lower)
            appendTitle(out, c);
        else
            appendLower(out, c,
                        c == 0x3A3 &&
                            isFinalSigma(text.bytes(), static_cast<std::size_t>(bytes.data() - text.bytes().data()),
                                         followsCased));
        isInside = first == FirstLetters::TitleOfText || isCased(c);
        if (!isCaseIgnorable(c))
            followsCased = isCased(c);
    });
}

} // namespace

Text upperCase(Meter &meter, const Text &text)
{
    return mapCharacters(meter, text, [](char32_t c, std::string_view bytes, std::string &out) {
        if (isInvalid(c, bytes))
            out += bytes;
        else
            appendUpper(out, c);
    });
}

Text lowerCase(Meter &meter, const Text &text)
{
    return lowered(meter, text, FirstLetters::Lower);
}

Text titleCase(Meter &meter, const Text &text, bool everyWord)
{
    return lowered(meter, text, everyWord ? FirstLetters::TitleOfWords : FirstLetters::TitleOfText);
}

} // namespace lectern::jinja
