// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/run_from_json.h"

#include "engine/trace/json_fields.h"
#include "engine/trace/pass_json.h"
#include "engine/trace/run_checks.h"

namespace lectern {

namespace {

// Version 1 knew neither passes nor preemptions. From version 2 on they are required like every other field; what a
// file of version 1 has under these names is not looked at.
constexpr int kPassesVersion = 2;

// What the user asked for is kept as asked, also when the engine refused it: so only types are checked here.
Request readRequest(const JsonObject &json, int version)
{
    Request request;
    request.title = json.text("title");
    request.kind = json.enumerator<PromptKind>("kind");
    request.text = json.text("text");
    json.forEach("messages", [&](const JsonObject &message) {
        request.messages.push_back({message.text("role"), message.text("content")});
    });
    for (const Json &id : json.array("ids")) {
        const auto value = JsonObject::wholeOf(id);
        if (value && *value == static_cast<TokenId>(*value))
            request.ids.push_back(static_cast<TokenId>(*value));
        else
            json.refuse("ids", "holds " + JsonObject::excerpt(id) + ", expected token ids");
    }
    request.addSpecial = json.boolean("addSpecial");
    request.parseSpecial = json.boolean("parseSpecial");
    const JsonObject sampling = json.object("sampling");
    request.sampling.temperature = sampling.number("temperature");
    request.sampling.topK = sampling.integer("topK", kAnyInt);
    request.sampling.topP = sampling.number("topP");
    request.sampling.minP = sampling.number("minP");
    request.sampling.repetitionPenalty = sampling.number("repetitionPenalty");
    request.sampling.seed = sampling.bits64("seed");
    for (const Json &stop : json.array("stops")) {
        if (auto text = JsonObject::textOf(stop))
            request.stops.push_back(std::move(*text));
        else
            json.refuse("stops", "holds something that is not text");
    }
    request.maxTokens = json.integer("maxTokens", kAnyInt);
    request.topCandidates = json.integer("topCandidates", kAnyInt);
    request.cache = json.enumerator<CacheMode>("cache");
    request.reusesPrefix = json.boolean("reusesPrefix");
    if (version >= kPassesVersion)
        request.tracesOperations = json.boolean("tracesOperations");
    return request;
}

Error readError(const JsonObject &json)
{
    return {json.enumerator<ErrorCode>("code"), json.text("message"), json.text("where"), json.text("remedy")};
}

std::vector<TextRange> readRanges(const JsonObject &json, std::size_t textBytes)
{
    std::vector<TextRange> ranges;
    for (const Json &range : json.array("userRanges")) {
        const bool isPair =
            range.is_array() && range.size() == 2 && range[0].is_number_unsigned() && range[1].is_number_unsigned();
        if (!isPair || range[0] > range[1] || range[1].get<std::uint64_t>() > textBytes) {
            json.refuse("userRanges", "holds " + JsonObject::excerpt(range) + ", expected [begin, end] inside the " +
                                          std::to_string(textBytes) + " bytes of promptText");
            break;
        }
        ranges.push_back({range[0].get<std::size_t>(), range[1].get<std::size_t>()});
    }
    return ranges;
}

// A probability's logarithm: -inf is one, rounding may leave it a little above 0.
bool isLogprob(float value)
{
    return value <= 0.01f;
}

Candidate readCandidate(const JsonObject &token, const Json &pair, int idLimit)
{
    const bool isPair = pair.is_array() && pair.size() == 2;
    const auto id = isPair ? JsonObject::wholeOf(pair[0]) : std::nullopt;
    const auto logprob = isPair ? JsonObject::floatOf(pair[1]) : std::nullopt;
    if (id && *id >= 0 && *id < idLimit && logprob && isLogprob(*logprob))
        return {static_cast<TokenId>(*id), *logprob};
    token.refuse("top", "holds " + JsonObject::excerpt(pair) + ", expected [token id below " + std::to_string(idLimit) +
                            ", log-probability of 0 or less]");
    return {};
}

TokenRecord readPromptToken(const JsonObject &json)
{
    TokenRecord token;
    visitTokenBase(token, ReadFields{json});
    token.begin = static_cast<std::size_t>(json.whole("begin", kByteCounts));
    token.end = static_cast<std::size_t>(json.whole("end", kByteCounts));
    return token;
}

TokenRecord readOutputToken(const JsonObject &json, int idLimit)
{
    TokenRecord token;
    visitOutputToken(token, ReadFields{json});
    if (!isLogprob(token.logprob))
        json.refuse("logprob", "is not a log-probability (0 or less)");
    for (const Json &pair : json.array("top"))
        token.top.push_back(readCandidate(json, pair, idLimit));
    return token;
}

// How it ended must fit the state.
void readEnd(const JsonObject &json, RunRecord &record)
{
    record.state = json.enumerator<RunState>("state");
    if (record.state == RunState::Finished)
        record.finishReason = json.enumerator<FinishReason>("finishReason");
    else if (json.has("finishReason"))
        json.refuse("finishReason", "is there, but the run has not finished");
    if (record.state == RunState::Failed)
        record.error = readError(json.object("error"));
    else if (json.has("error"))
        json.refuse("error", "is there, but the run has not failed");
    record.stopString = json.text("stopString");
    record.tailText = json.text("tailText");
    record.endedInsideCharacter = json.boolean("endedInsideCharacter");
    record.endNs = json.ns("endNs");
    record.pausedNs = json.ns("pausedNs");
}

template <class Entry, class Visit>
std::vector<Entry> readList(const JsonObject &json, std::string_view key, Visit visit)
{
    std::vector<Entry> list;
    json.forEach(key, [&](const JsonObject &entry) { list.push_back(visit(entry)); });
    return list;
}

void readBody(const JsonObject &json, RunRecord &record)
{
    record.promptText = json.text("promptText");
    record.userRanges = readRanges(json, record.promptText.size());
    record.promptTokens = readList<TokenRecord>(json, "promptTokens", readPromptToken);
    record.reusedTokens = json.integer("reusedTokens");
    record.phases = readList<PhaseRecord>(json, "phases", [](const JsonObject &entry) {
        return PhaseRecord{entry.enumerator<Phase>("phase"), entry.ns("beginNs"), entry.ns("endNs")};
    });
    record.prefillChunks = readList<PrefillChunkRecord>(json, "prefillChunks", [](const JsonObject &entry) {
        PrefillChunkRecord chunk;
        visitChunk(chunk, ReadFields{entry});
        return chunk;
    });
    record.outputTokens = readList<TokenRecord>(
        json, "outputTokens", [&](const JsonObject &entry) { return readOutputToken(entry, idLimit(record)); });
    record.kv = readList<KvSample>(json, "kv", [](const JsonObject &entry) {
        KvSample sample;
        visitKvSample(sample, ReadFields{entry});
        return sample;
    });
}

void readPasses(const JsonObject &json, RunRecord &record)
{
    record.preemptions = readList<PreemptionRecord>(json, "preemptions", [](const JsonObject &entry) {
        PreemptionRecord preemption;
        visitPreemption(preemption, ReadFields{entry});
        return preemption;
    });
    record.passes = readList<PassRecord>(json, "passes", readPass);
}

} // namespace

Result<RunRecord> recordFromJson(const Json &document)
{
    JsonProblem problem;
    const JsonObject json(document, problem);
    const int version = json.integer("schemaVersion", {1, kCounts.max});
    if (!problem.error && version > kRunSchemaVersion)
        return fail(ErrorCode::Unsupported,
                    "the run has schema version " + std::to_string(version) + ", this program reads up to version " +
                        std::to_string(kRunSchemaVersion),
                    "schemaVersion", "Open it with a newer Lectern.");
    RunRecord record;
    record.programVersion = json.text("programVersion");
    record.createdUtc = json.text("createdUtc");
    visitMachine(record.machine, ReadFields{json.object("machine")});
    visitModel(record.model, ReadFields{json.object("model")});
    visitEngine(record.engine, ReadFields{json.object("engine")});
    record.request = readRequest(json.object("request"), version);
    readEnd(json, record);
    readBody(json, record);
    if (version >= kPassesVersion)
        readPasses(json, record);
    if (problem.error)
        return tl::unexpected(std::move(*problem.error));
    if (std::optional<Error> contradiction = findContradiction(record))
        return tl::unexpected(std::move(*contradiction));
    return record;
}

} // namespace lectern
