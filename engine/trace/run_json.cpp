// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/run_json.h"

#include "engine/base/file.h"
#include "engine/trace/event.h"
#include "engine/trace/json_reader.h"
#include "engine/trace/names.h"
#include "engine/trace/pass_json.h"
#include "engine/trace/run_from_json.h"

#include <exception>
#include <new>

namespace lectern {

namespace {

// A run of 100,000 tokens with 20 candidates each takes about 60 MB; traced, 23,000 tokens of a model with 30 layers
// fit.
constexpr std::uint64_t kMaxFileBytes = 128ull << 20;
constexpr int kMaxNesting = 8; // records nest four deep
constexpr const char *kSchemaName = "lectern-run";
constexpr const char *kPassesKey = "passes";

// One line per field and per element of a list of objects: small enough, and two runs can be compared line by line.
// Every line is made by itself: the JSON values of a whole run take ten times the memory of its text.
class Layout
{
public:
    void add(const char *key, const Json &value)
    {
        begin(key);
        m_text += value.dump();
    }

    template <class List, class ToJson>
    void addList(const char *key, const List &list, ToJson toJsonOf)
    {
        begin(key);
        m_text += '[';
        for (const auto &element : list)
            m_text.append(&element == &list.front() ? "\n" : ",\n").append(toJsonOf(element).dump());
        m_text += list.empty() ? "]" : "\n]";
    }

    std::string finish() { return std::move(m_text) + "\n}\n"; }

private:
    void begin(const char *key)
    {
        m_text += m_text.size() > 1 ? ",\n" : "\n";
        m_text.append("\"").append(key).append("\": ");
    }

    std::string m_text = "{";
};

// How to get a run that can be saved: without what takes the most room in this one. Passes are the last field.
std::string remedyFor(std::string_view json)
{
    const std::size_t passes = json.rfind("\n\"" + std::string(kPassesKey) + "\": ");
    if (json.size() - passes > json.size() / 2)
        return "Run it without tracing operations, or for fewer tokens.";
    return "Shorten the prompt or keep fewer candidates for each token.";
}

Error withPath(Error error, const std::filesystem::path &path)
{
    const std::string file = path.filename().string();
    error.where = error.where.empty() ? file : file + ", " + error.where;
    return error;
}

} // namespace

std::string toJson(const RunRecord &record)
{
    Layout layout;
    layout.add("schema", kSchemaName);
    layout.add("schemaVersion", kRunSchemaVersion);
    layout.add("programVersion", textToJson(record.programVersion));
    layout.add("createdUtc", textToJson(record.createdUtc));
    layout.add("machine", machineToJson(record.machine));
    layout.add("model", modelToJson(record.model));
    layout.add("engine", engineToJson(record.engine));
    layout.add("request", requestToJson(record.request));
    layout.add("state", nameOf(record.state));
    if (record.finishReason)
        layout.add("finishReason", nameOf(*record.finishReason));
    if (record.error)
        layout.add("error", errorToJson(*record.error));
    layout.add("stopString", textToJson(record.stopString));
    layout.add("tailText", textToJson(record.tailText));
    layout.add("endedInsideCharacter", record.endedInsideCharacter);
    layout.add("endNs", record.endNs);
    layout.add("pausedNs", record.pausedNs);
    layout.add("reusedTokens", record.reusedTokens);
    // For readers of the file only: a program that loads it derives them again.
    layout.add("totals", metricsToJson(metricsOf(record)));
    layout.add("promptText", textToJson(record.promptText));
    layout.add("userRanges", rangesToJson(record.userRanges));
    layout.addList("phases", record.phases, phaseToJson);
    layout.addList("prefillChunks", record.prefillChunks, chunkToJson);
    layout.addList("promptTokens", record.promptTokens, promptTokenToJson);
    layout.addList("outputTokens", record.outputTokens, outputTokenToJson);
    layout.addList("kv", record.kv, kvToJson);
    layout.addList("preemptions", record.preemptions, preemptionToJson);
    layout.addList(kPassesKey, record.passes, passToJson);
    return layout.finish();
}

Result<RunRecord> runFromJson(std::string_view json)
try {
    if (json.size() > kMaxFileBytes)
        return fail(ErrorCode::BadFormat, "a run of " + std::to_string(json.size()) + " bytes is above the limit of " +
                                              std::to_string(kMaxFileBytes));
    if (nestsTooDeep(json, kMaxNesting))
        return fail(ErrorCode::BadFormat,
                    "not a saved run: lists and objects are nested more than " + std::to_string(kMaxNesting) + " deep");
    Json document;
    try {
        document = Json::parse(json);
    } catch (const Json::parse_error &error) {
        return fail(ErrorCode::BadFormat, "not a saved run: no JSON at byte " + std::to_string(error.byte), {},
                    "The file is damaged or cut short.");
    } catch (const Json::exception &) { // a number outside the range of its type
        return fail(ErrorCode::BadFormat, "not a saved run: a number is too large", {}, "The file is damaged.");
    }
    if (!document.is_object() || !document.contains("schema") || document["schema"] != kSchemaName)
        return fail(ErrorCode::BadFormat, std::string("not a saved run: \"schema\" is not \"") + kSchemaName + "\"");
    return recordFromJson(document);
} catch (const std::bad_alloc &) {
    return fail(ErrorCode::OutOfMemory, "there is too little memory for this run");
} catch (const std::exception &error) {
    return fail(ErrorCode::BadFormat, std::string("not a saved run: ") + error.what());
}

Result<void> saveRun(const RunRecord &record, const std::filesystem::path &path)
try {
    const std::string json = toJson(record);
    if (json.size() > kMaxFileBytes)
        return fail(ErrorCode::WriteFailed,
                    "the run takes " + std::to_string(json.size()) + " bytes; files of at most " +
                        std::to_string(kMaxFileBytes) + " bytes can be opened again",
                    path.string(), remedyFor(json));
    return writeFileAtomically(path, json);
} catch (const std::bad_alloc &) {
    return fail(ErrorCode::OutOfMemory, "there is too little memory to save this run", path.string());
}

Result<RunRecord> loadRun(const std::filesystem::path &path)
{
    const Result<std::string> bytes = readFile(path, kMaxFileBytes);
    if (!bytes)
        return tl::unexpected(bytes.error());
    return runFromJson(*bytes).map_error([&path](Error error) { return withPath(std::move(error), path); });
}

} // namespace lectern
