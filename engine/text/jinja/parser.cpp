// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/jinja/parser.h"

#include <initializer_list>

namespace lectern::jinja {

namespace {

class StatementParser
{
public:
    explicit StatementParser(std::string_view source)
        : m_stream(tokenize(source))
        , m_expressions(m_stream)
    {
    }

    Body parse()
    {
        Body body = parseBody({});
        if (m_stream.current().kind != Token::Kind::End)
            m_stream.failExpected("the end of the template");
        return body;
    }

private:
    // Up to a tag that starts with one of `ends`; the stream is then at that name.
    Body parseBody(std::initializer_list<std::string_view> ends)
    {
        const TokenStream::Level level(m_stream);
        Body body;
        while (m_stream.current().kind != Token::Kind::End) {
            const Token token = m_stream.take();
            if (token.kind == Token::Kind::Data) {
                body.push_back(make(Statement::Kind::Data, token.at));
                body.back().text = token.text;
            } else if (token.kind == Token::Kind::VariableBegin) {
                body.push_back(make(Statement::Kind::Output, token.at));
                body.back().expression = m_expressions.parseTuple();
                m_stream.expect(Token::Kind::VariableEnd, "'}}'");
            } else {
                for (const std::string_view end : ends)
                    if (m_stream.current().isName(end))
                        return body;
                body.push_back(parseStatement());
                m_stream.expect(Token::Kind::BlockEnd, "'%}'");
            }
        }
        if (ends.size() > 0)
            m_stream.fail("the template ends inside a block: '{% " + std::string(*(ends.end() - 1)) +
                          " %}' is missing");
        return body;
    }

    // Behind the head of a tag: its body, and the name that ends it.
    Body parseBlock(std::initializer_list<std::string_view> ends)
    {
        m_stream.skipOperator(":");
        m_stream.expect(Token::Kind::BlockEnd, "'%}'");
        return parseBody(ends);
    }

    static Statement make(Statement::Kind kind, Position at)
    {
        Statement statement;
        statement.kind = kind;
        statement.at = at;
        return statement;
    }

    Statement parseStatement()
    {
        const Token name = m_stream.current();
        m_stream.takeName();
        if (name.text == "if")
            return parseIf(name.at);
        if (name.text == "for")
            return parseFor(name.at);
        if (name.text == "set")
            return parseSet(name.at);
        if (name.text == "filter") {
            Statement statement = make(Statement::Kind::Filter, name.at);
            statement.expression = m_expressions.parseFilters(piped(name.at));
            addBody(statement, {"endfilter"});
            return statement;
        }
        if (name.text == "generation") {
            Statement statement = make(Statement::Kind::Plain, name.at);
            addBody(statement, {"endgeneration"});
            return statement;
        }
        if (name.text == "break" || name.text == "continue") {
            if (m_loopDepth == 0)
                failAt(name.at, ErrorCode::BadFormat, "'" + name.text + "' is outside of a loop");
            return make(name.text == "break" ? Statement::Kind::Break : Statement::Kind::Continue, name.at);
        }
        for (const std::string_view known : {"macro", "call", "block", "extends", "include", "import", "from", "with",
                                             "autoescape", "print", "do", "trans", "debug"})
            if (name.text == known)
                failAt(name.at, ErrorCode::Unsupported, "the tag '" + name.text + "' is not supported",
                       "Use the raw prompt with this model");
        failAt(name.at, ErrorCode::BadFormat, "unknown tag '" + name.text + "'");
    }

    static ExpressionPtr piped(Position at)
    {
        auto expression = std::make_unique<Expression>();
        expression->kind = Expression::Kind::Piped;
        expression->at = at;
        return expression;
    }

    void addBody(Statement &statement, std::initializer_list<std::string_view> ends)
    {
        const int loopDepth = std::exchange(m_loopDepth, statement.kind == Statement::Kind::Plain ? m_loopDepth : 0);
        statement.branches.push_back({nullptr, parseBlock(ends)});
        m_loopDepth = loopDepth;
        m_stream.takeName();
    }

    Statement parseIf(Position at)
    {
        Statement statement = make(Statement::Kind::If, at);
        std::string name = "if";
        while (name != "endif") {
            Branch branch;
            if (name != "else")
                branch.condition = m_expressions.parseTuple(false);
            branch.body = name == "else" ? parseBlock({"endif"}) : parseBlock({"elif", "else", "endif"});
            statement.branches.push_back(std::move(branch));
            name = m_stream.takeName();
        }
        return statement;
    }

    Statement parseFor(Position at)
    {
        Statement statement = make(Statement::Kind::For, at);
        statement.target = m_expressions.parseTarget(false);
        m_stream.expectName("in");
        statement.expression = m_expressions.parseTuple(false);
        if (m_stream.skipName("if"))
            statement.condition = m_expressions.parse();
        if (m_stream.current().isName("recursive"))
            failAt(m_stream.current().at, ErrorCode::Unsupported, "a recursive loop is not supported",
                   "Use the raw prompt with this model");
        ++m_loopDepth;
        statement.branches.push_back({nullptr, parseBlock({"else", "endfor"})});
        --m_loopDepth;
        Branch otherwise;
        if (m_stream.takeName() == "else") {
            otherwise.body = parseBlock({"endfor"});
            m_stream.takeName();
        }
        statement.branches.push_back(std::move(otherwise));
        return statement;
    }

    Statement parseSet(Position at)
    {
        Statement statement = make(Statement::Kind::Set, at);
        statement.target = m_expressions.parseTarget(true);
        if (m_stream.skipOperator("=")) {
            statement.expression = m_expressions.parseTuple();
            return statement;
        }
        statement.kind = Statement::Kind::SetBlock;
        if (m_stream.skipOperator("|"))
            statement.expression = m_expressions.parseFilters(piped(at));
        addBody(statement, {"endset"});
        return statement;
    }

    TokenStream m_stream;
    ExpressionParser m_expressions;
    int m_loopDepth = 0;
};

} // namespace

Body parseTemplate(std::string_view source)
{
    if (source.size() > kMaxSourceBytes)
        failAt({}, ErrorCode::Unsupported,
               "the template is larger than " + std::to_string(kMaxSourceBytes >> 10) + " KiB");
    return StatementParser(source).parse();
}

} // namespace lectern::jinja
