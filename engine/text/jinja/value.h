// SPDX-License-Identifier: GPL-3.0-or-later
// What a template computes with: Python's values as far as templates use them. Immutable but for namespaces, so values
// share what they hold. No value holds itself: namespaces and loops are never put into another value.
#pragma once

#include "engine/text/jinja/text.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lectern::jinja {

struct List;
struct Dict;
struct Namespace;
struct Loop;
struct Callable;

struct None
{
    bool operator==(const None &) const = default;
};

// Nothing there. Prints as nothing and counts as false; any other use fails with `why`.
struct Undefined
{
    std::shared_ptr<const std::string> why;
    bool operator==(const Undefined &) const { return true; }
};

// `==` on two Values compares identity, as Python's `is`; isEqual() compares what they hold.
using Value = std::variant<Undefined, None, bool, std::int64_t, double, std::shared_ptr<const Text>,
                           std::shared_ptr<const List>, std::shared_ptr<const Dict>, std::shared_ptr<Namespace>,
                           std::shared_ptr<const Loop>, std::shared_ptr<const Callable>>;

struct List
{
    // A view is what range(), keys(), values() and items() give: a list that Python prints in another way. A generator
    // has no length and is true even when empty.
    enum class Kind
    {
        List,
        Tuple,
        View,
        Generator
    };
    std::vector<Value> items;
    Kind kind = Kind::List;
    int depth = 1; // of lists and dicts in it
};

struct Dict
{
    std::vector<std::pair<Value, Value>> items; // in the order they were given; no key twice
    int depth = 1;
};

struct Namespace
{
    std::map<std::string, Value, std::less<>> values;
};

// `loop` inside {% for %}.
struct Loop
{
    std::shared_ptr<const std::vector<Value>> items;
    std::size_t index = 0; // from 0
};

// A function of the environment, or a method with the value that it belongs to.
struct Callable
{
    std::string name;
    Value self; // undefined for a function
};

Value makeUndefined(std::string why);
Value makeText(std::string bytes);
Value makeText(Text text);
Value makeList(Meter &meter, std::vector<Value> items, List::Kind kind = List::Kind::List);
// Later values of a key replace earlier ones. Refuses keys that Python cannot hash.
Value makeDict(Meter &meter, std::vector<std::pair<Value, Value>> items);

// Refuses what may not be put into another value, which would let values hold themselves.
void checkStorable(Meter &meter, const Value &value);

bool isUndefined(const Value &value);
bool isNone(const Value &value);
const Text *textOf(const Value &value); // nullptr for any other type, as the two below
const List *listOf(const Value &value);
const Dict *dictOf(const Value &value);

// Python's name of the type: "str", "list", "NoneType".
std::string typeName(const Value &value);

bool isTrue(const Value &value);
bool isEqual(Meter &meter, const Value &a, const Value &b);
const Value *find(Meter &meter, const Dict &dict, const Value &key);

// A whole number (a bool counts as 0 or 1), or nothing.
std::optional<std::int64_t> integerOf(const Value &value);
// Any number.
std::optional<double> numberOf(const Value &value);

// What {% for %} goes through: items, keys of a dict, characters of a text.
std::vector<Value> iterate(Meter &meter, const Value &value);

} // namespace lectern::jinja
