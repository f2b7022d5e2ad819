// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/jinja/functions.h"
#include "engine/text/jinja/parser.h"

#include <charconv>

namespace lectern::jinja {

using Kind = Expression::Kind;

namespace {

Value numberOf(const Token &token)
{
    if (token.kind == Token::Kind::Float) {
        double value = 0;
        std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
        return value;
    }
    const char mark = token.text.size() > 2 ? token.text[1] : '0';
    const int base = mark == 'x' || mark == 'X'   ? 16
                     : mark == 'o' || mark == 'O' ? 8
                     : mark == 'b' || mark == 'B' ? 2
                                                  : 10;
    const char *begin = token.text.data() + (base == 10 ? 0 : 2);
    const char *end = token.text.data() + token.text.size();
    std::int64_t value = 0;
    const auto read = std::from_chars(begin, end, value, base);
    if (read.ec != std::errc() || read.ptr != end)
        failAt(token.at, ErrorCode::Unsupported, "the number " + token.text + " is too large");
    return value;
}

} // namespace

ExpressionPtr ExpressionParser::make(Kind kind, Position at, std::vector<ExpressionPtr> children, std::string name)
{
    auto expression = std::make_unique<Expression>();
    expression->kind = kind;
    expression->at = at;
    expression->name = std::move(name);
    expression->children = std::move(children);
    measure(*expression);
    return expression;
}

template <class... Children>
ExpressionPtr ExpressionParser::makeOf(Kind kind, Position at, std::string name, Children... children)
{
    std::vector<ExpressionPtr> all;
    (all.push_back(std::move(children)), ...);
    return make(kind, at, std::move(all), std::move(name));
}

void ExpressionParser::measure(Expression &expression)
{
    for (const ExpressionPtr &child : expression.children)
        if (child)
            expression.depth = std::max(expression.depth, child->depth + 1);
    for (const NamedArgument &argument : expression.named)
        expression.depth = std::max(expression.depth, argument.value->depth + 1);
    if (expression.depth > kMaxNesting)
        failAt(expression.at, ErrorCode::BadFormat,
               "this expression is nested more than " + std::to_string(kMaxNesting) + " deep");
}

ExpressionPtr ExpressionParser::parse()
{
    const TokenStream::Level level(m_stream);
    ExpressionPtr value = parseOr();
    while (m_stream.current().isName("if")) {
        const Position at = m_stream.take().at;
        ExpressionPtr condition = parseOr();
        ExpressionPtr otherwise = m_stream.skipName("else") ? parse() : nullptr;
        value = makeOf(Kind::Conditional, at, {}, std::move(value), std::move(condition), std::move(otherwise));
    }
    return value;
}

ExpressionPtr ExpressionParser::parseTuple(bool withConditional)
{
    const Position at = m_stream.current().at;
    std::vector<ExpressionPtr> items;
    bool isTuple = false;
    const auto isEnd = [&] {
        const Token &token = m_stream.current();
        return token.kind == Token::Kind::VariableEnd || token.kind == Token::Kind::BlockEnd || token.isOperator(")");
    };
    while (!isEnd()) {
        items.push_back(withConditional ? parse() : parseOr());
        if (!m_stream.skipOperator(","))
            break;
        isTuple = true;
    }
    if (items.empty())
        m_stream.failExpected("an expression");
    if (!isTuple)
        return std::move(items.front());
    return make(Kind::Tuple, at, std::move(items));
}

ExpressionPtr ExpressionParser::parseOr()
{
    ExpressionPtr left = parseAnd();
    while (m_stream.current().isName("or")) {
        const Position at = m_stream.take().at;
        left = makeOf(Kind::Or, at, {}, std::move(left), parseAnd());
    }
    return left;
}

ExpressionPtr ExpressionParser::parseAnd()
{
    ExpressionPtr left = parseNot();
    while (m_stream.current().isName("and")) {
        const Position at = m_stream.take().at;
        left = makeOf(Kind::And, at, {}, std::move(left), parseNot());
    }
    return left;
}

ExpressionPtr ExpressionParser::parseNot()
{
    if (!m_stream.current().isName("not"))
        return parseCompare();
    const TokenStream::Level level(m_stream);
    const Position at = m_stream.take().at;
    return makeOf(Kind::Not, at, {}, parseNot());
}

ExpressionPtr ExpressionParser::parseCompare()
{
    const Position at = m_stream.current().at;
    std::vector<ExpressionPtr> operands;
    std::vector<std::string> operators;
    operands.push_back(parseSum());
    while (true) {
        const Token &token = m_stream.current();
        const bool isSymbol =
            token.kind == Token::Kind::Operator && (token.text == "==" || token.text == "!=" || token.text == "<" ||
                                                    token.text == "<=" || token.text == ">" || token.text == ">=");
        if (isSymbol || token.isName("in")) {
            operators.push_back(m_stream.take().text);
        } else if (token.isName("not") && m_stream.next().isName("in")) {
            m_stream.take();
            m_stream.take();
            operators.push_back("not in");
        } else {
            break;
        }
        operands.push_back(parseSum());
    }
    if (operators.empty())
        return std::move(operands.front());
    ExpressionPtr compare = make(Kind::Compare, at, std::move(operands));
    compare->operators = std::move(operators);
    return compare;
}

ExpressionPtr ExpressionParser::parseSum()
{
    ExpressionPtr left = parseConcat();
    while (m_stream.current().isOperator("+") || m_stream.current().isOperator("-")) {
        const Token op = m_stream.take();
        left = makeOf(Kind::Arithmetic, op.at, op.text, std::move(left), parseConcat());
    }
    return left;
}

ExpressionPtr ExpressionParser::parseConcat()
{
    const Position at = m_stream.current().at;
    std::vector<ExpressionPtr> parts;
    do
        parts.push_back(parseProduct());
    while (m_stream.skipOperator("~"));
    if (parts.size() == 1)
        return std::move(parts.front());
    return make(Kind::Concat, at, std::move(parts));
}

ExpressionPtr ExpressionParser::parseProduct()
{
    ExpressionPtr left = parsePower();
    while (m_stream.current().isOperator("*") || m_stream.current().isOperator("/") ||
           m_stream.current().isOperator("//") || m_stream.current().isOperator("%")) {
        const Token op = m_stream.take();
        left = makeOf(Kind::Arithmetic, op.at, op.text, std::move(left), parsePower());
    }
    return left;
}

ExpressionPtr ExpressionParser::parsePower()
{
    ExpressionPtr left = parseUnary(true);
    while (m_stream.current().isOperator("**")) {
        const Token op = m_stream.take();
        left = makeOf(Kind::Arithmetic, op.at, op.text, std::move(left), parseUnary(true));
    }
    return left;
}

ExpressionPtr ExpressionParser::parseUnary(bool withFilters)
{
    ExpressionPtr value;
    if (m_stream.current().isOperator("-") || m_stream.current().isOperator("+")) {
        const TokenStream::Level level(m_stream);
        const Token op = m_stream.take();
        value = makeOf(op.text == "-" ? Kind::Negate : Kind::Plus, op.at, {}, parseUnary(false));
    } else {
        value = parsePrimary();
    }
    value = parsePostfix(std::move(value));
    return withFilters ? parseFiltersAndTests(std::move(value)) : std::move(value);
}

ExpressionPtr ExpressionParser::parsePrimary()
{
    const Token &token = m_stream.current();
    if (token.isOperator("("))
        return parseParentheses();
    if (token.isOperator("["))
        return parseList();
    if (token.isOperator("{"))
        return parseDict();
    if (token.kind == Token::Kind::Name) {
        const Token name = m_stream.take();
        if (name.text != "true" && name.text != "True" && name.text != "false" && name.text != "False" &&
            name.text != "none" && name.text != "None")
            return make(Kind::Name, name.at, {}, name.text);
        ExpressionPtr constant = make(Kind::Constant, name.at, {});
        constant->constant = name.text[0] == 'n' || name.text[0] == 'N'
                                 ? Value(None())
                                 : Value(name.text[0] == 't' || name.text[0] == 'T');
        return constant;
    }
    if (token.kind == Token::Kind::Integer || token.kind == Token::Kind::Float) {
        ExpressionPtr constant = make(Kind::Constant, token.at, {});
        constant->constant = numberOf(m_stream.take());
        return constant;
    }
    if (token.kind == Token::Kind::String) {
        ExpressionPtr constant = make(Kind::Constant, token.at, {});
        std::string text;
        while (m_stream.current().kind == Token::Kind::String) // neighbours are one string, as in Python
            text += m_stream.take().text;
        constant->constant = makeText(std::move(text));
        return constant;
    }
    m_stream.failExpected("an expression");
}

} // namespace lectern::jinja
