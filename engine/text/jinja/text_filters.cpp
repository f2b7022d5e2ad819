// SPDX-License-Identifier: GPL-3.0-or-later
// Filters on one value. Most take any value and work on what it prints, as Jinja2's do.
#include "engine/base/utf8.h"
#include "engine/text/jinja/functions.h"
#include "engine/text/jinja/value_text.h"

#include <charconv>
#include <cmath>

namespace lectern::jinja {

namespace {

Value trim(const Call &call)
{
    return makeText(stripped(call.meter, call.selfText(), Side::Both, call.optionalText(0)));
}

Value upper(const Call &call)
{
    return makeText(upperCase(call.meter, call.selfText()));
}
Value lower(const Call &call)
{
    return makeText(lowerCase(call.meter, call.selfText()));
}
Value capitalize(const Call &call)
{
    return makeText(titleCase(call.meter, call.selfText(), false));
}

// Unlike the method `title`, words begin only after white space, '-' and opening brackets.
Value title(const Call &call)
{
    const Text text = call.selfText();
    Text result;
    const auto flush = [&](std::size_t begin, std::size_t end) {
        if (begin == end)
            return;
        const std::size_t second = begin + codePointAt(text.bytes(), begin).bytes;
        result.append(upperCase(call.meter, text.part(begin, second)));
        result.append(lowerCase(call.meter, text.part(second, end)));
    };
    std::size_t begin = 0;
    bool wasBreak = false;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = codePointAt(text.bytes(), at);
        const bool isBreak =
            isPythonSpace(c.value) || std::u32string_view(U"-({[<").find(c.value) != std::u32string_view::npos;
        if (isBreak != wasBreak) {
            call.meter.step();
            flush(begin, at);
            begin = at;
        }
        wasBreak = isBreak;
        at += c.bytes;
    }
    flush(begin, text.size());
    return makeText(std::move(result));
}

Value orDefault(const Call &call)
{
    if (!isUndefined(call.self) && (!call.flag(1, false) || isTrue(call.self)))
        return call.self;
    return call.value(0) ? *call.value(0) : makeText(std::string());
}

Value replace(const Call &call)
{
    const Text from = toText(call.meter, *call.value(0));
    const Value *limit = call.value(2);
    return makeText(replaced(call.meter, call.selfText(), from.bytes(), toText(call.meter, *call.value(1)),
                             limit && !isNone(*limit) ? call.integer(2, -1) : -1));
}

Value string(const Call &call)
{
    return makeText(call.selfText());
}

Value indent(const Call &call)
{
    const Text *source = textOf(call.self);
    if (!source)
        call.meter.fail("'indent' needs a string, not " + typeName(call.self));
    const bool isWidth = !call.value(0) || !textOf(*call.value(0));
    const Text space = isWidth ? repeated(call.meter, Text(" "), call.integer(0, 4)) : call.text(0);
    const bool indentsBlank = call.flag(2, false);

    Text text = *source;
    text.append("\n", false);
    Text result;
    if (call.flag(1, false))
        result.append(space);
    bool isFirst = true;
    for (const Text &line : splitLines(call.meter, text, false)) {
        call.meter.work(space.size());
        if (!isFirst) {
            result.append("\n", false);
            if (indentsBlank || line.size() > 0)
                result.append(space);
        }
        result.append(line);
        call.meter.checkTextSize(result.size());
        isFirst = false;
    }
    return makeText(std::move(result));
}

// A number that Python's int() or float() reads, with white space around it.
std::optional<double> parsedFloat(std::string_view text)
{
    while (!text.empty() && isPythonSpace(static_cast<unsigned char>(text.front())))
        text.remove_prefix(1);
    while (!text.empty() && isPythonSpace(static_cast<unsigned char>(text.back())))
        text.remove_suffix(1);
    if (text.starts_with('+'))
        text.remove_prefix(1);
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size() ? std::optional(value)
                                                                                            : std::nullopt;
}

Value toInteger(const Call &call)
{
    if (call.value(1))
        call.meter.failUnsupported("The filter 'int' with a base");
    const Value otherwise = call.value(0) ? *call.value(0) : Value(std::int64_t{0});
    if (const auto integer = integerOf(call.self))
        return *integer;
    const Text *text = textOf(call.self);
    const std::optional<double> number = text ? parsedFloat(text->bytes()) : numberOf(call.self);
    requireDefined(call.meter, call.self);
    if (!number || !std::isfinite(*number))
        return otherwise;
    if (std::abs(*number) >= 0x1p63)
        call.meter.fail("a whole number is beyond 64 bits");
    return static_cast<std::int64_t>(*number);
}

Value toFloat(const Call &call)
{
    requireDefined(call.meter, call.self);
    const Text *text = textOf(call.self);
    const std::optional<double> number = text ? parsedFloat(text->bytes()) : numberOf(call.self);
    return number ? Value(*number) : call.value(0) ? *call.value(0) : Value(0.0);
}

Value absolute(const Call &call)
{
    if (const auto integer = integerOf(call.self))
        return *integer < 0 ? arithmetic(call.meter, "-", std::int64_t{0}, *integer) : Value(*integer);
    const auto number = numberOf(call.self);
    if (!number)
        call.meter.fail("bad operand type for abs(): '" + typeName(call.self) + "'");
    return std::abs(*number);
}

Value toJsonText(const Call &call)
{
    JsonStyle style;
    style.escapesNonAscii = call.flag(0, false);
    if (call.value(1) && !isNone(*call.value(1))) {
        style.indent =
            textOf(*call.value(1)) ? call.text(1).bytes() : repeated(call.meter, Text(" "), call.integer(1, 0)).bytes();
        style.itemSeparator = ",";
    }
    if (call.value(2) && !isNone(*call.value(2))) {
        const List *separators = listOf(*call.value(2));
        if (!separators || separators->items.size() != 2 || !textOf(separators->items[0]) ||
            !textOf(separators->items[1]))
            call.meter.fail("the separators of 'tojson' are a pair of strings");
        style.itemSeparator = textOf(separators->items[0])->bytes();
        style.keySeparator = textOf(separators->items[1])->bytes();
    }
    style.sortsKeys = call.flag(3, false);
    return makeText(toJson(call.meter, call.self, style));
}

Value unchanged(const Call &call)
{
    return call.self;
}

} // namespace

std::span<const FunctionRow> textFilters()
{
    static constexpr FunctionRow kRows[] = {
        {"trim", "chars", 0, trim},
        {"upper", "", 0, upper},
        {"lower", "", 0, lower},
        {"capitalize", "", 0, capitalize},
        {"title", "", 0, title},
        {"default", "default_value boolean", 0, orDefault},
        {"d", "default_value boolean", 0, orDefault},
        {"replace", "old new count", 2, replace},
        {"string", "", 0, string},
        {"indent", "width first blank", 0, indent},
        {"int", "default base", 0, toInteger},
        {"float", "default", 0, toFloat},
        {"abs", "", 0, absolute},
        {"tojson", "ensure_ascii indent separators sort_keys", 0, toJsonText},
        {"safe", "", 0, unchanged}, // texts are never escaped
    };
    return kRows;
}

} // namespace lectern::jinja
