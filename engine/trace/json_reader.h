// SPDX-License-Identifier: GPL-3.0-or-later
// Checked access to the fields of a JSON object. The first field that is missing or wrong is kept as the error, with
// its path ("outputTokens[3].timeNs"); later reads then give harmless defaults, so that a reader needs one check at its
// end.
#pragma once

#include "engine/base/result.h"
#include "engine/trace/json.h"
#include "engine/trace/names.h"
#include "engine/trace/record_fields.h"

#include <limits>
#include <optional>

namespace lectern {

// Whether lists and objects are nested more than `most` deep. To be asked before parsing: a text of nothing but
// brackets takes 30 times its size in memory.
bool nestsTooDeep(std::string_view json, int most);

// The first problem of a document.
struct JsonProblem
{
    std::optional<Error> error;
    void set(std::string path, std::string message);
};

class JsonObject
{
public:
    JsonObject(const Json &value, JsonProblem &problem)
        : m_value(&value)
        , m_problem(&problem)
    {
        requireObject();
    }

    bool has(std::string_view key) const { return find(key) != nullptr; }
    std::string text(std::string_view key) const;
    bool boolean(std::string_view key) const;
    std::int64_t whole(std::string_view key, Limits limits) const; // what is refused gives limits.min
    int integer(std::string_view key, Limits limits = kCounts) const { return static_cast<int>(whole(key, limits)); }
    std::int64_t ns(std::string_view key) const { return whole(key, kRunNs); }
    std::uint64_t bits64(std::string_view key) const; // any whole number from 0 to 2^64 - 1
    float number(std::string_view key) const;         // "-inf", "inf" and "nan" are numbers here
    JsonObject object(std::string_view key) const;

    template <class Enum>
    Enum enumerator(std::string_view key) const
    {
        const std::string name = text(key);
        if (const auto value = fromName<Enum>(name))
            return *value;
        refuse(key, "is " + excerpt(textToJson(name)) + ", which is not one of the known names");
        return EnumNames<Enum>::table[0].first;
    }

    // The elements of an array; empty when it is missing or something else.
    const Json::array_t &array(std::string_view key) const;

    // Calls visit(JsonObject) for every element, which must be objects.
    template <class Visit>
    void forEach(std::string_view key, Visit visit) const
    {
        const Json::array_t &elements = array(key);
        for (std::size_t i = 0; i < elements.size() && !m_problem->error; ++i)
            visit(JsonObject(elements[i], *m_problem, this, key, i));
    }

    // Says that a field is wrong; the path is put in front.
    void refuse(std::string_view key, std::string message) const;

    static std::optional<std::string> textOf(const Json &value);
    static std::optional<float> floatOf(const Json &value);
    static std::optional<std::int64_t> wholeOf(const Json &value); // nothing above INT64_MAX
    static std::string excerpt(const Json &value);                 // its beginning, for a message

private:
    static constexpr std::size_t kNoIndex = std::numeric_limits<std::size_t>::max();
    JsonObject(const Json &value, JsonProblem &problem, const JsonObject *parent, std::string_view key,
               std::size_t index)
        : m_value(&value)
        , m_problem(&problem)
        , m_parent(parent)
        , m_key(key)
        , m_index(index)
    {
        requireObject();
    }
    void requireObject() const;
    const Json *find(std::string_view key) const;
    const Json *require(std::string_view key) const;
    std::string path() const;

    const Json *m_value;
    JsonProblem *m_problem;
    const JsonObject *m_parent = nullptr; // outlives this one: objects live on the reader's stack
    std::string_view m_key;
    std::size_t m_index = kNoIndex;
};

} // namespace lectern
