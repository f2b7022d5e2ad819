// SPDX-License-Identifier: GPL-3.0-or-later
// Cuts a template into tokens, and decides what white space around tags goes: trim_blocks and lstrip_blocks on, and
// keep_trailing_newline off, as the published tokenizers set Jinja2 up.
#pragma once

#include "engine/text/jinja/meter.h"

#include <string>
#include <string_view>
#include <vector>

namespace lectern::jinja {

struct Token
{
    enum class Kind
    {
        Data,          // text between tags, to be printed as it is
        BlockBegin,    // {%
        BlockEnd,      // %}
        VariableBegin, // {{
        VariableEnd,   // }}
        Name,
        String,  // `text` is what the literal stands for
        Integer, // `text` without underscores
        Float,
        Operator,
        End,
    };
    Kind kind = Kind::End;
    std::string text;
    Position at;

    bool isOperator(std::string_view op) const { return kind == Kind::Operator && text == op; }
    bool isName(std::string_view name) const { return kind == Kind::Name && text == name; }
    std::string described() const; // for messages: "'endif'", "end of the tag"
};

// Ends with a token of kind End. Throws Failure.
std::vector<Token> tokenize(std::string_view source);

} // namespace lectern::jinja
