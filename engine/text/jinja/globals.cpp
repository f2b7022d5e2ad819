// SPDX-License-Identifier: GPL-3.0-or-later
// Functions of the environment.
#include "engine/text/jinja/functions.h"

namespace lectern::jinja {

namespace {

// range(stop), range(start, stop), range(start, stop, step).
Value range(const Call &call)
{
    const bool hasStart = call.value(1) != nullptr;
    const std::int64_t start = hasStart ? call.integer(0, 0) : 0;
    const std::int64_t stop = call.integer(hasStart ? 1 : 0, 0);
    const std::int64_t step = call.integer(2, 1);
    if (step == 0)
        call.meter.fail("range() arg 3 must not be zero");
    std::vector<Value> numbers;
    for (std::int64_t i = start; step > 0 ? i < stop : i > stop;) {
        if (static_cast<std::int64_t>(numbers.size()) == kMaxRangeItems)
            call.meter.fail("a range has more than " + std::to_string(kMaxRangeItems) + " numbers");
        numbers.push_back(i);
        if (__builtin_add_overflow(i, step, &i))
            break;
    }
    return makeList(call.meter, std::move(numbers), List::Kind::View);
}

// The items of a mapping, if one is given, then the named arguments.
std::vector<std::pair<Value, Value>> itemsOf(const Call &call)
{
    std::vector<std::pair<Value, Value>> items;
    for (const Value &mapping : call.given.positional) {
        const Dict *dict = dictOf(mapping);
        if (!dict || call.given.positional.size() > 1)
            call.meter.failUnsupported("An argument without a name that is not one mapping");
        items = dict->items;
    }
    for (const auto &[name, value] : call.given.named)
        items.emplace_back(makeText(name), value);
    return items;
}

Value dict(const Call &call)
{
    return makeDict(call.meter, itemsOf(call));
}

Value makeNamespace(const Call &call)
{
    auto space = std::make_shared<Namespace>();
    for (auto &[name, value] : itemsOf(call)) {
        checkStorable(call.meter, value);
        if (textOf(name))
            space->values[textOf(name)->bytes()] = value;
    }
    return space;
}

} // namespace

std::span<const FunctionRow> globals()
{
    static constexpr FunctionRow kRows[] = {
        {"range", "start stop step", 1, range},
        {"dict", "*", 0, dict},
        {"namespace", "*", 0, makeNamespace},
    };
    return kRows;
}

} // namespace lectern::jinja
