// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/event_json.h"

#include "engine/trace/json.h"
#include "engine/trace/names.h"
#include "engine/trace/pass_json.h"

namespace lectern {

namespace {

const char *loadPhaseName(LoadPhase phase)
{
    switch (phase) {
    case LoadPhase::Open:
        return "open";
    case LoadPhase::Validate:
        return "validate";
    case LoadPhase::Tokenizer:
        return "tokenizer";
    case LoadPhase::Weights:
        return "weights";
    case LoadPhase::Ready:
        return "ready";
    }
    return "unknown";
}

struct ToJson
{
    RequestId request;
    const RunRecord &record;

    Json start(const char *name) const { return {{"event", name}, {"request", request}}; }

    Json operator()(const LoadProgress &event) const
    {
        return {{"event", "loadProgress"},
                {"phase", loadPhaseName(event.phase)},
                {"doneBytes", event.doneBytes},
                {"totalBytes", event.totalBytes}};
    }

    Json operator()(const Queued &event) const
    {
        Json json = start("queued");
        json["createdUtc"] = textToJson(event.record.createdUtc);
        json["machine"] = machineToJson(event.record.machine);
        json["model"] = modelToJson(event.record.model);
        json["engine"] = engineToJson(event.record.engine);
        json["settings"] = requestToJson(event.record.request);
        return json;
    }

    Json operator()(const Tokenized &event) const
    {
        Json json = start("tokenized");
        json["promptTokens"] = event.tokens.size();
        json["reusedTokens"] = event.reusedTokens;
        json["promptText"] = textToJson(event.promptText);
        json["userRanges"] = rangesToJson(event.userRanges);
        json["phases"] = listToJson(event.phases, phaseToJson);
        json["tokens"] = listToJson(event.tokens, promptTokenToJson);
        return json;
    }

    Json operator()(const PrefillChunk &event) const
    {
        Json json = start("prefillChunk");
        json.update(chunkToJson(event.chunk));
        json["kv"] = kvToJson(event.kv);
        return json;
    }

    Json operator()(const TokenProduced &event) const
    {
        Json json = start("token");
        json.update(outputTokenToJson(event.token));
        json["kv"] = kvToJson(event.kv);
        return json;
    }

    Json operator()(const KvGrew &event) const
    {
        Json json = start("kvGrew");
        json["kv"] = kvToJson(event.kv);
        return json;
    }

    Json operator()(const PassTraced &event) const
    {
        Json json = start("passTraced");
        json.update(passToJson(event.pass));
        return json;
    }

    Json operator()(const Preempted &event) const
    {
        Json json = start("preempted");
        json.update(preemptionToJson(event.preemption));
        json["kv"] = kvToJson(event.kv);
        return json;
    }

    Json operator()(const Finished &event) const
    {
        Json json = start("finished");
        json["reason"] = nameOf(event.reason);
        json["stopString"] = textToJson(event.stopString);
        json["tailText"] = textToJson(event.tailText);
        json["endedInsideCharacter"] = event.endedInsideCharacter;
        json["timeNs"] = event.timeNs;
        json["pausedNs"] = event.pausedNs;
        json["totals"] = metricsToJson(metricsOf(record));
        return json;
    }

    Json operator()(const Failed &event) const
    {
        Json json = start("failed");
        json["error"] = errorToJson(event.error);
        json["tailText"] = textToJson(event.tailText);
        json["timeNs"] = event.timeNs;
        json["pausedNs"] = event.pausedNs;
        json["totals"] = metricsToJson(metricsOf(record));
        return json;
    }
};

} // namespace

std::string eventToJsonLine(const Event &event, const RunRecord &record)
{
    return std::visit(ToJson{event.request, record}, event.body).dump();
}

} // namespace lectern
