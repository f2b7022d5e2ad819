// SPDX-License-Identifier: GPL-3.0-or-later
// A string that remembers which of its bytes came out of messages' contents, and Python's string operations on it.
//
// Positions and lengths that a template sees count code points, as in Python; a byte that is no UTF-8 counts as one.
#pragma once

#include "engine/text/jinja/meter.h"
#include "engine/text/tokenizer.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lectern::jinja {

class Text
{
public:
    Text() = default;
    explicit Text(std::string bytes, bool isUser = false);

    const std::string &bytes() const { return m_bytes; }
    std::size_t size() const { return m_bytes.size(); }
    bool isUser(std::size_t offset) const; // the byte there came out of a message's content
    const std::vector<TextRange> &userRanges() const { return m_userRanges; } // sorted, neither empty nor touching

    void append(std::string_view bytes, bool isUser);
    void append(const Text &other) { append(other, 0, other.size()); }
    void append(const Text &other, std::size_t begin, std::size_t end); // bytes [begin, end)
    Text part(std::size_t begin, std::size_t end) const;

private:
    std::string m_bytes;
    std::vector<TextRange> m_userRanges;
};

bool isPythonSpace(char32_t c); // str.isspace()

std::size_t characterCount(std::string_view text);
std::vector<Text> characters(Meter &meter, const Text &text);

// Calls `write` with every character, its bytes, and the text to append to; what is appended keeps the character's
// origin.
using CharacterWriter = std::function<void(char32_t character, std::string_view bytes, std::string &out)>;
Text mapCharacters(Meter &meter, const Text &text, const CharacterWriter &write);

enum class Side
{
    Left,
    Right,
    Both
};
// Without `characters`: white space.
Text stripped(Meter &meter, const Text &text, Side side, std::optional<std::string_view> characters);

Text repeated(Meter &meter, const Text &text, std::int64_t times);
// Negative count: all.
Text replaced(Meter &meter, const Text &text, std::string_view from, const Text &to, std::int64_t count);

// Without `separator`: at runs of white space. Negative limit: no limit. A separator is not empty.
std::vector<Text> split(Meter &meter, const Text &text, std::optional<std::string_view> separator, std::int64_t limit,
                        bool fromRight);
std::vector<Text> splitLines(Meter &meter, const Text &text, bool keepEnds);

Text upperCase(Meter &meter, const Text &text);
Text lowerCase(Meter &meter, const Text &text);
// The first character in title case, the others in lower case; `everyWord` starts again after each character that has
// no case.
Text titleCase(Meter &meter, const Text &text, bool everyWord);

} // namespace lectern::jinja
