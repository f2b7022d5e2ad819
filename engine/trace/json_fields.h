// SPDX-License-Identifier: GPL-3.0-or-later
// The two visitors of record_fields.h: to JSON and back.
#pragma once

#include "engine/trace/json_reader.h"

namespace lectern {

// Adds every field that it visits.
struct WriteFields
{
    Json &json;

    void operator()(const char *name, const std::string &text, auto...) const { json[name] = textToJson(text); }
    void operator()(const char *name, float number, auto...) const { json[name] = floatToJson(number); }
    template <class Plain>
    void operator()(const char *name, const Plain &value, auto...) const
    {
        json[name] = value;
    }
};

// Reads every field that it visits, by its type. Numbers without limits of their own are counts, bytes or times.
struct ReadFields
{
    const JsonObject &json;

    void operator()(const char *name, std::string &text) const { text = json.text(name); }
    void operator()(const char *name, bool &value) const { value = json.boolean(name); }
    void operator()(const char *name, float &number) const { number = json.number(name); }
    void operator()(const char *name, int &number, Limits limits = kCounts) const
    {
        number = json.integer(name, limits);
    }
    void operator()(const char *name, std::uint64_t &bytes, Limits limits = kByteCounts) const
    {
        bytes = static_cast<std::uint64_t>(json.whole(name, limits));
    }
    void operator()(const char *name, std::int64_t &ns) const { ns = json.ns(name); }
};

} // namespace lectern
