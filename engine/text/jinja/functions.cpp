// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/jinja/functions.h"

#include "engine/text/jinja/value_text.h"

#include <algorithm>

namespace lectern::jinja {

namespace {

std::vector<std::string_view> parametersOf(const FunctionRow &row)
{
    std::vector<std::string_view> names;
    for (std::string_view rest = row.parameters; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        names.push_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return names;
}

} // namespace

Call::Call(Meter &callMeter, const FunctionRow &row, const Value &callSelf, const Arguments &arguments)
    : meter(callMeter)
    , self(callSelf)
    , given(arguments)
    , m_name(row.name)
{
    if (row.parameters == "*")
        return;
    const std::vector<std::string_view> names = parametersOf(row);
    const std::string what = "'" + std::string(row.name) + "' ";
    if (arguments.positional.size() > names.size())
        meter.fail(what + "takes at most " + std::to_string(names.size()) + " arguments, not " +
                   std::to_string(arguments.positional.size()));
    m_values.resize(names.size());
    for (std::size_t i = 0; i < arguments.positional.size(); ++i)
        m_values[i] = &arguments.positional[i];
    for (const auto &[name, argument] : arguments.named) {
        const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
        if (at == names.size())
            meter.fail(what + "has no argument '" + name + "'");
        if (m_values[at])
            meter.fail(what + "got the argument '" + name + "' twice");
        m_values[at] = &argument;
    }
    for (std::size_t i = 0; i < row.required; ++i)
        if (!m_values[i])
            meter.fail(what + "needs the argument '" + std::string(names[i]) + "'");
}

const Value *Call::value(std::size_t parameter) const
{
    return m_values[parameter];
}

const Text &Call::text(std::size_t parameter) const
{
    const Text *text = value(parameter) ? textOf(*value(parameter)) : nullptr;
    if (!text)
        meter.fail("'" + std::string(m_name) + "' needs a string, not " +
                   (value(parameter) ? typeName(*value(parameter)) : "nothing"));
    return *text;
}

std::optional<std::string_view> Call::optionalText(std::size_t parameter) const
{
    if (!value(parameter) || isNone(*value(parameter)))
        return std::nullopt;
    return text(parameter).bytes();
}

std::int64_t Call::integer(std::size_t parameter, std::int64_t otherwise) const
{
    if (!value(parameter))
        return otherwise;
    const auto integer = integerOf(*value(parameter));
    if (!integer)
        meter.fail("'" + std::string(m_name) + "' needs a whole number, not " + typeName(*value(parameter)));
    return *integer;
}

bool Call::flag(std::size_t parameter, bool otherwise) const
{
    return value(parameter) ? isTrue(*value(parameter)) : otherwise;
}

Text Call::selfText() const
{
    return toText(meter, self);
}

const Text &Call::ownText() const
{
    return *textOf(self);
}

const FunctionRow *findRow(std::span<const FunctionRow> rows, std::string_view name)
{
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const FunctionRow &r) { return r.name == name; });
    return row == rows.end() ? nullptr : &*row;
}

namespace {

const FunctionRow *findFilter(std::string_view name)
{
    const FunctionRow *row = findRow(textFilters(), name);
    return row ? row : findRow(listFilters(), name);
}

} // namespace

bool isFilter(std::string_view name)
{
    return findFilter(name) != nullptr;
}
bool isTest(std::string_view name)
{
    return findRow(valueTests(), name) != nullptr;
}

Value applyFilter(Meter &meter, std::string_view name, const Value &value, const Arguments &arguments)
{
    meter.step();
    const FunctionRow *row = findFilter(name);
    if (!row)
        meter.failUnsupported("The filter '" + std::string(name) + "'");
    return row->call(Call(meter, *row, value, arguments));
}

bool applyTest(Meter &meter, std::string_view name, const Value &value, const Arguments &arguments)
{
    meter.step();
    const FunctionRow *row = findRow(valueTests(), name);
    if (!row)
        meter.failUnsupported("The test '" + std::string(name) + "'");
    return isTrue(row->call(Call(meter, *row, value, arguments)));
}

void requireDefined(Meter &meter, const Value &value)
{
    if (const auto *undefined = std::get_if<Undefined>(&value))
        meter.fail(undefined->why ? *undefined->why : "a value is undefined");
}

Value callMethod(Meter &meter, const Callable &method, const Arguments &arguments)
{
    meter.step();
    const bool isText = textOf(method.self) != nullptr;
    const bool isDict = dictOf(method.self) != nullptr;
    const bool isFunction = isUndefined(method.self);
    const std::span<const FunctionRow> rows = isText       ? textMethods()
                                              : isDict     ? dictMethods()
                                              : isFunction ? globals()
                                                           : loopMethods();
    const FunctionRow *row = findRow(rows, method.name);
    if (!row)
        meter.failUnsupported("The method '" + method.name + "' of a " + typeName(method.self));
    return row->call(Call(meter, *row, method.self, arguments));
}

} // namespace lectern::jinja
