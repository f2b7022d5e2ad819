// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/jinja/interpreter.h"

#include "engine/text/jinja/value_text.h"

#include <utility>

namespace lectern::jinja {

Interpreter::Interpreter(Scope variables, const List &messages)
{
    m_scopes.push_back(std::move(variables));
    m_scopes.emplace_back();
    for (std::size_t i = 0; i < messages.items.size(); ++i)
        m_messages.emplace(dictOf(messages.items[i]), i);
}

Text Interpreter::render(const Body &body)
{
    run(body);
    return std::move(m_output);
}

void Interpreter::print(const Text &text)
{
    m_meter.checkTextSize(m_output.size() + text.size());
    m_meter.work(text.size());
    m_output.append(text);
}

Interpreter::Flow Interpreter::run(const Body &body)
{
    for (const Statement &statement : body)
        if (const Flow flow = run(statement); flow != Flow::Next)
            return flow;
    return Flow::Next;
}

Interpreter::Flow Interpreter::run(const Statement &statement)
{
    m_meter.at = statement.at;
    m_meter.step();
    switch (statement.kind) {
    case Statement::Kind::Data:
        print(Text(statement.text));
        break;
    case Statement::Kind::Output: {
        const Value value = evaluate(*statement.expression);
        m_meter.at = statement.at;
        print(toText(m_meter, value));
        break;
    }
    case Statement::Kind::If:
        for (const Branch &branch : statement.branches)
            if (!branch.condition || isTrue(evaluate(*branch.condition)))
                return run(branch.body);
        break;
    case Statement::Kind::For:
        return runFor(statement);
    case Statement::Kind::Set:
        assign(statement.target, evaluate(*statement.expression));
        break;
    case Statement::Kind::SetBlock:
        m_piped = makeText(collect(statement.branches[0].body));
        assign(statement.target, statement.expression ? evaluate(*statement.expression) : m_piped);
        break;
    case Statement::Kind::Filter:
        m_piped = makeText(collect(statement.branches[0].body));
        print(toText(m_meter, evaluate(*statement.expression)));
        break;
    case Statement::Kind::Plain:
        return run(statement.branches[0].body);
    case Statement::Kind::Break:
        return Flow::Break;
    case Statement::Kind::Continue:
        return Flow::Continue;
    }
    return Flow::Next;
}

Text Interpreter::collect(const Body &body)
{
    Text outer = std::exchange(m_output, Text());
    m_scopes.emplace_back();
    run(body);
    m_scopes.pop_back();
    return std::exchange(m_output, std::move(outer));
}

// Every turn has a scope of its own: what it sets is gone in the next one, as in Jinja2.
Interpreter::Flow Interpreter::runFor(const Statement &statement)
{
    const Value sequence = evaluate(*statement.expression);
    m_meter.at = statement.at;
    auto items = std::make_shared<std::vector<Value>>(iterate(m_meter, sequence));
    if (statement.condition) {
        std::vector<Value> kept;
        for (const Value &item : *items) {
            m_scopes.emplace_back();
            assign(statement.target, item);
            if (isTrue(evaluate(*statement.condition)))
                kept.push_back(item);
            m_scopes.pop_back();
        }
        *items = std::move(kept);
    }
    if (items->empty())
        return run(statement.branches[1].body);

    for (std::size_t i = 0; i < items->size(); ++i) {
        m_meter.at = statement.at;
        m_meter.step();
        m_scopes.emplace_back();
        m_loopItems.push_back((*items)[i]);
        m_scopes.back()["loop"] = std::make_shared<const Loop>(Loop{items, i});
        assign(statement.target, (*items)[i]);
        const Flow flow = run(statement.branches[0].body);
        m_loopItems.pop_back();
        m_scopes.pop_back();
        if (flow == Flow::Break)
            break;
    }
    return Flow::Next;
}

void Interpreter::assign(const Target &target, const Value &value)
{
    m_meter.at = target.at;
    if (!target.attribute.empty()) {
        const Value space = lookUp(target.names[0]);
        requireDefined(m_meter, space);
        if (!std::holds_alternative<std::shared_ptr<Namespace>>(space))
            m_meter.fail("'" + target.names[0] + "' is a " + typeName(space) + "; only a namespace takes attributes");
        checkStorable(m_meter, value);
        std::get<std::shared_ptr<Namespace>>(space)->values[target.attribute] = value;
        return;
    }
    if (!target.isTuple) {
        m_scopes.back()[target.names[0]] = value;
        return;
    }
    const std::vector<Value> parts = iterate(m_meter, value);
    if (parts.size() != target.names.size())
        m_meter.fail(std::to_string(parts.size()) + " values for " + std::to_string(target.names.size()) + " names");
    for (std::size_t i = 0; i < parts.size(); ++i)
        m_scopes.back()[target.names[i]] = parts[i];
}

// The words are the template's own; where says which message it had in hand.
void Interpreter::raise(const Expression &expression)
{
    const Arguments arguments = argumentsOf(expression);
    std::string words;
    for (const Value &argument : arguments.positional)
        words += toText(m_meter, argument).bytes();
    for (auto item = m_loopItems.rbegin(); item != m_loopItems.rend(); ++item)
        if (m_messages.contains(dictOf(*item))) {
            m_lastMessage = dictOf(*item);
            break;
        }
    Error error{ErrorCode::InvalidInput, words, "Chat template", {}};
    if (m_lastMessage) {
        const Value *role = find(m_meter, *m_lastMessage, makeText(std::string("role")));
        error.where = "Message " + std::to_string(m_messages.at(m_lastMessage) + 1) + " of " +
                      std::to_string(m_messages.size()) + " (" + (role ? toText(m_meter, *role).bytes() : "") + ")";
    }
    throw Failure{std::move(error)};
}

} // namespace lectern::jinja
