// SPDX-License-Identifier: GPL-3.0-or-later
// JSON values of this folder. Their floating-point type is float, as everywhere in a run record: so the shortest text
// that gives back the same float is written ("0.7", not "0.699999988079071").
#pragma once

#include "engine/trace/metrics.h"
#include "engine/trace/run_record.h"

#include <nlohmann/json.hpp>

namespace lectern {

using Json =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t, std::uint64_t, float>;

// A string when it is UTF-8, else {"hex": "e991"}.
Json textToJson(const std::string &text);
// JSON has no infinities: they become the strings "-inf" and "inf", NaN becomes "nan".
Json floatToJson(float value);
Json promptTokenToJson(const TokenRecord &token);
Json outputTokenToJson(const TokenRecord &token);
Json kvToJson(const KvSample &sample);
Json phaseToJson(const PhaseRecord &phase);
Json rangesToJson(const std::vector<TextRange> &ranges); // [[begin, end], ...]
Json chunkToJson(const PrefillChunkRecord &chunk);
Json preemptionToJson(const PreemptionRecord &preemption);
Json errorToJson(const Error &error);
Json machineToJson(const MachineInfo &machine);
Json modelToJson(const ModelInfo &model);
Json engineToJson(const EngineInfo &engine);
Json requestToJson(const Request &request);
// Whole nanoseconds; rates as tokens per second; what was not measured is null.
Json metricsToJson(const Metrics &metrics);

template <class List, class ToJson>
Json listToJson(const List &list, ToJson toJsonOf)
{
    Json array = Json::array();
    for (const auto &element : list)
        array.push_back(toJsonOf(element));
    return array;
}

std::string hexOf(std::string_view bytes);

} // namespace lectern
