// SPDX-License-Identifier: GPL-3.0-or-later
// What templates can call: filters, tests, methods of strings, dicts and loops, and the environment's functions. Adding
// one is one row in the table of its file.
#pragma once

#include "engine/text/jinja/value.h"

#include <span>
#include <string_view>

namespace lectern::jinja {

struct Arguments
{
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> named;
};

struct FunctionRow;

// One call with its arguments in the order of the parameters.
class Call
{
public:
    // Refuses unknown, doubled and missing arguments.
    Call(Meter &callMeter, const FunctionRow &row, const Value &callSelf, const Arguments &arguments);

    Meter &meter;
    const Value &self;      // the filtered or tested value, or the owner of the method
    const Arguments &given; // as written, for rows that take any

    const Value *value(std::size_t parameter) const; // nullptr: not given
    // These refuse values of another type.
    const Text &text(std::size_t parameter) const;
    std::optional<std::string_view> optionalText(std::size_t parameter) const; // nothing also for none
    std::int64_t integer(std::size_t parameter, std::int64_t otherwise) const;
    bool flag(std::size_t parameter, bool otherwise) const;

    Text selfText() const;       // self as it would be printed
    const Text &ownText() const; // self, which is a string

private:
    std::vector<const Value *> m_values;
    std::string_view m_name;
};

struct FunctionRow
{
    std::string_view name;
    std::string_view parameters; // names with a space between; "*": any arguments
    std::size_t required;        // how many of them must be given
    Value (*call)(const Call &call);
};

const FunctionRow *findRow(std::span<const FunctionRow> rows, std::string_view name);

std::span<const FunctionRow> textFilters();
std::span<const FunctionRow> listFilters();
std::span<const FunctionRow> valueTests();
std::span<const FunctionRow> textMethods();
std::span<const FunctionRow> dictMethods();
std::span<const FunctionRow> loopMethods();
std::span<const FunctionRow> globals();

bool isFilter(std::string_view name);
bool isTest(std::string_view name);
Value applyFilter(Meter &meter, std::string_view name, const Value &value, const Arguments &arguments);
bool applyTest(Meter &meter, std::string_view name, const Value &value, const Arguments &arguments);

// value.name and value[key]; what is not there is undefined. Methods come first for `.`, last for `[]`.
Value attribute(Meter &meter, const Value &value, const std::string &name);
Value element(Meter &meter, const Value &value, const Value &key);
// Python's name for what value.name() calls, if strings, dicts or loops have such a method at all.
Value callMethod(Meter &meter, const Callable &method, const Arguments &arguments);

// `name` is one of + - * / // % **.
Value arithmetic(Meter &meter, const std::string &name, const Value &a, const Value &b);
// `name` is one of == != < <= > >= in, "not in".
bool compare(Meter &meter, const std::string &name, const Value &a, const Value &b);
Value slice(Meter &meter, const Value &value, const Value &start, const Value &stop, const Value &step);

// An operand that is not there ends the render with what is missing.
void requireDefined(Meter &meter, const Value &value);

} // namespace lectern::jinja
