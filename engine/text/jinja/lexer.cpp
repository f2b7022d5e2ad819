// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/jinja/lexer.h"

#include "engine/base/utf8.h"
#include "engine/text/jinja/literal.h"
#include "engine/text/jinja/text.h"

namespace lectern::jinja {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}
bool isNameStart(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// One kind of line end, and not one at the very end of the file.
std::string normalised(std::string_view source)
{
    std::string text;
    text.reserve(source.size());
    for (std::size_t i = 0; i < source.size(); ++i) {
        if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n')
            continue;
        text += source[i] == '\r' ? '\n' : source[i];
    }
    if (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

class Lexer
{
public:
    explicit Lexer(std::string_view source)
        : m_source(normalised(source))
    {
    }

    std::vector<Token> run()
    {
        while (m_at < m_source.size()) {
            const std::size_t tag = nextTag(m_at);
            if (tag == std::string::npos) {
                add(Token::Kind::Data, m_source.substr(m_at), m_at);
                break;
            }
            const char kind = m_source[tag + 1];
            const std::size_t afterRaw = kind == '%' ? afterRawTag(tag, "raw", false) : std::string::npos;
            const char sign = tag + 2 < m_source.size() ? m_source[tag + 2] : ' ';
            addData(m_at, tag, sign, kind != '{');
            m_at = tag + 2 + (sign == '-' || sign == '+');
            if (afterRaw != std::string::npos)
                readRaw(tag, afterRaw);
            else if (kind == '#')
                readComment(tag);
            else
                readTag(tag, kind == '%');
        }
        add(Token::Kind::End, {}, m_source.size());
        return std::move(m_tokens);
    }

private:
    // Goes on from the last position asked for: tokens come in order, and lines may be long.
    Position positionOf(std::size_t offset)
    {
        if (offset < m_positionOffset) {
            m_positionOffset = 0;
            m_position = {};
        }
        while (m_positionOffset < offset) {
            const CodePoint c = codePointAt(m_source, m_positionOffset);
            m_position.column = c.value == U'\n' ? 1 : m_position.column + 1;
            m_position.line += c.value == U'\n';
            m_positionOffset += c.bytes;
        }
        return m_position;
    }

    [[noreturn]] void failHere(std::size_t offset, std::string message)
    {
        failAt(positionOf(offset), ErrorCode::BadFormat, std::move(message));
    }

    void add(Token::Kind kind, std::string text, std::size_t offset)
    {
        m_tokens.push_back({kind, std::move(text), positionOf(offset)});
    }

    bool startsWith(std::size_t offset, std::string_view what) const
    {
        return std::string_view(m_source).substr(offset, what.size()) == what;
    }

    std::size_t afterSpace(std::size_t offset) const
    {
        while (offset < m_source.size()) {
            const CodePoint c = codePointAt(m_source, offset);
            if (!isPythonSpace(c.value))
                break;
            offset += c.bytes;
        }
        return offset;
    }

    std::size_t nextTag(std::size_t from) const
    {
        for (std::size_t i = from; i + 1 < m_source.size(); ++i)
            if (m_source[i] == '{' && (m_source[i + 1] == '{' || m_source[i + 1] == '%' || m_source[i + 1] == '#'))
                return i;
        return std::string::npos;
    }

    // Text in front of a tag, less the white space that the tag takes away.
    void addData(std::size_t begin, std::size_t end, char sign, bool stripsLine)
    {
        const Text text(m_source.substr(begin, end - begin));
        std::size_t kept = text.size();
        if (sign == '-') {
            Meter meter;
            kept = stripped(meter, text, Side::Right, {}).size();
        } else if (sign != '+' && stripsLine) {
            const std::size_t newline = text.bytes().rfind('\n');
            const std::size_t lineBegin = newline == std::string::npos ? 0 : newline + 1;
            if ((lineBegin > 0 || m_isLineStart) && afterSpace(begin + lineBegin) >= end)
                kept = lineBegin;
        }
        if (kept > 0)
            add(Token::Kind::Data, text.bytes().substr(0, kept), begin);
    }

    // If an end of a tag is here ("%}", "-%}", with what it swallows): sets `m_at` behind it.
    bool skipTagEnd(std::string_view end, bool isVariable)
    {
        const std::size_t begin = m_at;
        if (startsWith(m_at, "-" + std::string(end)))
            m_at = afterSpace(m_at + 1 + end.size());
        else if (!isVariable && startsWith(m_at, "+" + std::string(end)))
            m_at += 1 + end.size();
        else if (startsWith(m_at, end))
            m_at += end.size() + (!isVariable && startsWith(m_at + end.size(), "\n"));
        else
            return false;
        m_isLineStart = m_at > begin && m_source[m_at - 1] == '\n';
        return true;
    }

    void readComment(std::size_t tag)
    {
        for (; m_at < m_source.size(); ++m_at)
            if (skipTagEnd("#}", false))
                return;
        failHere(tag, "this comment has no end: '#}' is missing");
    }

    // Behind the name of {% raw %} or {% endraw %}, where its end follows; npos if the tag is another one.
    std::size_t afterRawTag(std::size_t tag, std::string_view name, bool isEnd) const
    {
        std::size_t at = tag + 2;
        if (at < m_source.size() && (m_source[at] == '-' || m_source[at] == '+'))
            ++at;
        at = afterSpace(at);
        if (!startsWith(at, name))
            return std::string::npos;
        at = afterSpace(at + name.size());
        return startsWith(at, "%}") || startsWith(at, "-%}") || (isEnd && startsWith(at, "+%}")) ? at
                                                                                                 : std::string::npos;
    }

    void readRaw(std::size_t tag, std::size_t tagEnd)
    {
        // No newline is trimmed behind {% raw %}, unlike behind any other tag.
        const std::size_t begin = startsWith(tagEnd, "-") ? afterSpace(tagEnd + 3) : tagEnd + 2;
        m_isLineStart = m_source[begin - 1] == '\n';
        for (std::size_t end = m_source.find("{%", begin); end != std::string::npos;
             end = m_source.find("{%", end + 1)) {
            const std::size_t afterName = afterRawTag(end, "endraw", true);
            if (afterName == std::string::npos)
                continue;
            addData(begin, end, m_source[end + 2], true);
            m_at = afterName;
            skipTagEnd("%}", false);
            return;
        }
        failHere(tag, "this raw block has no end: '{% endraw %}' is missing");
    }

    void readTag(std::size_t tag, bool isBlock)
    {
        add(isBlock ? Token::Kind::BlockBegin : Token::Kind::VariableBegin, {}, tag);
        std::string open; // brackets that are not closed yet
        while (true) {
            const std::size_t begin = m_at;
            if (open.empty() && skipTagEnd(isBlock ? "%}" : "}}", !isBlock)) {
                add(isBlock ? Token::Kind::BlockEnd : Token::Kind::VariableEnd, {}, begin);
                return;
            }
            m_at = afterSpace(m_at);
            if (m_at >= m_source.size())
                failHere(tag, std::string("this tag has no end: '") + (isBlock ? "%}" : "}}") + "' is missing");
            if (m_at == begin)
                readToken(open);
        }
    }

    void readToken(std::string &open)
    {
        const std::size_t begin = m_at;
        const char c = m_source[m_at];
        if (isDigit(c)) {
            const bool isIndex = begin > 0 && m_source[begin - 1] == '.'; // `a.0.1` is no decimal fraction
            const NumberLiteral number = readNumber(std::string_view(m_source).substr(begin), isIndex);
            m_at += number.bytes;
            add(number.isFloat ? Token::Kind::Float : Token::Kind::Integer, number.digits, begin);
        } else if (isNameStart(c)) {
            while (m_at < m_source.size() && (isNameStart(m_source[m_at]) || isDigit(m_source[m_at])))
                ++m_at;
            add(Token::Kind::Name, m_source.substr(begin, m_at - begin), begin);
        } else if (c == '\'' || c == '"') {
            const std::size_t end = endOfString(m_source, begin);
            if (end == std::string::npos)
                failHere(begin, "this string has no end");
            m_at = end;
            std::string problem;
            std::string text = unescaped(std::string_view(m_source).substr(begin + 1, end - begin - 2), problem);
            if (!problem.empty())
                failHere(begin, problem);
            add(Token::Kind::String, std::move(text), begin);
        } else {
            readOperator(open);
        }
    }

    void readOperator(std::string &open)
    {
        const std::size_t begin = m_at;
        for (const std::string_view op : {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
                                          "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"}) {
            if (!startsWith(begin, op))
                continue;
            const std::size_t opening = std::string_view("([{").find(op);
            const std::size_t closing = std::string_view(")]}").find(op);
            if (opening != std::string_view::npos)
                open += ")]}"[opening];
            if (closing != std::string_view::npos) {
                if (open.empty() || open.back() != op[0])
                    failHere(begin, "unexpected '" + std::string(op) + "'" +
                                        (open.empty() ? "" : std::string(", expected '") + open.back() + "'"));
                open.pop_back();
            }
            m_at += op.size();
            add(Token::Kind::Operator, std::string(op), begin);
            return;
        }
        failHere(begin, "unexpected character '" + m_source.substr(begin, codePointAt(m_source, begin).bytes) + "'");
    }

    std::string m_source;
    Position m_position; // of m_positionOffset
    std::size_t m_positionOffset = 0;
    std::vector<Token> m_tokens;
    std::size_t m_at = 0;
    bool m_isLineStart = true; // nothing but a newline in front of the text that follows a tag
};

} // namespace

std::string Token::described() const
{
    switch (kind) {
    case Kind::Data:
    case Kind::BlockBegin:
    case Kind::VariableBegin:
        return "text";
    case Kind::BlockEnd:
    case Kind::VariableEnd:
        return "the end of the tag";
    case Kind::End:
        return "the end of the template";
    default:
        return "'" + text + "'";
    }
}

std::vector<Token> tokenize(std::string_view source)
{
    return Lexer(source).run();
}

} // namespace lectern::jinja
