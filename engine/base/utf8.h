// SPDX-License-Identifier: GPL-3.0-or-later
// UTF-8: decoding with errors as values, replacement of invalid bytes, holding back unfinished characters of a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lectern {

struct CodePoint
{
    char32_t value = 0;     // U+FFFD for an invalid byte
    std::uint8_t bytes = 1; // how many bytes of the text it takes; 1 for an invalid byte
    bool isValid = false;
};

// The character that starts at `offset` (< text.size()). Overlong forms, surrogates and values above U+10FFFF are
// invalid.
CodePoint codePointAt(std::string_view text, std::size_t offset);

void appendUtf8(std::string &text, char32_t codePoint);

// Offset of the first invalid byte, or npos.
std::size_t firstInvalidUtf8(std::string_view text);

struct CleanText
{
    std::string text;              // valid UTF-8
    std::size_t replacedCount = 0; // how many U+FFFD were put in (one per maximal invalid part, Unicode 3.9 D93b)
};
CleanText replaceInvalidUtf8(std::string_view text);

// Text of a file for a message or a label: valid UTF-8 on one line, other control characters as "?". What is longer
// than `maxBytes` is cut between two characters and says so: "abc... (5000 bytes)".
std::string printableText(std::string_view text, std::size_t maxBytes = 120);

// Lets only whole characters through. A tail that may still become a character waits; bytes that never can become one
// turn into U+FFFD at once (llama.cpp#8691, mlx-vlm#1771).
class Utf8Gate
{
public:
    std::string push(std::string_view bytes); // the text that became complete; may be empty
    std::string finish();                     // what was held, as U+FFFD; empty if nothing was held
    bool isHolding() const { return !m_tail.empty(); }

private:
    std::string m_tail;
};

} // namespace lectern
