// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/run_json.h"

#include "engine/base/file.h"
#include "engine/trace/event.h"
#include "engine/trace/json_reader.h"
#include "engine/trace/names.h"
#include "engine/trace/run_from_json.h"

#include <exception>
#include <new>

namespace lectern {

namespace {

// A run of 100,000 tokens with 20 candidates each takes about 60 MB.
constexpr std::uint64_t kMaxFileBytes = 128ull << 20;
constexpr int kMaxNesting = 8; // records nest four deep
constexpr const char *kSchemaName = "lectern-run";

template <class List, class ToJson>
Json listToJson(const List &list, ToJson toJsonOf)
{
    Json array = Json::array();
    for (const auto &element : list)
        array.push_back(toJsonOf(element));
    return array;
}

Json recordToJson(const RunRecord &record)
{
    Json json = {{"schema", kSchemaName},
                 {"schemaVersion", kRunSchemaVersion},
                 {"programVersion", textToJson(record.programVersion)},
                 {"createdUtc", textToJson(record.createdUtc)},
                 {"machine", machineToJson(record.machine)},
                 {"model", modelToJson(record.model)},
                 {"engine", engineToJson(record.engine)},
                 {"request", requestToJson(record.request)},
                 {"state", nameOf(record.state)}};
    if (record.finishReason)
        json["finishReason"] = nameOf(*record.finishReason);
    if (record.error)
        json["error"] = errorToJson(*record.error);
    json["stopString"] = textToJson(record.stopString);
    json["tailText"] = textToJson(record.tailText);
    json["endedInsideCharacter"] = record.endedInsideCharacter;
    json["endNs"] = record.endNs;
    json["pausedNs"] = record.pausedNs;
    json["reusedTokens"] = record.reusedTokens;
    // For readers of the file only: a program that loads it derives them again.
    json["totals"] = metricsToJson(metricsOf(record));
    json["promptText"] = textToJson(record.promptText);
    json["userRanges"] = rangesToJson(record.userRanges);
    json["phases"] = phasesToJson(record.phases);
    json["prefillChunks"] = listToJson(record.prefillChunks, chunkToJson);
    json["promptTokens"] = listToJson(record.promptTokens, promptTokenToJson);
    json["outputTokens"] = listToJson(record.outputTokens, outputTokenToJson);
    json["kv"] = listToJson(record.kv, kvToJson);
    return json;
}

// One line per field and per element of a list of objects: small enough, and two runs can be compared line by line.
std::string laidOut(const Json &json)
{
    std::string text = "{";
    for (const auto &[key, value] : json.get_ref<const Json::object_t &>()) {
        text += text.size() > 1 ? ",\n" : "\n";
        text += Json(key).dump() + ": ";
        if (!value.is_array() || value.empty() || !value[0].is_object()) {
            text += value.dump();
            continue;
        }
        for (std::size_t i = 0; i < value.size(); ++i)
            text += (i == 0 ? "[\n" : ",\n") + value[i].dump();
        text += "\n]";
    }
    return text + "\n}\n";
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
    return laidOut(recordToJson(record));
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
                    path.string(), "Shorten the prompt or keep fewer candidates for each token.");
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
