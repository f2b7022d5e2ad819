// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/jinja/value.h"

#include <algorithm>

namespace lectern::jinja {

namespace {

template <class T>
const T *pointee(const Value &value)
{
    const auto *held = std::get_if<std::shared_ptr<const T>>(&value);
    return held ? held->get() : nullptr;
}

int depthOf(Meter &meter, const Value &value)
{
    if (std::holds_alternative<std::shared_ptr<Namespace>>(value) ||
        std::holds_alternative<std::shared_ptr<const Loop>>(value))
        meter.failUnsupported("A " + typeName(value) + " inside another value");
    if (const auto *callable = pointee<Callable>(value))
        return depthOf(meter, callable->self);
    if (const List *list = listOf(value))
        return list->depth;
    const Dict *dict = dictOf(value);
    return dict ? dict->depth : 0;
}

int depthAround(Meter &meter, int inner)
{
    if (inner >= kMaxNesting)
        meter.fail("lists and dicts are nested more than " + std::to_string(kMaxNesting) + " deep");
    return inner + 1;
}

} // namespace

Value makeUndefined(std::string why)
{
    return Undefined{std::make_shared<const std::string>(std::move(why))};
}

Value makeText(std::string bytes)
{
    return std::make_shared<const Text>(std::move(bytes));
}

Value makeText(Text text)
{
    return std::make_shared<const Text>(std::move(text));
}

Value makeList(Meter &meter, std::vector<Value> items, List::Kind kind)
{
    meter.step(items.size());
    int depth = 0;
    for (const Value &item : items)
        depth = std::max(depth, depthOf(meter, item));
    return std::make_shared<const List>(List{std::move(items), kind, depthAround(meter, depth)});
}

Value makeDict(Meter &meter, std::vector<std::pair<Value, Value>> items)
{
    Dict dict;
    int depth = 0;
    for (auto &[key, value] : items) {
        const List *list = listOf(key);
        if (dictOf(key) || (list && list->kind != List::Kind::Tuple))
            meter.fail("unhashable type: '" + typeName(key) + "'");
        depth = std::max({depth, depthOf(meter, key), depthOf(meter, value)});
        meter.step(1 + dict.items.size() / 8);
        const auto same = std::find_if(dict.items.begin(), dict.items.end(),
                                       [&](const auto &item) { return isEqual(meter, item.first, key); });
        if (same != dict.items.end())
            same->second = std::move(value);
        else
            dict.items.emplace_back(std::move(key), std::move(value));
    }
    dict.depth = depthAround(meter, depth);
    return std::make_shared<const Dict>(std::move(dict));
}

void checkStorable(Meter &meter, const Value &value)
{
    depthOf(meter, value);
}

bool isUndefined(const Value &value)
{
    return std::holds_alternative<Undefined>(value);
}
bool isNone(const Value &value)
{
    return std::holds_alternative<None>(value);
}
const Text *textOf(const Value &value)
{
    return pointee<Text>(value);
}
const List *listOf(const Value &value)
{
    return pointee<List>(value);
}
const Dict *dictOf(const Value &value)
{
    return pointee<Dict>(value);
}

std::string typeName(const Value &value)
{
    struct Namer
    {
        std::string operator()(const Undefined &) const { return "Undefined"; }
        std::string operator()(None) const { return "NoneType"; }
        std::string operator()(bool) const { return "bool"; }
        std::string operator()(std::int64_t) const { return "int"; }
        std::string operator()(double) const { return "float"; }
        std::string operator()(const std::shared_ptr<const Text> &) const { return "str"; }
        std::string operator()(const std::shared_ptr<const List> &list) const
        {
            const char *names[] = {"list", "tuple", "view", "generator"};
            return names[static_cast<int>(list->kind)];
        }
        std::string operator()(const std::shared_ptr<const Dict> &) const { return "dict"; }
        std::string operator()(const std::shared_ptr<Namespace> &) const { return "namespace"; }
        std::string operator()(const std::shared_ptr<const Loop> &) const { return "loop"; }
        std::string operator()(const std::shared_ptr<const Callable> &) const { return "function"; }
    };
    return std::visit(Namer{}, value);
}

bool isTrue(const Value &value)
{
    if (const bool *boolean = std::get_if<bool>(&value))
        return *boolean;
    if (const auto number = numberOf(value))
        return *number != 0;
    if (const Text *text = textOf(value))
        return text->size() > 0;
    if (const List *list = listOf(value))
        return list->kind == List::Kind::Generator || !list->items.empty();
    if (const Dict *dict = dictOf(value))
        return !dict->items.empty();
    return !isUndefined(value) && !isNone(value);
}

std::optional<std::int64_t> integerOf(const Value &value)
{
    if (const auto *integer = std::get_if<std::int64_t>(&value))
        return *integer;
    if (const bool *boolean = std::get_if<bool>(&value))
        return *boolean ? 1 : 0;
    return std::nullopt;
}

std::optional<double> numberOf(const Value &value)
{
    if (const double *number = std::get_if<double>(&value))
        return *number;
    const auto integer = integerOf(value);
    return integer ? std::optional(static_cast<double>(*integer)) : std::nullopt;
}

bool isEqual(Meter &meter, const Value &a, const Value &b)
{
    meter.step();
    const auto x = integerOf(a);
    const auto y = integerOf(b);
    if (x && y)
        return *x == *y;
    if (const auto left = numberOf(a), right = numberOf(b); left && right)
        return *left == *right;
    if (a.index() != b.index())
        return false;
    if (const Text *text = textOf(a)) {
        meter.work(text->size());
        return text->bytes() == textOf(b)->bytes();
    }
    if (const List *list = listOf(a)) {
        const List *other = listOf(b);
        return list == other ||
               (list->kind == other->kind && list->kind != List::Kind::Generator &&
                std::equal(list->items.begin(), list->items.end(), other->items.begin(), other->items.end(),
                           [&](const Value &left, const Value &right) { return isEqual(meter, left, right); }));
    }
    if (const Dict *dict = dictOf(a)) {
        const Dict *other = dictOf(b);
        return dict == other || (dict->items.size() == other->items.size() &&
                                 std::all_of(dict->items.begin(), dict->items.end(), [&](const auto &item) {
                                     const Value *value = find(meter, *other, item.first);
                                     return value && isEqual(meter, item.second, *value);
                                 }));
    }
    return a == b;
}

const Value *find(Meter &meter, const Dict &dict, const Value &key)
{
    meter.step(1 + dict.items.size() / 8);
    for (const auto &[name, value] : dict.items)
        if (isEqual(meter, name, key))
            return &value;
    return nullptr;
}

std::vector<Value> iterate(Meter &meter, const Value &value)
{
    std::vector<Value> items;
    if (const List *list = listOf(value)) {
        meter.step(list->items.size());
        return list->items;
    }
    if (const Dict *dict = dictOf(value)) {
        for (const auto &item : dict->items)
            items.push_back(item.first);
    } else if (const Text *text = textOf(value)) {
        for (Text &character : characters(meter, *text))
            items.push_back(makeText(std::move(character)));
    } else if (!isUndefined(value)) {
        meter.fail("'" + typeName(value) + "' object is not iterable");
    }
    return items;
}

} // namespace lectern::jinja
