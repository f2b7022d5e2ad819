// SPDX-License-Identifier: GPL-3.0-or-later
// Python's arithmetic and comparisons on the values that templates use.
#include "engine/base/utf8.h"
#include "engine/text/jinja/functions.h"
#include "engine/text/jinja/value_text.h"

#include <algorithm>
#include <cmath>

namespace lectern::jinja {

namespace {

[[noreturn]] void failOperands(Meter &meter, const std::string &name, const Value &a, const Value &b)
{
    meter.fail("unsupported operand types for " + name + ": '" + typeName(a) + "' and '" + typeName(b) + "'");
}

[[noreturn]] void failTooLarge(Meter &meter)
{
    meter.fail("a whole number is beyond 64 bits");
}

std::int64_t floorQuotient(std::int64_t a, std::int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

Value integerPower(Meter &meter, std::int64_t base, std::int64_t exponent)
{
    if (exponent < 0) {
        if (base == 0)
            meter.fail("0 cannot be raised to a negative power");
        return std::pow(static_cast<double>(base), static_cast<double>(exponent));
    }
    std::int64_t result = 1;
    if (base == 0 || base == 1 || base == -1)
        return exponent == 0 ? 1 : base == -1 && exponent % 2 == 0 ? std::int64_t{1} : base;
    for (; exponent > 0; --exponent) // at most 63 turns before it overflows
        if (__builtin_mul_overflow(result, base, &result))
            failTooLarge(meter);
    return result;
}

Value integers(Meter &meter, const std::string &name, std::int64_t a, std::int64_t b)
{
    std::int64_t result = 0;
    if ((name == "/" || name == "//" || name == "%") && b == 0)
        meter.fail("division by zero");
    if (name == "/")
        return static_cast<double>(a) / static_cast<double>(b);
    if (name == "**")
        return integerPower(meter, a, b);
    if ((name == "//" || name == "%") && b == -1) // the one quotient that may overflow
        return name == "%" ? Value(std::int64_t{0}) : integers(meter, "-", 0, a);
    if (name == "//")
        return floorQuotient(a, b);
    if (name == "%")
        return a - floorQuotient(a, b) * b;
    const bool overflows = name == "+"   ? __builtin_add_overflow(a, b, &result)
                           : name == "-" ? __builtin_sub_overflow(a, b, &result)
                                         : __builtin_mul_overflow(a, b, &result);
    if (overflows)
        failTooLarge(meter);
    return result;
}

Value floats(Meter &meter, const std::string &name, double a, double b)
{
    if ((name == "/" || name == "//" || name == "%") && b == 0)
        meter.fail("division by zero");
    if (name == "+")
        return a + b;
    if (name == "-")
        return a - b;
    if (name == "*")
        return a * b;
    if (name == "/")
        return a / b;
    if (name == "//")
        return std::floor(a / b);
    if (name == "**")
        return std::pow(a, b);
    const double rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Value repeatedList(Meter &meter, const List &list, std::int64_t times)
{
    std::vector<Value> items;
    for (std::int64_t i = 0; i < times && !list.items.empty(); ++i) {
        meter.step(list.items.size());
        items.insert(items.end(), list.items.begin(), list.items.end());
    }
    return makeList(meter, std::move(items), list.kind);
}

// -1, 0, 1; nothing if Python has no order for the two.
std::optional<int> order(Meter &meter, const Value &a, const Value &b)
{
    meter.step();
    const auto sign = [](const auto &x, const auto &y) { return x < y ? -1 : y < x ? 1 : 0; };
    if (const auto x = integerOf(a), y = integerOf(b); x && y)
        return sign(*x, *y);
    if (const auto x = numberOf(a), y = numberOf(b); x && y)
        return sign(*x, *y);
    if (textOf(a) && textOf(b)) {
        meter.work(std::min(textOf(a)->size(), textOf(b)->size()));
        return sign(textOf(a)->bytes(), textOf(b)->bytes()); // UTF-8 sorts as its code points do
    }
    const List *x = listOf(a);
    const List *y = listOf(b);
    if (!x || !y || x->kind != y->kind || x->kind == List::Kind::Generator)
        return std::nullopt;
    for (std::size_t i = 0; i < std::min(x->items.size(), y->items.size()); ++i)
        if (!isEqual(meter, x->items[i], y->items[i]))
            return order(meter, x->items[i], y->items[i]);
    return sign(x->items.size(), y->items.size());
}

bool contains(Meter &meter, const Value &container, const Value &item)
{
    if (const Text *text = textOf(container)) {
        const Text *part = textOf(item);
        requireDefined(meter, item);
        if (!part)
            meter.fail("'in <string>' needs a string on its left, not " + typeName(item));
        meter.work(text->size());
        return text->bytes().find(part->bytes()) != std::string::npos;
    }
    if (const Dict *dict = dictOf(container))
        return find(meter, *dict, item) != nullptr;
    if (const List *list = listOf(container))
        return std::any_of(list->items.begin(), list->items.end(),
                           [&](const Value &other) { return isEqual(meter, other, item); });
    if (!isUndefined(container))
        meter.fail("argument of type '" + typeName(container) + "' is not iterable");
    return false;
}

} // namespace

Value arithmetic(Meter &meter, const std::string &name, const Value &a, const Value &b)
{
    requireDefined(meter, a);
    requireDefined(meter, b);
    if (const auto x = integerOf(a), y = integerOf(b); x && y)
        return integers(meter, name, *x, *y);
    if (const auto x = numberOf(a), y = numberOf(b); x && y)
        return floats(meter, name, *x, *y);
    if (name == "+" && textOf(a) && textOf(b)) {
        const std::size_t size = textOf(a)->size() + textOf(b)->size();
        meter.checkTextSize(size);
        meter.work(size);
        Text sum = *textOf(a);
        sum.append(*textOf(b));
        return makeText(std::move(sum));
    }
    if (name == "+" && listOf(a) && listOf(b) && listOf(a)->kind == listOf(b)->kind) {
        std::vector<Value> items = iterate(meter, a);
        items.insert(items.end(), listOf(b)->items.begin(), listOf(b)->items.end());
        return makeList(meter, std::move(items), listOf(a)->kind);
    }
    if (name == "*") {
        const Value &many = integerOf(a) ? b : a;
        if (const auto times = integerOf(integerOf(a) ? a : b)) {
            if (textOf(many))
                return makeText(repeated(meter, *textOf(many), *times));
            if (listOf(many) && listOf(many)->kind != List::Kind::Generator)
                return repeatedList(meter, *listOf(many), *times);
        }
    }
    if (name == "%" && textOf(a))
        meter.failUnsupported("Formatting with '%'");
    if (name == "+" && textOf(a))
        meter.fail("can only concatenate str (not \"" + typeName(b) + "\") to str");
    failOperands(meter, name, a, b);
}

bool compare(Meter &meter, const std::string &name, const Value &a, const Value &b)
{
    if (name == "==" || name == "!=")
        return isEqual(meter, a, b) == (name == "==");
    if (name == "in" || name == "not in")
        return contains(meter, b, a) == (name == "in");
    requireDefined(meter, a);
    requireDefined(meter, b);
    if (const auto x = numberOf(a), y = numberOf(b); x && y && (std::isnan(*x) || std::isnan(*y)))
        return false;
    const auto ordered = order(meter, a, b);
    if (!ordered)
        meter.fail("'" + name + "' not supported between instances of '" + typeName(a) + "' and '" + typeName(b) + "'");
    return name == "<" ? *ordered < 0 : name == "<=" ? *ordered <= 0 : name == ">" ? *ordered > 0 : *ordered >= 0;
}

Value slice(Meter &meter, const Value &value, const Value &start, const Value &stop, const Value &step)
{
    requireDefined(meter, value);
    const Text *text = textOf(value);
    const List *list = listOf(value);
    if (!text && (!list || list->kind == List::Kind::Generator))
        return makeUndefined("a '" + typeName(value) + "' object cannot be sliced");

    const auto bound = [&](const Value &given, std::int64_t otherwise) {
        requireDefined(meter, given);
        if (!isNone(given) && !integerOf(given))
            meter.fail("slice indices must be whole numbers, not " + typeName(given));
        return isNone(given) ? otherwise : *integerOf(given);
    };
    if (text)
        meter.work(4 * text->size());
    const auto size = static_cast<std::int64_t>(text ? characterCount(text->bytes()) : list->items.size());
    constexpr std::int64_t kFar = std::int64_t{1} << 40; // farther than any text is long
    const std::int64_t by = std::clamp(bound(step, 1), -kFar, kFar);
    if (by == 0)
        meter.fail("slice step cannot be zero");
    const auto clipped = [&](std::int64_t at) {
        if (at < 0)
            at = std::max<std::int64_t>(at + size, by > 0 ? 0 : -1);
        return std::min(at, by > 0 ? size : size - 1);
    };
    const std::int64_t none = by > 0 ? size : -1; // where an open end lies; below 0 only as such
    const std::int64_t from = isNone(start) ? (by > 0 ? 0 : size - 1) : clipped(bound(start, 0));
    const std::int64_t to = isNone(stop) ? none : clipped(bound(stop, 0));

    std::vector<Value> items;
    Text part;
    if (text && by == 1) { // the usual one, in one piece
        std::size_t begin = 0;
        std::int64_t index = 0;
        for (; index < from; ++index)
            begin += codePointAt(text->bytes(), begin).bytes;
        std::size_t end = begin;
        for (; index < to; ++index)
            end += codePointAt(text->bytes(), end).bytes;
        return makeText(text->part(begin, end));
    }
    const std::vector<Text> single = text ? characters(meter, *text) : std::vector<Text>();
    for (std::int64_t i = from; by > 0 ? i < to : i > to; i += by) {
        meter.step();
        if (text)
            part.append(single[static_cast<std::size_t>(i)]);
        else
            items.push_back(list->items[static_cast<std::size_t>(i)]);
        if ((by > 0 && i > size - by) || (by < 0 && i < -by - 1)) // the next one would be outside, or overflow
            break;
    }
    return text ? makeText(std::move(part)) : makeList(meter, std::move(items), list->kind);
}

} // namespace lectern::jinja
