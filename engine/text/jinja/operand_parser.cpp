// SPDX-License-Identifier: GPL-3.0-or-later
// The tightest levels of ExpressionParser: brackets, subscripts, calls, filters, tests, and targets of assignments.
#include "engine/text/jinja/functions.h"
#include "engine/text/jinja/parser.h"

namespace lectern::jinja {

using Kind = Expression::Kind;

namespace {

[[noreturn]] void failUnsupported(Position at, const std::string &what)
{
    failAt(at, ErrorCode::Unsupported, what + " is not supported", "Use the raw prompt with this model");
}

} // namespace

ExpressionPtr ExpressionParser::parseParentheses()
{
    const Position at = m_stream.take().at;
    ExpressionPtr value = m_stream.current().isOperator(")") ? make(Kind::Tuple, at, {}) : parseTuple();
    m_stream.expectOperator(")");
    return value;
}

ExpressionPtr ExpressionParser::parseList()
{
    const Position at = m_stream.take().at;
    std::vector<ExpressionPtr> items;
    while (!m_stream.current().isOperator("]")) {
        items.push_back(parse());
        if (!m_stream.skipOperator(","))
            break;
    }
    m_stream.expectOperator("]");
    return make(Kind::List, at, std::move(items));
}

ExpressionPtr ExpressionParser::parseDict()
{
    const Position at = m_stream.take().at;
    std::vector<ExpressionPtr> items;
    while (!m_stream.current().isOperator("}")) {
        items.push_back(parse());
        m_stream.expectOperator(":");
        items.push_back(parse());
        if (!m_stream.skipOperator(","))
            break;
    }
    m_stream.expectOperator("}");
    return make(Kind::Dict, at, std::move(items));
}

ExpressionPtr ExpressionParser::parsePostfix(ExpressionPtr value)
{
    while (true) {
        const Token &token = m_stream.current();
        if (token.isOperator(".") || token.isOperator("[")) {
            value = parseSubscript(std::move(value));
        } else if (token.isOperator("(")) {
            std::vector<ExpressionPtr> children;
            children.push_back(std::move(value));
            value = make(Kind::Call, token.at, std::move(children));
            parseArguments(*value);
        } else {
            return value;
        }
    }
}

ExpressionPtr ExpressionParser::parseSubscript(ExpressionPtr value)
{
    const Token bracket = m_stream.take();
    std::vector<ExpressionPtr> children;
    children.push_back(std::move(value));
    if (bracket.isOperator(".")) {
        const Token::Kind kind = m_stream.current().kind;
        if (kind == Token::Kind::Name)
            return make(Kind::Attribute, bracket.at, std::move(children), m_stream.take().text);
        if (kind != Token::Kind::Integer)
            m_stream.failExpected("a name or a number");
        children.push_back(parsePrimary());
        return make(Kind::Index, bracket.at, std::move(children));
    }
    bool isSlice = false;
    for (int part = 0; part < 3; ++part) {
        const bool isMissing = m_stream.current().isOperator(":") || m_stream.current().isOperator("]");
        children.push_back(isMissing ? nullptr : parse());
        if (part == 2 || !m_stream.skipOperator(":"))
            break;
        isSlice = true;
    }
    if (m_stream.current().isOperator(","))
        failUnsupported(m_stream.current().at, "An index with commas");
    m_stream.expectOperator("]");
    if (!isSlice && !children[1])
        failAt(bracket.at, ErrorCode::BadFormat, "an index is missing between '[' and ']'");
    if (isSlice)
        children.resize(4);
    return make(isSlice ? Kind::Slice : Kind::Index, bracket.at, std::move(children));
}

void ExpressionParser::parseArguments(Expression &call)
{
    m_stream.expectOperator("(");
    while (!m_stream.current().isOperator(")")) {
        const Token token = m_stream.current();
        if (token.isOperator("*") || token.isOperator("**"))
            failUnsupported(token.at, "Unpacking arguments with '" + token.text + "'");
        if (token.kind == Token::Kind::Name && m_stream.next().isOperator("=")) {
            m_stream.take();
            m_stream.take();
            call.named.push_back({token.text, parse()});
        } else if (!call.named.empty()) {
            m_stream.fail("an argument without a name follows one with a name");
        } else {
            call.children.push_back(parse());
        }
        if (!m_stream.skipOperator(","))
            break;
    }
    m_stream.expectOperator(")");
    measure(call);
}

ExpressionPtr ExpressionParser::parseFiltersAndTests(ExpressionPtr value)
{
    while (true) {
        const Token &token = m_stream.current();
        if (token.isOperator("|")) {
            m_stream.take();
            value = parseFilters(std::move(value));
        } else if (token.isName("is")) {
            value = parseTest(std::move(value));
        } else if (token.isOperator("(")) {
            value = parsePostfix(std::move(value));
        } else {
            return value;
        }
    }
}

ExpressionPtr ExpressionParser::parseFilters(ExpressionPtr target)
{
    do {
        const Position at = m_stream.current().at;
        std::string name = m_stream.takeName();
        if (!isFilter(name))
            failUnsupported(at, "The filter '" + name + "'");
        std::vector<ExpressionPtr> children;
        children.push_back(std::move(target));
        target = make(Kind::Filter, at, std::move(children), std::move(name));
        if (m_stream.current().isOperator("("))
            parseArguments(*target);
    } while (m_stream.skipOperator("|"));
    return target;
}

ExpressionPtr ExpressionParser::parseTest(ExpressionPtr value)
{
    m_stream.take();
    const bool isNegated = m_stream.skipName("not");
    const Position at = m_stream.current().at;
    std::string name = m_stream.takeName();
    if (!isTest(name))
        failUnsupported(at, "The test '" + name + "'");
    std::vector<ExpressionPtr> children;
    children.push_back(std::move(value));
    ExpressionPtr test = make(Kind::Test, at, std::move(children), std::move(name));

    const Token &token = m_stream.current();
    const bool startsValue = token.kind == Token::Kind::Name || token.kind == Token::Kind::String ||
                             token.kind == Token::Kind::Integer || token.kind == Token::Kind::Float ||
                             token.isOperator("[") || token.isOperator("{");
    if (token.isOperator("(")) {
        parseArguments(*test);
    } else if (startsValue && !token.isName("else") && !token.isName("or") && !token.isName("and")) {
        if (token.isName("is"))
            m_stream.fail("one test follows another; put brackets around the first");
        test->children.push_back(parsePostfix(parsePrimary()));
        measure(*test);
    }
    if (!isNegated)
        return test;
    std::vector<ExpressionPtr> tests;
    tests.push_back(std::move(test));
    return make(Kind::Not, at, std::move(tests));
}

Target ExpressionParser::parseTarget(bool withNamespace)
{
    Target target;
    target.at = m_stream.current().at;
    const bool hasParentheses = m_stream.skipOperator("(");
    do {
        if (hasParentheses && m_stream.current().isOperator(")"))
            break;
        const Token token = m_stream.current();
        target.names.push_back(m_stream.takeName());
        const std::string &name = target.names.back();
        if (name == "true" || name == "false" || name == "none" || name == "True" || name == "False" || name == "None")
            failAt(token.at, ErrorCode::BadFormat, "a value cannot be put into '" + name + "'");
        if (withNamespace && target.names.size() == 1 && m_stream.skipOperator(".")) {
            target.attribute = m_stream.takeName();
            break;
        }
        target.isTuple |= m_stream.current().isOperator(",");
    } while (m_stream.skipOperator(","));
    if (hasParentheses)
        m_stream.expectOperator(")");
    return target;
}

} // namespace lectern::jinja
