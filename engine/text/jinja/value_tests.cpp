// SPDX-License-Identifier: GPL-3.0-or-later
// Tests: what may follow `is`.
#include "engine/text/jinja/functions.h"
#include "engine/text/jinja/value_text.h"

namespace lectern::jinja {

namespace {

bool isKind(const Value &value, bool wanted)
{
    const bool *boolean = std::get_if<bool>(&value);
    return boolean && *boolean == wanted;
}

bool isNamespaceOrLoop(const Value &value)
{
    return std::holds_alternative<std::shared_ptr<Namespace>>(value) ||
           std::holds_alternative<std::shared_ptr<const Loop>>(value);
}

bool isIterable(const Value &value)
{
    return isUndefined(value) || textOf(value) || listOf(value) || dictOf(value) ||
           std::holds_alternative<std::shared_ptr<const Loop>>(value);
}

bool isGenerator(const Value &value)
{
    return listOf(value) && listOf(value)->kind == List::Kind::Generator;
}

Value remainder(const Call &call, const Value &divisor)
{
    return arithmetic(call.meter, "%", call.self, divisor);
}

template <std::int64_t rest>
Value leavesRest(const Call &call)
{
    return isEqual(call.meter, remainder(call, std::int64_t{2}), rest);
}

Value isDivisible(const Call &call)
{
    return isEqual(call.meter, remainder(call, *call.value(0)), std::int64_t{0});
}

Value isContained(const Call &call)
{
    return compare(call.meter, "in", call.self, *call.value(0));
}
Value isSame(const Call &call)
{
    return call.self == *call.value(0);
}
Value isDefined(const Call &call)
{
    return !isUndefined(call.self);
}
Value isNotDefined(const Call &call)
{
    return isUndefined(call.self);
}
Value isNoneValue(const Call &call)
{
    return isNone(call.self);
}
Value isBoolean(const Call &call)
{
    return std::holds_alternative<bool>(call.self);
}
Value isTrueValue(const Call &call)
{
    return isKind(call.self, true);
}
Value isFalseValue(const Call &call)
{
    return isKind(call.self, false);
}
Value isInteger(const Call &call)
{
    return std::holds_alternative<std::int64_t>(call.self);
}
Value isFloat(const Call &call)
{
    return std::holds_alternative<double>(call.self);
}
Value isNumber(const Call &call)
{
    return numberOf(call.self).has_value();
}
Value isString(const Call &call)
{
    return textOf(call.self) != nullptr;
}
Value isMapping(const Call &call)
{
    return dictOf(call.self) != nullptr;
}
Value isSequence(const Call &call)
{
    return isIterable(call.self) && !isNamespaceOrLoop(call.self) && !isGenerator(call.self);
}
Value isIterableValue(const Call &call)
{
    return isIterable(call.self);
}
Value isCallable(const Call &call)
{
    return std::holds_alternative<std::shared_ptr<const Callable>>(call.self);
}

constexpr char kEqual[] = "==";
constexpr char kNotEqual[] = "!=";
constexpr char kLess[] = "<";
constexpr char kLessEqual[] = "<=";
constexpr char kGreater[] = ">";
constexpr char kGreaterEqual[] = ">=";

template <const char *op>
Value comparesAs(const Call &call)
{
    return compare(call.meter, op, call.self, *call.value(0));
}

} // namespace

std::span<const FunctionRow> valueTests()
{
    static constexpr FunctionRow kRows[] = {
        {"defined", "", 0, isDefined},
        {"undefined", "", 0, isNotDefined},
        {"none", "", 0, isNoneValue},
        {"boolean", "", 0, isBoolean},
        {"true", "", 0, isTrueValue},
        {"false", "", 0, isFalseValue},
        {"integer", "", 0, isInteger},
        {"float", "", 0, isFloat},
        {"number", "", 0, isNumber},
        {"string", "", 0, isString},
        {"mapping", "", 0, isMapping},
        {"sequence", "", 0, isSequence},
        {"iterable", "", 0, isIterableValue},
        {"callable", "", 0, isCallable},
        {"even", "", 0, leavesRest<0>},
        {"odd", "", 0, leavesRest<1>},
        {"divisibleby", "num", 1, isDivisible},
        {"sameas", "other", 1, isSame},
        {"in", "seq", 1, isContained},
        {"eq", "other", 1, comparesAs<kEqual>},
        {"equalto", "other", 1, comparesAs<kEqual>},
        {"==", "other", 1, comparesAs<kEqual>},
        {"ne", "other", 1, comparesAs<kNotEqual>},
        {"!=", "other", 1, comparesAs<kNotEqual>},
        {"lt", "other", 1, comparesAs<kLess>},
        {"lessthan", "other", 1, comparesAs<kLess>},
        {"<", "other", 1, comparesAs<kLess>},
        {"le", "other", 1, comparesAs<kLessEqual>},
        {"<=", "other", 1, comparesAs<kLessEqual>},
        {"gt", "other", 1, comparesAs<kGreater>},
        {"greaterthan", "other", 1, comparesAs<kGreater>},
        {">", "other", 1, comparesAs<kGreater>},
        {"ge", "other", 1, comparesAs<kGreaterEqual>},
        {">=", "other", 1, comparesAs<kGreaterEqual>},
    };
    return kRows;
}

} // namespace lectern::jinja
