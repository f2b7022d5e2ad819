// SPDX-License-Identifier: GPL-3.0-or-later
// value.name and value[key], and the methods of dicts and loops.
#include "engine/text/jinja/functions.h"

#include "engine/text/jinja/value_text.h"

#include <algorithm>

namespace lectern::jinja {

namespace {

// Python's methods: a template that asks for one gets it before an item of a dict with the same name. Those without a
// row in textMethods() or dictMethods() are refused when they are called.
constexpr std::string_view kTextMethodNames[] = {
    "capitalize",   "casefold",   "center",    "count",       "encode",    "endswith",     "expandtabs",   "find",
    "format",       "format_map", "index",     "isalnum",     "isalpha",   "isascii",      "isdecimal",    "isdigit",
    "isidentifier", "islower",    "isnumeric", "isprintable", "isspace",   "istitle",      "isupper",      "join",
    "ljust",        "lower",      "lstrip",    "maketrans",   "partition", "removeprefix", "removesuffix", "replace",
    "rfind",        "rindex",     "rjust",     "rpartition",  "rsplit",    "rstrip",       "split",        "splitlines",
    "startswith",   "strip",      "swapcase",  "title",       "translate", "upper",        "zfill"};
constexpr std::string_view kDictMethodNames[] = {"clear", "copy",    "fromkeys",   "get",    "items", "keys",
                                                 "pop",   "popitem", "setdefault", "update", "values"};
constexpr std::string_view kListMethodNames[] = {"append", "clear", "copy",   "count",   "extend", "index",
                                                 "insert", "pop",   "remove", "reverse", "sort"};

bool hasMethod(const Value &value, std::string_view name)
{
    const auto isAmong = [&](const auto &names) {
        return std::find(std::begin(names), std::end(names), name) != std::end(names);
    };
    if (textOf(value))
        return isAmong(kTextMethodNames);
    if (dictOf(value))
        return isAmong(kDictMethodNames);
    return listOf(value) && isAmong(kListMethodNames);
}

Value loopAttribute(const std::shared_ptr<const Loop> &loop, const std::string &name)
{
    const auto size = static_cast<std::int64_t>(loop->items->size());
    const auto index = static_cast<std::int64_t>(loop->index);
    if (name == "index")
        return index + 1;
    if (name == "index0")
        return index;
    if (name == "revindex")
        return size - index;
    if (name == "revindex0")
        return size - index - 1;
    if (name == "first")
        return index == 0;
    if (name == "last")
        return index + 1 == size;
    if (name == "length")
        return size;
    if (name == "depth")
        return std::int64_t{1}; // deeper ones only in recursive loops
    if (name == "depth0")
        return std::int64_t{0};
    if (name == "previtem")
        return index > 0 ? (*loop->items)[loop->index - 1] : makeUndefined("there is no previous item");
    if (name == "nextitem")
        return index + 1 < size ? (*loop->items)[loop->index + 1] : makeUndefined("there is no next item");
    if (name == "cycle" || name == "changed")
        return std::make_shared<const Callable>(Callable{name, loop});
    return makeUndefined("'loop' has no attribute '" + name + "'");
}

Value missing(Meter &meter, const Value &value, const Value &key)
{
    const std::string type = typeName(value);
    if (textOf(key))
        return makeUndefined("'" + type + " object' has no attribute '" + textOf(key)->bytes() + "'");
    return makeUndefined("'" + type + " object' has no element " + toText(meter, key).bytes());
}

Value itemOf(const Call &call)
{
    const Value *found = find(call.meter, *dictOf(call.self), *call.value(0));
    return found ? *found : call.value(1) ? *call.value(1) : Value(None());
}

Value itemsOf(const Call &call)
{
    std::vector<Value> items;
    for (const auto &[key, value] : dictOf(call.self)->items)
        items.push_back(makeList(call.meter, {key, value}, List::Kind::Tuple));
    return makeList(call.meter, std::move(items), List::Kind::View);
}

Value keysOf(const Call &call)
{
    return makeList(call.meter, iterate(call.meter, call.self), List::Kind::View);
}

Value valuesOf(const Call &call)
{
    std::vector<Value> values;
    for (const auto &item : dictOf(call.self)->items)
        values.push_back(item.second);
    return makeList(call.meter, std::move(values), List::Kind::View);
}

Value cycle(const Call &call)
{
    const auto &loop = std::get<std::shared_ptr<const Loop>>(call.self);
    if (call.given.positional.empty())
        call.meter.fail("loop.cycle needs something to cycle through");
    return call.given.positional[loop->index % call.given.positional.size()];
}

} // namespace

Value attribute(Meter &meter, const Value &value, const std::string &name)
{
    requireDefined(meter, value);
    if (hasMethod(value, name))
        return std::make_shared<const Callable>(Callable{name, value});
    if (const auto *loop = std::get_if<std::shared_ptr<const Loop>>(&value))
        return loopAttribute(*loop, name);
    if (const auto *space = std::get_if<std::shared_ptr<Namespace>>(&value)) {
        const auto found = (*space)->values.find(name);
        if (found != (*space)->values.end())
            return found->second;
    } else if (const Dict *dict = dictOf(value)) {
        if (const Value *found = find(meter, *dict, makeText(name)))
            return *found;
    }
    return missing(meter, value, makeText(name));
}

Value element(Meter &meter, const Value &value, const Value &key)
{
    requireDefined(meter, value);
    const Text *name = textOf(key);
    if (const Dict *dict = dictOf(value)) {
        const Value *found = listOf(key) || dictOf(key) ? nullptr : find(meter, *dict, key);
        return found ? *found : name ? attribute(meter, value, name->bytes()) : missing(meter, value, key);
    }
    if (name)
        return attribute(meter, value, name->bytes());
    const auto index = integerOf(key);
    const List *list = listOf(value);
    if (!index || (!textOf(value) && (!list || list->kind == List::Kind::Generator)))
        return missing(meter, value, key);
    if (list) {
        const auto size = static_cast<std::int64_t>(list->items.size());
        const std::int64_t at = *index < 0 ? *index + size : *index;
        return at >= 0 && at < size ? list->items[static_cast<std::size_t>(at)] : missing(meter, value, key);
    }
    const Value end =
        *index == -1 ? Value(None()) : Value(*index < 0 ? *index + 1 : std::min(*index, INT64_MAX - 1) + 1);
    Value character = slice(meter, value, key, end, None());
    return textOf(character)->size() > 0 ? character : missing(meter, value, key);
}

std::span<const FunctionRow> dictMethods()
{
    static constexpr FunctionRow kRows[] = {
        {"get", "key default", 1, itemOf},
        {"items", "", 0, itemsOf},
        {"keys", "", 0, keysOf},
        {"values", "", 0, valuesOf},
    };
    return kRows;
}

std::span<const FunctionRow> loopMethods()
{
    static constexpr FunctionRow kRows[] = {{"cycle", "*", 0, cycle}};
    return kRows;
}

} // namespace lectern::jinja
