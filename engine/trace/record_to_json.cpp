// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/utf8.h"
#include "engine/trace/json_fields.h"

#include <cmath>

namespace lectern {

namespace {

Json nsToJson(const std::optional<double> &ns)
{
    return ns ? Json(static_cast<std::int64_t>(std::llround(*ns))) : Json(nullptr);
}

Json rateToJson(const std::optional<double> &perSecond)
{
    return perSecond ? Json(static_cast<float>(*perSecond)) : Json(nullptr);
}

Json bytesToJson(const std::optional<std::uint64_t> &bytes)
{
    return bytes ? Json(*bytes) : Json(nullptr);
}

Json samplingToJson(const SamplingParams &sampling)
{
    return {{"temperature", floatToJson(sampling.temperature)},
            {"topK", sampling.topK},
            {"topP", floatToJson(sampling.topP)},
            {"minP", floatToJson(sampling.minP)},
            {"repetitionPenalty", floatToJson(sampling.repetitionPenalty)},
            {"seed", sampling.seed}};
}

} // namespace

std::string hexOf(std::string_view bytes)
{
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string hex;
    hex.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        hex += kDigits[byte >> 4];
        hex += kDigits[byte & 15];
    }
    return hex;
}

Json textToJson(const std::string &text)
{
    if (firstInvalidUtf8(text) == std::string_view::npos)
        return text;
    return {{"hex", hexOf(text)}};
}

Json floatToJson(float value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value < 0 ? "-inf" : "inf";
    return value;
}

Json promptTokenToJson(const TokenRecord &token)
{
    Json json = Json::object();
    visitTokenBase(token, WriteFields{json});
    json["begin"] = token.begin;
    json["end"] = token.end;
    return json;
}

Json outputTokenToJson(const TokenRecord &token)
{
    Json json = Json::object();
    visitOutputToken(token, WriteFields{json});
    Json top = Json::array();
    for (const Candidate &candidate : token.top)
        top.push_back(Json::array({candidate.id, floatToJson(candidate.logprob)}));
    json["top"] = std::move(top);
    return json;
}

Json kvToJson(const KvSample &sample)
{
    Json json = Json::object();
    visitKvSample(sample, WriteFields{json});
    return json;
}

Json phaseToJson(const PhaseRecord &phase)
{
    return {{"phase", nameOf(phase.phase)}, {"beginNs", phase.beginNs}, {"endNs", phase.endNs}};
}

Json rangesToJson(const std::vector<TextRange> &ranges)
{
    Json list = Json::array();
    for (const TextRange &range : ranges)
        list.push_back(Json::array({range.begin, range.end}));
    return list;
}

Json chunkToJson(const PrefillChunkRecord &chunk)
{
    Json json = Json::object();
    visitChunk(chunk, WriteFields{json});
    return json;
}

Json preemptionToJson(const PreemptionRecord &preemption)
{
    Json json = Json::object();
    visitPreemption(preemption, WriteFields{json});
    return json;
}

Json errorToJson(const Error &error)
{
    return {{"code", nameOf(error.code)},
            {"message", textToJson(error.message)},
            {"where", textToJson(error.where)},
            {"remedy", textToJson(error.remedy)}};
}

Json machineToJson(const MachineInfo &machine)
{
    Json json = Json::object();
    visitMachine(machine, WriteFields{json});
    return json;
}

Json modelToJson(const ModelInfo &model)
{
    Json json = Json::object();
    visitModel(model, WriteFields{json});
    return json;
}

Json engineToJson(const EngineInfo &engine)
{
    Json json = Json::object();
    visitEngine(engine, WriteFields{json});
    return json;
}

Json requestToJson(const Request &request)
{
    Json messages = Json::array();
    for (const ChatMessage &message : request.messages)
        messages.push_back({{"role", textToJson(message.role)}, {"content", textToJson(message.content)}});
    return {{"title", textToJson(request.title)},
            {"kind", nameOf(request.kind)},
            {"text", textToJson(request.text)},
            {"messages", std::move(messages)},
            {"ids", request.ids},
            {"addSpecial", request.addSpecial},
            {"parseSpecial", request.parseSpecial},
            {"sampling", samplingToJson(request.sampling)},
            {"stops", listToJson(request.stops, textToJson)},
            {"maxTokens", request.maxTokens},
            {"topCandidates", request.topCandidates},
            {"cache", nameOf(request.cache)},
            {"reusesPrefix", request.reusesPrefix},
            {"tracesOperations", request.tracesOperations}};
}

Json metricsToJson(const Metrics &metrics)
{
    return {{"promptTokens", metrics.promptTokens},
            {"reusedTokens", metrics.reusedTokens},
            {"evaluatedTokens", metrics.evaluatedTokens},
            {"computedTokens", metrics.computedTokens},
            {"outputTokens", metrics.outputTokens},
            {"passes", metrics.passes},
            {"contextTokens", metrics.contextTokens},
            {"ttftNs", nsToJson(metrics.ttftNs)},
            {"templateNs", nsToJson(metrics.templateNs)},
            {"tokenizeNs", nsToJson(metrics.tokenizeNs)},
            {"prefillNs", nsToJson(metrics.prefillNs)},
            {"prefillTokensPerSecond", rateToJson(metrics.prefillTokensPerSecond)},
            {"tpotNs", nsToJson(metrics.tpotNs)},
            {"decodeTokensPerSecond", rateToJson(metrics.decodeTokensPerSecond)},
            {"itlP50Ns", nsToJson(metrics.itlP50Ns)},
            {"itlP90Ns", nsToJson(metrics.itlP90Ns)},
            {"itlP99Ns", nsToJson(metrics.itlP99Ns)},
            {"endToEndNs", nsToJson(metrics.endToEndNs)},
            {"stepSlopeNsPerToken", rateToJson(metrics.stepSlopeNsPerToken)},
            {"stepSlopeErrorNsPerToken", rateToJson(metrics.stepSlopeErrorNsPerToken)},
            {"kvUsedBytes", bytesToJson(metrics.kvUsedBytes)},
            {"kvAllocatedBytes", bytesToJson(metrics.kvAllocatedBytes)}};
}

} // namespace lectern
