// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the interpreter that computes expressions.
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/value_text.h"

namespace lectern::jinja {

using Kind = Expression::Kind;

namespace {

constexpr std::string_view kRaise = "raise_exception";

} // namespace

Value Interpreter::lookUp(const std::string &name) const
{
    for (auto scope = m_scopes.rbegin(); scope != m_scopes.rend(); ++scope)
        if (const auto found = scope->find(name); found != scope->end())
            return found->second;
    if (name == kRaise || findRow(globals(), name))
        return std::make_shared<const Callable>(Callable{name, Undefined()});
    return makeUndefined("'" + name + "' is undefined");
}

std::vector<Value> Interpreter::evaluateAll(const std::vector<ExpressionPtr> &expressions)
{
    std::vector<Value> values;
    for (const ExpressionPtr &expression : expressions)
        values.push_back(expression ? evaluate(*expression) : Value(None()));
    return values;
}

void Interpreter::noteMessage(const Value &value)
{
    const Dict *dict = dictOf(value);
    if (dict && m_messages.contains(dict))
        m_lastMessage = dict;
}

Value Interpreter::evaluate(const Expression &expression)
{
    m_meter.at = expression.at;
    m_meter.step();
    const auto child = [&](std::size_t i) { return evaluate(*expression.children[i]); };
    switch (expression.kind) {
    case Kind::Constant:
        return expression.constant;
    case Kind::Piped:
        return m_piped;
    case Kind::Name:
        return lookUp(expression.name);
    case Kind::Not:
        return !isTrue(child(0));
    case Kind::And: {
        Value left = child(0);
        return isTrue(left) ? child(1) : left;
    }
    case Kind::Or: {
        Value left = child(0);
        return isTrue(left) ? left : child(1);
    }
    case Kind::Conditional:
        if (isTrue(child(1)))
            return child(0);
        return expression.children[2]
                   ? child(2)
                   : makeUndefined("the inline if-expression evaluated to false and no else was given");
    case Kind::Compare:
        return compareAll(expression);
    case Kind::Concat:
        return concatenate(expression);
    case Kind::Call:
        return call(expression);
    default:
        break;
    }

    const std::vector<Value> values = evaluateAll(expression.children);
    m_meter.at = expression.at;
    switch (expression.kind) {
    case Kind::List:
        return makeList(m_meter, values);
    case Kind::Tuple:
        return makeList(m_meter, values, List::Kind::Tuple);
    case Kind::Dict: {
        std::vector<std::pair<Value, Value>> items;
        for (std::size_t i = 0; i + 1 < values.size(); i += 2)
            items.emplace_back(values[i], values[i + 1]);
        return makeDict(m_meter, std::move(items));
    }
    case Kind::Negate:
    case Kind::Plus:
        if (textOf(values[0]) || listOf(values[0]))
            m_meter.fail("bad operand type for unary " + std::string(expression.kind == Kind::Plus ? "+" : "-") +
                         ": '" + typeName(values[0]) + "'");
        return expression.kind == Kind::Negate && std::holds_alternative<double>(values[0])
                   ? Value(-std::get<double>(values[0])) // keeps -0.0
                   : arithmetic(m_meter, expression.kind == Kind::Negate ? "-" : "+", std::int64_t{0}, values[0]);
    case Kind::Arithmetic:
        return arithmetic(m_meter, expression.name, values[0], values[1]);
    case Kind::Attribute:
        noteMessage(values[0]);
        return attribute(m_meter, values[0], expression.name);
    case Kind::Index:
        noteMessage(values[0]);
        return element(m_meter, values[0], values[1]);
    case Kind::Slice:
        return slice(m_meter, values[0], values[1], values[2], values[3]);
    case Kind::Filter:
    case Kind::Test: {
        const Arguments arguments = argumentsOf(expression);
        m_meter.at = expression.at;
        return expression.kind == Kind::Filter ? applyFilter(m_meter, expression.name, values[0], arguments)
                                               : Value(applyTest(m_meter, expression.name, values[0], arguments));
    }
    default:
        return Undefined();
    }
}

Value Interpreter::compareAll(const Expression &expression)
{
    Value left = evaluate(*expression.children[0]);
    for (std::size_t i = 0; i < expression.operators.size(); ++i) {
        Value right = evaluate(*expression.children[i + 1]);
        m_meter.at = expression.at;
        if (!compare(m_meter, expression.operators[i], left, right))
            return false;
        left = std::move(right);
    }
    return true;
}

Value Interpreter::concatenate(const Expression &expression)
{
    Text joined;
    for (const ExpressionPtr &part : expression.children) {
        const Value value = evaluate(*part);
        m_meter.at = expression.at;
        const Text text = toText(m_meter, value);
        m_meter.checkTextSize(joined.size() + text.size());
        m_meter.work(text.size());
        joined.append(text);
    }
    return makeText(std::move(joined));
}

// Arguments of a call, filter or test: all children but the first, and the named ones.
Arguments Interpreter::argumentsOf(const Expression &expression)
{
    Arguments arguments;
    for (std::size_t i = 1; i < expression.children.size(); ++i)
        arguments.positional.push_back(evaluate(*expression.children[i]));
    for (const NamedArgument &argument : expression.named)
        arguments.named.emplace_back(argument.name, evaluate(*argument.value));
    m_meter.at = expression.at;
    return arguments;
}

Value Interpreter::call(const Expression &expression)
{
    const Value callee = evaluate(*expression.children[0]);
    m_meter.at = expression.at;
    requireDefined(m_meter, callee);
    const auto *callable = std::get_if<std::shared_ptr<const Callable>>(&callee);
    if (!callable)
        m_meter.fail("'" + typeName(callee) + "' object is not callable");
    if ((*callable)->name == kRaise && isUndefined((*callable)->self))
        raise(expression);
    return callMethod(m_meter, **callable, argumentsOf(expression));
}

} // namespace lectern::jinja
