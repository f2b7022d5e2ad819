// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/batch_request.h"

#include "engine/trace/json_reader.h"
#include "engine/trace/request_limits.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace lectern::cli {

namespace {

constexpr std::array<std::string_view, 11> kFields{"id",   "prompt", "messages", "maxTokens",         "temperature",
                                                   "topK", "topP",   "minP",     "repetitionPenalty", "seed",
                                                   "stops"};

void checkFields(const Json &line, JsonProblem &problem)
{
    for (const auto &[key, value] : line.get_ref<const Json::object_t &>())
        if (std::find(kFields.begin(), kFields.end(), key) == kFields.end())
            problem.set(key, "is not known here");
}

// A number in [least, most], kept as it was where the field is missing.
void readNumber(const JsonObject &json, std::string_view key, float least, float most, float &value)
{
    if (!json.has(key))
        return;
    value = json.number(key);
    if (!(value >= least && value <= most))
        json.refuse(key, "is " + Json(floatToJson(value)).dump() + ", expected " + Json(least).dump() + " to " +
                             Json(most).dump());
}

void readWhole(const JsonObject &json, std::string_view key, Limits limits, int &value)
{
    if (json.has(key))
        value = json.integer(key, limits);
}

void readPrompt(const JsonObject &json, Request &request)
{
    if (json.has("prompt") == json.has("messages"))
        return json.refuse("prompt", "or \"messages\" must be given, one of both");
    if (json.has("prompt")) {
        request.kind = PromptKind::Text;
        request.text = json.text("prompt");
        return;
    }
    request.kind = PromptKind::Chat;
    json.forEach("messages", [&](const JsonObject &message) {
        request.messages.push_back({message.text("role"), message.text("content")});
    });
}

void readStops(const JsonObject &json, Request &request)
{
    if (!json.has("stops"))
        return;
    request.stops.clear();
    for (const Json &stop : json.array("stops")) {
        auto text = JsonObject::textOf(stop);
        if (text && !text->empty())
            request.stops.push_back(std::move(*text));
        else
            json.refuse("stops", "holds something that is not text");
    }
}

} // namespace

Result<Request> requestFromJson(const Json &line, const Request &defaults)
{
    JsonProblem problem;
    checkFields(line, problem);
    const JsonObject json(line, problem);
    Request request = defaults;
    readPrompt(json, request);
    readStops(json, request);
    readWhole(json, "maxTokens", {1, kMaxOutputTokens}, request.maxTokens);
    readWhole(json, "topK", {0, kMaxTopK}, request.sampling.topK);
    readNumber(json, "temperature", 0, kMaxTemperature, request.sampling.temperature);
    readNumber(json, "topP", 0, 1, request.sampling.topP);
    readNumber(json, "minP", 0, 1, request.sampling.minP);
    readNumber(json, "repetitionPenalty", kMinRepetitionPenalty, kMaxRepetitionPenalty,
               request.sampling.repetitionPenalty);
    if (json.has("seed"))
        request.sampling.seed = json.bits64("seed");
    if (json.has("id"))
        request.title = json.text("id");
    if (problem.error) {
        problem.error->code = ErrorCode::InvalidInput;
        return tl::unexpected(std::move(*problem.error));
    }
    return request;
}

} // namespace lectern::cli
