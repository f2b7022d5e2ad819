// SPDX-License-Identifier: GPL-3.0-or-later
// Methods of strings.
#include "engine/base/utf8.h"
#include "engine/text/jinja/functions.h"
#include "engine/text/jinja/value_text.h"

#include <algorithm>

namespace lectern::jinja {

namespace {

template <Side side>
Value strip(const Call &call)
{
    return makeText(stripped(call.meter, call.ownText(), side, call.optionalText(0)));
}

// startswith and endswith take one string or a tuple of them.
template <bool isStart>
Value hasEdge(const Call &call)
{
    const std::string_view text = call.ownText().bytes();
    const auto matches = [&](const Value &value) {
        const Text *edge = textOf(value);
        if (!edge)
            call.meter.fail(std::string(isStart ? "startswith" : "endswith") +
                            " needs a string or a tuple of strings, not " + typeName(value));
        call.meter.work(edge->size());
        return isStart ? text.starts_with(edge->bytes()) : text.ends_with(edge->bytes());
    };
    const List *several = listOf(*call.value(0));
    if (!several || several->kind != List::Kind::Tuple)
        return matches(*call.value(0));
    return std::any_of(several->items.begin(), several->items.end(), matches);
}

template <bool fromRight>
Value splitText(const Call &call)
{
    const auto separator = call.optionalText(0);
    if (separator && separator->empty())
        call.meter.fail("empty separator");
    std::vector<Value> parts;
    for (Text &part : split(call.meter, call.ownText(), separator, call.integer(1, -1), fromRight))
        parts.push_back(makeText(std::move(part)));
    return makeList(call.meter, std::move(parts));
}

Value splitIntoLines(const Call &call)
{
    std::vector<Value> lines;
    for (Text &line : splitLines(call.meter, call.ownText(), call.flag(0, false)))
        lines.push_back(makeText(std::move(line)));
    return makeList(call.meter, std::move(lines));
}

Value replace(const Call &call)
{
    return makeText(replaced(call.meter, call.ownText(), call.text(0).bytes(), call.text(1), call.integer(2, -1)));
}

Value join(const Call &call)
{
    Text joined;
    bool isFirst = true;
    for (const Value &item : iterate(call.meter, *call.value(0))) {
        const Text *part = textOf(item);
        if (!part)
            call.meter.fail("join needs strings, found " + typeName(item));
        call.meter.work(part->size() + call.ownText().size());
        if (!std::exchange(isFirst, false))
            joined.append(call.ownText());
        joined.append(*part);
        call.meter.checkTextSize(joined.size());
    }
    return makeText(std::move(joined));
}

// The index of a character, -1 if there is none.
template <bool fromRight>
Value findText(const Call &call)
{
    const std::string_view text = call.ownText().bytes();
    call.meter.work(2 * text.size());
    const std::size_t at = fromRight ? text.rfind(call.text(0).bytes()) : text.find(call.text(0).bytes());
    return at == std::string_view::npos ? std::int64_t{-1}
                                        : static_cast<std::int64_t>(characterCount(text.substr(0, at)));
}

Value count(const Call &call)
{
    const std::string_view text = call.ownText().bytes();
    const std::string_view part = call.text(0).bytes();
    call.meter.work(text.size());
    if (part.empty())
        return static_cast<std::int64_t>(characterCount(text)) + 1;
    std::int64_t found = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
        ++found;
    return found;
}

template <bool isPrefix>
Value removeEdge(const Call &call)
{
    const Text &text = call.ownText();
    const std::string_view edge = call.text(0).bytes();
    call.meter.work(text.size());
    if (isPrefix && text.bytes().starts_with(edge))
        return makeText(text.part(edge.size(), text.size()));
    if (!isPrefix && text.bytes().ends_with(edge))
        return makeText(text.part(0, text.size() - edge.size()));
    return call.self;
}

Value upper(const Call &call)
{
    return makeText(upperCase(call.meter, call.ownText()));
}
Value lower(const Call &call)
{
    return makeText(lowerCase(call.meter, call.ownText()));
}
Value capitalize(const Call &call)
{
    return makeText(titleCase(call.meter, call.ownText(), false));
}
Value title(const Call &call)
{
    return makeText(titleCase(call.meter, call.ownText(), true));
}

} // namespace

std::span<const FunctionRow> textMethods()
{
    static constexpr FunctionRow kRows[] = {
        {"strip", "chars", 0, strip<Side::Both>},
        {"lstrip", "chars", 0, strip<Side::Left>},
        {"rstrip", "chars", 0, strip<Side::Right>},
        {"startswith", "prefix", 1, hasEdge<true>},
        {"endswith", "suffix", 1, hasEdge<false>},
        {"split", "sep maxsplit", 0, splitText<false>},
        {"rsplit", "sep maxsplit", 0, splitText<true>},
        {"splitlines", "keepends", 0, splitIntoLines},
        {"replace", "old new count", 2, replace},
        {"join", "iterable", 1, join},
        {"find", "sub", 1, findText<false>},
        {"rfind", "sub", 1, findText<true>},
        {"count", "sub", 1, count},
        {"removeprefix", "prefix", 1, removeEdge<true>},
        {"removesuffix", "suffix", 1, removeEdge<false>},
        {"upper", "", 0, upper},
        {"lower", "", 0, lower},
        {"capitalize", "", 0, capitalize},
        {"title", "", 0, title},
    };
    return kRows;
}

} // namespace lectern::jinja
