// SPDX-License-Identifier: GPL-3.0-or-later
// Values as text: Python's str() and repr(), and json.dumps as the published tokenizers call it for `tojson`.
// What came out of a message's content keeps that mark through all three.
#pragma once

#include "engine/text/jinja/value.h"

namespace lectern::jinja {

// What {{ value }} prints.
Text toText(Meter &meter, const Value &value);

struct JsonStyle
{
    bool escapesNonAscii = false;
    bool sortsKeys = false;
    std::optional<std::string> indent; // of one level; none: all on one line
    std::string itemSeparator = ", ";
    std::string keySeparator = ": ";
};
Text toJson(Meter &meter, const Value &value, const JsonStyle &style);

// Python's repr of a float: the shortest digits that read back the same.
std::string floatText(double value);

} // namespace lectern::jinja
