// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/json_reader.h"

#include "engine/base/utf8.h"

#include <cmath>

namespace lectern {

namespace {

int hexDigit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

std::optional<std::string> bytesOfHex(const std::string &hex)
{
    if (hex.size() % 2 != 0)
        return std::nullopt;
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        const int high = hexDigit(hex[i]);
        const int low = hexDigit(hex[i + 1]);
        if (high < 0 || low < 0)
            return std::nullopt;
        bytes += static_cast<char>(high * 16 + low);
    }
    return bytes;
}

} // namespace

bool nestsTooDeep(std::string_view json, int most)
{
    int depth = 0;
    bool isInString = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (isInString) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                isInString = false;
        } else if (c == '"') {
            isInString = true;
        } else if (c == '[' || c == '{') {
            if (++depth > most)
                return true;
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return false;
}

void JsonProblem::set(std::string path, std::string message)
{
    if (!error)
        error = Error{ErrorCode::BadFormat, std::move(message), std::move(path), {}};
}

void JsonObject::requireObject() const
{
    if (!m_value->is_object())
        m_problem->set(path(), std::string("is ") + m_value->type_name() + ", expected an object");
}

const Json *JsonObject::find(std::string_view key) const
{
    if (!m_value->is_object())
        return nullptr;
    for (const auto &[name, value] : m_value->get_ref<const Json::object_t &>())
        if (name == key)
            return &value;
    return nullptr;
}

const Json *JsonObject::require(std::string_view key) const
{
    const Json *value = find(key);
    if (!value)
        refuse(key, "is missing");
    return value;
}

std::string JsonObject::path() const
{
    if (!m_parent)
        return std::string(m_key);
    std::string text = m_parent->path();
    if (!text.empty())
        text += '.';
    text += m_key;
    if (m_index != kNoIndex)
        text.append("[").append(std::to_string(m_index)).append("]");
    return text;
}

void JsonObject::refuse(std::string_view key, std::string message) const
{
    const std::string parent = path();
    m_problem->set(parent.empty() ? std::string(key) : parent + "." + std::string(key), std::move(message));
}

std::optional<std::string> JsonObject::textOf(const Json &value)
{
    if (value.is_string())
        return value.get_ref<const std::string &>();
    if (!value.is_object() || value.size() != 1 || !value.contains("hex") || !value["hex"].is_string())
        return std::nullopt;
    return bytesOfHex(value["hex"].get_ref<const std::string &>());
}

std::optional<float> JsonObject::floatOf(const Json &value)
{
    if (value.is_number())
        return value.get<float>();
    if (!value.is_string())
        return std::nullopt;
    const std::string &name = value.get_ref<const std::string &>();
    if (name == "-inf" || name == "inf")
        return name == "inf" ? INFINITY : -INFINITY;
    return name == "nan" ? std::optional<float>(NAN) : std::nullopt;
}

std::optional<std::int64_t> JsonObject::wholeOf(const Json &value)
{
    if (!value.is_number_integer())
        return std::nullopt;
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
        return std::nullopt;
    return value.get<std::int64_t>();
}

std::string JsonObject::excerpt(const Json &value)
{
    constexpr std::size_t kMaxExcerpt = 60;
    std::string text = value.dump(-1, ' ', true);
    if (text.size() > kMaxExcerpt)
        text = text.substr(0, kMaxExcerpt) + "...";
    return text;
}

std::string JsonObject::text(std::string_view key) const
{
    const Json *value = require(key);
    if (!value)
        return {};
    if (auto text = textOf(*value))
        return std::move(*text);
    refuse(key, std::string("is ") + value->type_name() + ", expected text or {\"hex\": bytes}");
    return {};
}

bool JsonObject::boolean(std::string_view key) const
{
    const Json *value = require(key);
    if (value && !value->is_boolean())
        refuse(key, std::string("is ") + value->type_name() + ", expected true or false");
    return value && value->is_boolean() && value->get<bool>();
}

std::int64_t JsonObject::whole(std::string_view key, Limits limits) const
{
    const Json *value = require(key);
    if (!value)
        return limits.min;
    const auto number = wholeOf(*value);
    if (number && *number >= limits.min && *number <= limits.max)
        return *number;
    refuse(key, "is " + excerpt(*value) + ", expected a whole number from " + std::to_string(limits.min) + " to " +
                    std::to_string(limits.max));
    return limits.min;
}

std::uint64_t JsonObject::bits64(std::string_view key) const
{
    const Json *value = require(key);
    if (!value || value->is_number_unsigned())
        return value ? value->get<std::uint64_t>() : 0;
    refuse(key, "is " + excerpt(*value) + ", expected a whole number of at most 64 bits, 0 or more");
    return 0;
}

float JsonObject::number(std::string_view key) const
{
    const Json *value = require(key);
    if (!value)
        return 0;
    if (const auto number = floatOf(*value))
        return *number;
    refuse(key, std::string("is ") + value->type_name() + ", expected a number");
    return 0;
}

JsonObject JsonObject::object(std::string_view key) const
{
    static const Json kEmpty = Json::object();
    const Json *value = require(key);
    return JsonObject(value ? *value : kEmpty, *m_problem, this, key, kNoIndex);
}

const Json::array_t &JsonObject::array(std::string_view key) const
{
    static const Json::array_t kEmpty;
    const Json *value = require(key);
    if (value && value->is_array())
        return value->get_ref<const Json::array_t &>();
    if (value)
        refuse(key, std::string("is ") + value->type_name() + ", expected a list");
    return kEmpty;
}

} // namespace lectern
