// SPDX-License-Identifier: GPL-3.0-or-later
// Filters on lists, dicts and the characters of a string.
#include "engine/text/jinja/functions.h"
#include "engine/text/jinja/value_text.h"

#include <algorithm>
#include <charconv>

namespace lectern::jinja {

namespace {

// "a.b.0": attributes of attributes, whole numbers as indices.
Value attributeAlong(Meter &meter, Value item, const Value &path)
{
    if (integerOf(path))
        return element(meter, item, path);
    const Text *text = textOf(path);
    if (!text)
        meter.fail("an attribute is named by a string, not " + typeName(path));
    meter.work(text->size());
    std::string_view rest = text->bytes();
    while (true) {
        const std::string_view part = rest.substr(0, rest.find('.'));
        std::int64_t index = 0;
        const auto read = std::from_chars(part.data(), part.data() + part.size(), index);
        const bool isIndex =
            !part.empty() && read.ec == std::errc() && read.ptr == part.data() + part.size() && index >= 0;
        item = element(meter, item, isIndex ? Value(index) : makeText(std::string(part)));
        if (part.size() == rest.size())
            return item;
        rest.remove_prefix(part.size() + 1);
    }
}

Value length(const Call &call)
{
    if (const Text *text = textOf(call.self)) {
        call.meter.work(text->size());
        return static_cast<std::int64_t>(characterCount(text->bytes()));
    }
    if (const List *list = listOf(call.self); list && list->kind != List::Kind::Generator)
        return static_cast<std::int64_t>(list->items.size());
    if (const Dict *dict = dictOf(call.self))
        return static_cast<std::int64_t>(dict->items.size());
    if (!isUndefined(call.self))
        call.meter.fail("object of type '" + typeName(call.self) + "' has no len()");
    return std::int64_t{0};
}

Value first(const Call &call)
{
    const std::vector<Value> items = iterate(call.meter, call.self);
    return items.empty() ? makeUndefined("No first item, sequence was empty.") : items.front();
}

Value last(const Call &call)
{
    const std::vector<Value> items = iterate(call.meter, call.self);
    return items.empty() ? makeUndefined("No last item, sequence was empty.") : items.back();
}

Value join(const Call &call)
{
    const Text separator = call.value(0) ? toText(call.meter, *call.value(0)) : Text();
    Text joined;
    bool isFirst = true;
    for (const Value &item : iterate(call.meter, call.self)) {
        const bool hasAttribute = call.value(1) && !isNone(*call.value(1));
        const Text text = toText(call.meter, hasAttribute ? attributeAlong(call.meter, item, *call.value(1)) : item);
        call.meter.work(text.size() + separator.size());
        if (!std::exchange(isFirst, false))
            joined.append(separator);
        joined.append(text);
        call.meter.checkTextSize(joined.size());
    }
    return makeText(std::move(joined));
}

Value toList(const Call &call)
{
    return makeList(call.meter, iterate(call.meter, call.self));
}

Value reverse(const Call &call)
{
    if (textOf(call.self))
        return slice(call.meter, call.self, None(), None(), std::int64_t{-1});
    std::vector<Value> items = iterate(call.meter, call.self);
    std::reverse(items.begin(), items.end());
    return makeList(call.meter, std::move(items), List::Kind::Generator);
}

Value items(const Call &call)
{
    if (isUndefined(call.self))
        return makeList(call.meter, {}, List::Kind::Generator);
    const Dict *dict = dictOf(call.self);
    if (!dict)
        call.meter.fail("Can only get item pairs from a mapping.");
    std::vector<Value> pairs;
    for (const auto &[key, value] : dict->items)
        pairs.push_back(makeList(call.meter, {key, value}, List::Kind::Tuple));
    return makeList(call.meter, std::move(pairs), List::Kind::Generator);
}

std::string nameOf(const Call &call, std::size_t position, std::string_view what)
{
    const auto &positional = call.given.positional;
    if (position >= positional.size() || !textOf(positional[position]))
        call.meter.fail("the name of " + std::string(what) + " is missing");
    return textOf(positional[position])->bytes();
}

Arguments argumentsFrom(const Call &call, std::size_t position)
{
    const auto &positional = call.given.positional;
    Arguments arguments;
    arguments.named = call.given.named;
    for (std::size_t i = position; i < positional.size(); ++i)
        arguments.positional.push_back(positional[i]);
    return arguments;
}

// map('filter', …) or map(attribute='name', default=…).
Value map(const Call &call)
{
    const Value *path = nullptr;
    const Value *otherwise = nullptr;
    for (const auto &[name, value] : call.given.named) {
        path = name == "attribute" ? &value : path;
        otherwise = name == "default" && !isNone(value) ? &value : otherwise;
    }
    const bool byAttribute = call.given.positional.empty() && path;
    const std::string filter = byAttribute ? std::string() : nameOf(call, 0, "a filter");
    const Arguments arguments = byAttribute ? Arguments() : argumentsFrom(call, 1);
    std::vector<Value> mapped;
    for (const Value &item : iterate(call.meter, call.self)) {
        mapped.push_back(byAttribute ? attributeAlong(call.meter, item, *path)
                                     : applyFilter(call.meter, filter, item, arguments));
        if (byAttribute && otherwise && isUndefined(mapped.back()))
            mapped.back() = *otherwise;
    }
    return makeList(call.meter, std::move(mapped), List::Kind::Generator);
}

template <bool byAttribute, bool keeps>
Value select(const Call &call)
{
    const std::size_t testAt = byAttribute ? 1 : 0;
    if (byAttribute && call.given.positional.empty())
        call.meter.fail("the name of an attribute is missing");
    const bool hasTest = call.given.positional.size() > testAt;
    const std::string test = hasTest ? nameOf(call, testAt, "a test") : std::string();
    const Arguments arguments = argumentsFrom(call, testAt + 1);
    std::vector<Value> selected;
    for (const Value &item : iterate(call.meter, call.self)) {
        const Value value = byAttribute ? attributeAlong(call.meter, item, call.given.positional[0]) : item;
        const bool passes = hasTest ? applyTest(call.meter, test, value, arguments) : isTrue(value);
        if (passes == keeps)
            selected.push_back(item);
    }
    return makeList(call.meter, std::move(selected), List::Kind::Generator);
}

} // namespace

std::span<const FunctionRow> listFilters()
{
    static constexpr FunctionRow kRows[] = {
        {"length", "", 0, length},
        {"count", "", 0, length},
        {"first", "", 0, first},
        {"last", "", 0, last},
        {"join", "d attribute", 0, join},
        {"list", "", 0, toList},
        {"reverse", "", 0, reverse},
        {"items", "", 0, items},
        {"map", "*", 0, map},
        {"select", "*", 0, select<false, true>},
        {"reject", "*", 0, select<false, false>},
        {"selectattr", "*", 0, select<true, true>},
        {"rejectattr", "*", 0, select<true, false>},
    };
    return kRows;
}

} // namespace lectern::jinja
