// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a parsed template. It sees nothing but the variables it is given, and every step is counted.
#pragma once

#include "engine/text/jinja/ast.h"
#include "engine/text/jinja/functions.h"

#include <map>
#include <unordered_map>

namespace lectern::jinja {

using Scope = std::map<std::string, Value, std::less<>>;

class Interpreter
{
public:
    // `messages` is the list in variables["messages"]: errors that the template raises name the one it was working on.
    Interpreter(Scope variables, const List &messages);

    // What the template prints. Once only. Throws Failure.
    Text render(const Body &body);

private:
    enum class Flow
    {
        Next,
        Break,
        Continue
    };

    Flow run(const Body &body);
    Flow run(const Statement &statement);
    Flow runFor(const Statement &statement);
    Text collect(const Body &body); // what it prints, in a scope of its own
    void print(const Text &text);
    void assign(const Target &target, const Value &value);

    Value evaluate(const Expression &expression);
    Value compareAll(const Expression &expression);
    Value concatenate(const Expression &expression);
    Value call(const Expression &expression);
    Arguments argumentsOf(const Expression &expression);
    std::vector<Value> evaluateAll(const std::vector<ExpressionPtr> &expressions);
    Value lookUp(const std::string &name) const;

    void noteMessage(const Value &value);
    [[noreturn]] void raise(const Expression &expression);

    Meter m_meter;
    Text m_output;
    std::vector<Scope> m_scopes;    // innermost last; the first holds the variables given
    std::vector<Value> m_loopItems; // of the loops we are in
    Value m_piped;
    std::unordered_map<const Dict *, std::size_t> m_messages; // their indices
    const Dict *m_lastMessage = nullptr;                      // whose fields were read last
};

} // namespace lectern::jinja
