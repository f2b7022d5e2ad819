// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/run_from_json.h"

#include "engine/trace/json_reader.h"

#include <algorithm>

namespace lectern {

namespace {

constexpr int kAnyMin = std::numeric_limits<int>::min();

MachineInfo readMachine(const JsonObject &json)
{
    MachineInfo machine;
    machine.cpu = json.text("cpu");
    machine.cores = json.integer("cores");
    machine.instructionSet = json.text("instructionSet");
    machine.memoryBytes = json.unsignedInteger("memoryBytes");
    machine.gpu = json.text("gpu");
    machine.system = json.text("system");
    return machine;
}

ModelInfo readModel(const JsonObject &json)
{
    ModelInfo model;
    model.name = json.text("name");
    model.fileName = json.text("fileName");
    model.architecture = json.text("architecture");
    model.quantisation = json.text("quantisation");
    model.tokenizer = json.text("tokenizer");
    model.sha256 = json.text("sha256");
    model.fileBytes = json.unsignedInteger("fileBytes");
    model.parameters = json.unsignedInteger("parameters");
    model.layers = json.integer("layers");
    model.width = json.integer("width");
    model.heads = json.integer("heads");
    model.kvHeads = json.integer("kvHeads");
    model.headSize = json.integer("headSize");
    model.feedForward = json.integer("feedForward");
    model.vocabulary = json.integer("vocabulary");
    model.contextLength = json.integer("contextLength");
    return model;
}

EngineInfo readEngine(const JsonObject &json)
{
    EngineInfo engine;
    engine.backend = json.text("backend");
    engine.instructionSet = json.text("instructionSet");
    engine.threads = json.integer("threads");
    engine.weightBytes = json.unsignedInteger("weightBytes");
    engine.kvBytesPerToken = json.unsignedInteger("kvBytesPerToken");
    engine.kvBudgetBytes = json.unsignedInteger("kvBudgetBytes");
    engine.kvBlockTokens = json.integer("kvBlockTokens");
    engine.contextTokens = json.integer("contextTokens");
    return engine;
}

// What the user asked for is kept as asked, also when the engine refused it: so only types are checked here.
Request readRequest(const JsonObject &json)
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
    request.sampling.topK = sampling.integer("topK", kAnyMin);
    request.sampling.topP = sampling.number("topP");
    request.sampling.minP = sampling.number("minP");
    request.sampling.repetitionPenalty = sampling.number("repetitionPenalty");
    request.sampling.seed = sampling.unsignedInteger("seed");
    for (const Json &stop : json.array("stops")) {
        if (auto text = JsonObject::textOf(stop))
            request.stops.push_back(std::move(*text));
        else
            json.refuse("stops", "holds something that is not text");
    }
    request.maxTokens = json.integer("maxTokens", kAnyMin);
    request.topCandidates = json.integer("topCandidates", kAnyMin);
    request.cache = json.enumerator<CacheMode>("cache");
    request.reusesPrefix = json.boolean("reusesPrefix");
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

// Largest id that may stand in a record; a record made without a model knows no vocabulary.
int maxId(const RunRecord &record)
{
    return record.model.vocabulary > 0 ? record.model.vocabulary - 1 : std::numeric_limits<TokenId>::max();
}

TokenRecord readTokenBase(const JsonObject &json, const RunRecord &record)
{
    TokenRecord token;
    token.id = json.integer("id", 0, maxId(record));
    token.bytes = json.text("bytes");
    token.isSpecial = json.boolean("special");
    return token;
}

TokenRecord readPromptToken(const JsonObject &json, const RunRecord &record)
{
    TokenRecord token = readTokenBase(json, record);
    token.begin = json.unsignedInteger("begin");
    token.end = json.unsignedInteger("end");
    if (token.begin > token.end || token.end > record.promptText.size())
        json.refuse("end", "is " + std::to_string(token.end) + " after begin " + std::to_string(token.begin) +
                               ", expected a range inside the " + std::to_string(record.promptText.size()) +
                               " bytes of promptText");
    return token;
}

// A probability's logarithm: -inf is one, rounding may leave it a little above 0.
bool isLogprob(float value)
{
    return value <= 0.01f;
}

TokenRecord readOutputToken(const JsonObject &json, const RunRecord &record)
{
    TokenRecord token = readTokenBase(json, record);
    token.text = json.text("text");
    token.timeNs = json.ns("timeNs");
    token.stepNs = json.ns("stepNs");
    token.logprob = json.number("logprob");
    token.rank = json.integer("rank", 0, maxId(record));
    token.kvTokens = json.integer("kvTokens");
    token.kvBytes = json.unsignedInteger("kvBytes");
    if (!isLogprob(token.logprob))
        json.refuse("logprob", "is not a log-probability (0 or less)");
    if (!record.outputTokens.empty() && token.timeNs < record.outputTokens.back().timeNs)
        json.refuse("timeNs", "is " + std::to_string(token.timeNs) + ", before the token in front of it (" +
                                  std::to_string(record.outputTokens.back().timeNs) + ")");
    for (const Json &pair : json.array("top")) {
        const bool isPair = pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned();
        const auto logprob = isPair ? JsonObject::floatOf(pair[1]) : std::nullopt;
        if (!logprob || !isLogprob(*logprob) ||
            pair[0].get<std::uint64_t>() > static_cast<std::uint64_t>(maxId(record))) {
            json.refuse("top", "holds " + JsonObject::excerpt(pair) + ", expected [token id, log-probability]");
            break;
        }
        token.top.push_back({pair[0].get<TokenId>(), *logprob});
    }
    return token;
}

void readSpan(const JsonObject &json, std::int64_t &beginNs, std::int64_t &endNs)
{
    beginNs = json.ns("beginNs");
    endNs = json.ns("endNs");
    if (endNs < beginNs)
        json.refuse("endNs", "is " + std::to_string(endNs) + ", before beginNs (" + std::to_string(beginNs) + ")");
}

PrefillChunkRecord readChunk(const JsonObject &json, const RunRecord &record)
{
    const int next = record.prefillChunks.empty() ? record.reusedTokens : record.prefillChunks.back().to;
    PrefillChunkRecord chunk;
    chunk.from = json.integer("from", next, next); // chunks join
    chunk.to = json.integer("to", next, static_cast<int>(record.promptTokens.size()));
    readSpan(json, chunk.beginNs, chunk.endNs);
    if (!record.prefillChunks.empty() && chunk.beginNs < record.prefillChunks.back().endNs)
        json.refuse("beginNs", "is before the end of the chunk in front of it");
    return chunk;
}

KvSample readKv(const JsonObject &json, const RunRecord &record)
{
    KvSample sample;
    sample.timeNs = json.ns("timeNs");
    sample.tokens = json.integer("tokens");
    sample.usedBytes = json.unsignedInteger("usedBytes");
    sample.allocatedBytes = json.unsignedInteger("allocatedBytes");
    if (!record.kv.empty() && sample.timeNs < record.kv.back().timeNs)
        json.refuse("timeNs", "is " + std::to_string(sample.timeNs) + ", before the sample in front of it");
    if (sample.usedBytes > sample.allocatedBytes)
        json.refuse("usedBytes", "is more than allocatedBytes");
    return sample;
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

void readBody(const JsonObject &json, RunRecord &record)
{
    record.promptText = json.text("promptText");
    record.userRanges = readRanges(json, record.promptText.size());
    json.forEach("promptTokens",
                 [&](const JsonObject &token) { record.promptTokens.push_back(readPromptToken(token, record)); });
    // At least one prompt token is computed, whatever was reused.
    record.reusedTokens =
        json.integer("reusedTokens", 0, std::max(0, static_cast<int>(record.promptTokens.size()) - 1));
    json.forEach("phases", [&](const JsonObject &entry) {
        PhaseRecord phase;
        phase.phase = entry.enumerator<Phase>("phase");
        readSpan(entry, phase.beginNs, phase.endNs);
        record.phases.push_back(phase);
    });
    json.forEach("prefillChunks",
                 [&](const JsonObject &chunk) { record.prefillChunks.push_back(readChunk(chunk, record)); });
    json.forEach("outputTokens",
                 [&](const JsonObject &token) { record.outputTokens.push_back(readOutputToken(token, record)); });
    json.forEach("kv", [&](const JsonObject &sample) { record.kv.push_back(readKv(sample, record)); });
}

} // namespace

Result<RunRecord> recordFromJson(const Json &document)
{
    JsonProblem problem;
    const JsonObject json(document, problem);
    const int version = json.integer("schemaVersion", 1);
    if (!problem.error && version > kRunSchemaVersion)
        return fail(ErrorCode::Unsupported,
                    "the run has schema version " + std::to_string(version) + ", this program reads up to version " +
                        std::to_string(kRunSchemaVersion),
                    "schemaVersion", "Open it with a newer Lectern.");
    RunRecord record;
    record.programVersion = json.text("programVersion");
    record.createdUtc = json.text("createdUtc");
    record.machine = readMachine(json.object("machine"));
    record.model = readModel(json.object("model"));
    record.engine = readEngine(json.object("engine"));
    record.request = readRequest(json.object("request"));
    readEnd(json, record);
    readBody(json, record);
    if (problem.error)
        return tl::unexpected(std::move(*problem.error));
    return record;
}

} // namespace lectern
