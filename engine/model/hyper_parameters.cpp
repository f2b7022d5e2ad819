// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/hyper_parameters.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lectern {

HyperParameters::HyperParameters(const GgufFile &file, std::string architecture)
    : m_file(file)
    , m_architecture(std::move(architecture))
{
}

template <class T>
T HyperParameters::keep(Result<T> value)
{
    if (value)
        return std::move(*value);
    if (!m_error)
        m_error = std::move(value.error());
    return T{};
}

// The list that a key holds, if it holds one: of one number for each layer, or refused.
const std::vector<std::int64_t> *HyperParameters::layerList(const std::string &key)
{
    const std::vector<std::int64_t> *list = m_file.integers(key);
    if (list && (list->empty() || list->size() != m_layers || list->front() < 0)) {
        const std::string perLayer = m_layers ? ", or one for each of " + std::to_string(m_layers) + " layers" : "";
        refuse(ErrorCode::BadFormat, key,
               "is a list of " + std::to_string(list->size()) + " numbers; expected one number" + perLayer);
    }
    return list;
}

std::optional<std::uint64_t> HyperParameters::numberOrList(const std::string &key)
{
    const std::vector<std::int64_t> *list = layerList(key);
    if (m_error)
        return std::nullopt;
    if (!list)
        return keep(m_file.uintValue(key));
    if (std::any_of(list->begin(), list->end(), [list](std::int64_t n) { return n != list->front(); })) {
        refuse(ErrorCode::Unsupported, key, "differs from layer to layer, which this version cannot run");
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(list->front());
}

int HyperParameters::checked(const std::string &key, std::uint64_t value, std::int64_t low, std::int64_t high)
{
    if (value >= static_cast<std::uint64_t>(low) && value <= static_cast<std::uint64_t>(high))
        return static_cast<int>(value);
    refuse(ErrorCode::BadFormat, key,
           "is " + std::to_string(value) + ", allowed are " + std::to_string(low) + " to " + std::to_string(high));
    return 0;
}

int HyperParameters::number(std::string_view suffix, std::int64_t low, std::int64_t high,
                            std::optional<std::int64_t> fallback)
{
    if (m_error)
        return 0;
    const std::string key = name(suffix);
    if (fallback && !m_file.find(key))
        return static_cast<int>(*fallback);
    const auto value = numberOrList(key);
    return m_error || !value ? 0 : checked(key, *value, low, high);
}

std::vector<int> HyperParameters::perLayer(std::string_view suffix, std::int64_t low, std::int64_t high,
                                           const std::vector<int> &fallback)
{
    const std::string key = name(suffix);
    if (m_error || (!fallback.empty() && !m_file.find(key)))
        return m_error ? std::vector<int>(m_layers) : fallback;
    const std::vector<std::int64_t> *list = layerList(key);
    if (m_error || !list)
        return std::vector<int>(m_layers, number(suffix, low, high));
    std::vector<int> values;
    for (const std::int64_t value : *list)
        values.push_back(checked(key, static_cast<std::uint64_t>(value), low, high));
    return values;
}

float HyperParameters::real(std::string_view suffix, std::optional<double> fallback)
{
    if (m_error)
        return 0;
    const std::string key = name(suffix);
    // Counts that act as switches (expert_count) are integers in the file; others are floats.
    const GgufValue *stored = m_file.find(key);
    if (fallback && !stored)
        return static_cast<float>(*fallback);
    const bool isInteger =
        stored && (std::holds_alternative<std::uint64_t>(*stored) || std::holds_alternative<std::int64_t>(*stored));
    const double value = isInteger ? static_cast<double>(keep(m_file.uintValue(key))) : keep(m_file.floatValue(key));
    if (!m_error && !(std::abs(value) <= std::numeric_limits<float>::max()))
        refuse(ErrorCode::BadFormat, key, "is not a finite number");
    return m_error ? 0 : static_cast<float>(value);
}

std::string HyperParameters::text(std::string_view suffix, std::string_view fallback)
{
    return fileText(name(suffix), fallback);
}

std::uint64_t HyperParameters::fileNumber(std::string_view key, std::uint64_t fallback)
{
    return keep(m_file.uintOr(key, fallback));
}

std::string HyperParameters::fileText(std::string_view key, std::string_view fallback)
{
    return keep(m_file.stringOr(key, fallback));
}

void HyperParameters::refuse(ErrorCode code, const std::string &key, const std::string &message, std::string remedy)
{
    if (!m_error)
        m_error = fileError(m_file, code, "key " + key, message, std::move(remedy));
}

Error fileError(const GgufFile &file, ErrorCode code, const std::string &subject, const std::string &message,
                std::string remedy)
{
    return {code, subject + ": " + message, file.path().string(), std::move(remedy)};
}

} // namespace lectern
