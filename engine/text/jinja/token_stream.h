// SPDX-License-Identifier: GPL-3.0-or-later
// The parser's place in the tokens, and the nesting it is in.
#pragma once

#include "engine/text/jinja/lexer.h"

#include <algorithm>

namespace lectern::jinja {

class TokenStream
{
public:
    explicit TokenStream(std::vector<Token> tokens)
        : m_tokens(std::move(tokens))
    {
    }

    const Token &current() const { return m_tokens[m_at]; }
    const Token &next() const { return m_tokens[std::min(m_at + 1, m_tokens.size() - 1)]; }

    Token take()
    {
        Token token = m_tokens[m_at];
        if (m_at + 1 < m_tokens.size())
            ++m_at;
        return token;
    }

    bool skipOperator(std::string_view op) { return current().isOperator(op) && skip(); }
    bool skipName(std::string_view name) { return current().isName(name) && skip(); }

    void expectOperator(std::string_view op)
    {
        if (!skipOperator(op))
            failExpected("'" + std::string(op) + "'");
    }

    void expectName(std::string_view name)
    {
        if (!skipName(name))
            failExpected("'" + std::string(name) + "'");
    }

    void expect(Token::Kind kind, std::string_view what)
    {
        if (current().kind != kind)
            failExpected(std::string(what));
        take();
    }

    std::string takeName()
    {
        if (current().kind != Token::Kind::Name)
            failExpected("a name");
        return take().text;
    }

    [[noreturn]] void failExpected(const std::string &what) const
    {
        fail("expected " + what + ", found " + current().described());
    }
    [[noreturn]] void fail(std::string message) const
    {
        failAt(current().at, ErrorCode::BadFormat, std::move(message));
    }

    // Counts one level of nesting while it lives.
    class Level
    {
    public:
        explicit Level(TokenStream &stream)
            : m_stream(stream)
        {
            if (++stream.m_depth > kMaxNesting)
                stream.fail("the template is nested more than " + std::to_string(kMaxNesting) + " deep");
        }
        ~Level() { --m_stream.m_depth; }
        Level(const Level &) = delete;
        Level &operator=(const Level &) = delete;

    private:
        TokenStream &m_stream;
    };

private:
    bool skip()
    {
        take();
        return true;
    }

    std::vector<Token> m_tokens;
    std::size_t m_at = 0;
    int m_depth = 0;
};

} // namespace lectern::jinja
