// SPDX-License-Identifier: GPL-3.0-or-later
// A parsed template. Trees are at most kMaxNesting deep, so they may be walked by recursion.
#pragma once

#include "engine/text/jinja/value.h"

#include <memory>
#include <string>
#include <vector>

namespace lectern::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct NamedArgument
{
    std::string name;
    ExpressionPtr value;
};

struct Expression
{
    enum class Kind
    {
        Constant,    // constant
        Name,        // name
        List,        // children
        Tuple,       // children
        Dict,        // children: key, value, key, value, …
        Not,         // children[0], as the two below
        Negate,      //
        Plus,        //
        And,         // children[0], [1], as Or
        Or,          //
        Conditional, // children: value, condition, value otherwise (may be missing)
        Arithmetic,  // children[0] name children[1], name one of + - * / // % **
        Concat,      // children joined by ~
        Compare,     // children with operators between them
        Attribute,   // children[0].name
        Index,       // children[0][children[1]]
        Slice,       // children[0][children[1]:children[2]:children[3]], any of the last three may be null
        Call,        // children[0](children[1], …, named)
        Filter,      // children[0]|name(children[1], …, named)
        Test,        // children[0] is name(children[1], …, named)
        Piped,       // the text that a filter block or set block collected
    };
    Kind kind = Kind::Constant;
    Position at;
    int depth = 1;
    std::string name;
    Value constant;
    std::vector<ExpressionPtr> children;
    std::vector<NamedArgument> named;
    std::vector<std::string> operators; // of Compare: == != < <= > >= in, not in
};

// Where {% set %} and {% for %} put a value: a name, several names, or an attribute of a namespace.
struct Target
{
    Position at;
    std::vector<std::string> names;
    bool isTuple = false;
    std::string attribute; // with names[0] a namespace; empty: none
};

struct Statement;
using Body = std::vector<Statement>;

struct Branch
{
    ExpressionPtr condition; // null: otherwise
    Body body;
};

struct Statement
{
    enum class Kind
    {
        Data,     // text
        Output,   // expression
        If,       // branches
        For,      // target, expression, condition (may be null), branches[0] the body, branches[1] without an item
        Set,      // target, expression
        SetBlock, // target, expression (may be null: the text itself), branches[0]
        Filter,   // expression, branches[0]
        Plain,    // branches[0]: {% generation %}, which marks answers for training
        Break,
        Continue,
    };
    Kind kind = Kind::Data;
    Position at;
    std::string text;
    Target target;
    ExpressionPtr expression;
    ExpressionPtr condition;
    std::vector<Branch> branches;
};

} // namespace lectern::jinja
