// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and strings as they are written in a template (Python's rules).
#pragma once

#include <string>
#include <string_view>

namespace lectern::jinja {

struct NumberLiteral
{
    std::size_t bytes = 0; // how long it is in the source
    std::string digits;    // without underscores; may start with 0x, 0o, 0b
    bool isFloat = false;
};

// `source` starts with a digit. With `integerOnly` a fraction is left alone.
NumberLiteral readNumber(std::string_view source, bool integerOnly);

// Behind the closing quote of the string that starts at `begin`; npos when it has none.
std::size_t endOfString(std::string_view source, std::size_t begin);

// What is between the quotes, with its escapes resolved. `problem` says what is wrong, if anything.
std::string unescaped(std::string_view literal, std::string &problem);

} // namespace lectern::jinja
