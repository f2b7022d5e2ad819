// SPDX-License-Identifier: GPL-3.0-or-later
// Tokens to trees. What Jinja has and this interpreter does not is refused here, by name, line and column.
#pragma once

#include "engine/text/jinja/ast.h"
#include "engine/text/jinja/token_stream.h"

#include <string_view>

namespace lectern::jinja {

// A whole template. Throws Failure.
Body parseTemplate(std::string_view source);

// Expressions, one function per level of precedence, loosest first.
class ExpressionParser
{
public:
    explicit ExpressionParser(TokenStream &stream)
        : m_stream(stream)
    {
    }

    // `a if b else c` and all that binds tighter.
    ExpressionPtr parse();
    // One expression, or a tuple if there are commas. Without conditionals where `if` belongs to the tag around it.
    ExpressionPtr parseTuple(bool withConditional = true);
    // name or name(arguments), and more filters behind `|`, applied to `target`.
    ExpressionPtr parseFilters(ExpressionPtr target);
    Target parseTarget(bool withNamespace);

private:
    ExpressionPtr parseOr();
    ExpressionPtr parseAnd();
    ExpressionPtr parseNot();
    ExpressionPtr parseCompare();
    ExpressionPtr parseSum();
    ExpressionPtr parseConcat();
    ExpressionPtr parseProduct();
    ExpressionPtr parsePower();
    ExpressionPtr parseUnary(bool withFilters);
    ExpressionPtr parsePrimary();
    ExpressionPtr parseParentheses();
    ExpressionPtr parseList();
    ExpressionPtr parseDict();
    ExpressionPtr parsePostfix(ExpressionPtr value);
    ExpressionPtr parseFiltersAndTests(ExpressionPtr value);
    ExpressionPtr parseTest(ExpressionPtr value);
    ExpressionPtr parseSubscript(ExpressionPtr value);
    void parseArguments(Expression &call);

    // A node over `children`; refuses trees that are too deep.
    ExpressionPtr make(Expression::Kind kind, Position at, std::vector<ExpressionPtr> children, std::string name = {});
    template <class... Children>
    ExpressionPtr makeOf(Expression::Kind kind, Position at, std::string name, Children... children);
    void measure(Expression &expression);

    TokenStream &m_stream;
};

} // namespace lectern::jinja
