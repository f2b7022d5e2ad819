// SPDX-License-Identifier: GPL-3.0-or-later
// Nothing in a saved run is trusted: what is damaged or cannot be is refused by the name of its field.
#include "engine/base/file.h"
#include "engine/trace/event.h"
#include "engine/trace/metrics.h"
#include "engine/trace/prompt_tokens.h"
#include "engine/trace/run_json.h"
#include "tests/support/awkward_record.h"
#include "tests/support/sample_record.h"

#include <QTemporaryDir>
#include <QTest>

#include <limits>
#include <nlohmann/json.hpp>

using namespace lectern;
using namespace lectern::test;
using Json = nlohmann::json;

namespace {

std::string changed(const std::string &pointer, const Json &value)
{
    auto json = Json::parse(toJson(awkwardRecord()));
    json[Json::json_pointer(pointer)] = value;
    return json.dump();
}

} // namespace

class TestSavedRuns : public QObject
{
    Q_OBJECT

private slots:
    void damagedFieldsAreNamed_data()
    {
        QTest::addColumn<QString>("pointer");
        QTest::addColumn<QString>("value"); // JSON
        QTest::addColumn<QString>("where");
        const auto row = [](const char *pointer, const Json &value, const char *where) {
            QTest::addRow("%s = %.40s", pointer, value.dump().c_str())
                << QString(pointer) << QString::fromStdString(value.dump()) << QString(where);
        };
        row("/schemaVersion", "1", "schemaVersion");
        row("/schemaVersion", 0, "schemaVersion");
        row("/machine", Json::array(), "machine");
        row("/machine/cores", -1, "machine.cores");
        row("/machine/memoryBytes", 1.5, "machine.memoryBytes");
        row("/model/name", 7, "model.name");
        row("/model/name", Json{{"hex", "0g"}}, "model.name");
        row("/request/kind", "poem", "request.kind");
        row("/request/messages/0/role", Json(), "request.messages[0].role");
        row("/request/sampling/topP", "much", "request.sampling.topP");
        row("/request/ids", Json{1ull << 40}, "request.ids");
        row("/request/ids", Json{std::numeric_limits<std::uint64_t>::max()}, "request.ids");
        row("/request/stops", Json{1}, "request.stops");
        row("/state", "dreaming", "state");
        row("/state", "decode", "finishReason");
        row("/state", "failed", "finishReason");
        row("/finishReason", "boredom", "finishReason");
        row("/endNs", -1, "endNs");
        row("/endedInsideCharacter", 1, "endedInsideCharacter");
        row("/userRanges", Json{{4, 3}}, "userRanges");
        row("/userRanges", Json{{0, 99}}, "userRanges");
        row("/reusedTokens", 4, "reusedTokens");
        row("/promptTokens/0/id", 300, "promptTokens[0].id");
        row("/promptTokens/3/end", 13, "promptTokens[3].end");
        row("/promptTokens/3/end", 6, "promptTokens[3].end");
        row("/prefillChunks/0/from", 0, "prefillChunks[0].from");
        row("/prefillChunks/1/to", 5, "prefillChunks[1].to");
        row("/prefillChunks/1/beginNs", 19, "prefillChunks[1].beginNs");
        row("/phases/1/endNs", 4, "phases[1].endNs");
        row("/outputTokens/1/timeNs", 30, "outputTokens[1].timeNs");
        row("/outputTokens/0/id", -1, "outputTokens[0].id");
        row("/outputTokens/0/rank", 300, "outputTokens[0].rank");
        row("/outputTokens/0/logprob", 2, "outputTokens[0].logprob");
        row("/outputTokens/0/logprob", Json(), "outputTokens[0].logprob");
        row("/outputTokens/0/logprob", "nan", "outputTokens[0].logprob");
        row("/outputTokens/0/top", Json{{300, -1}}, "outputTokens[0].top");
        row("/outputTokens/0/top", Json{{1}}, "outputTokens[0].top");
        row("/outputTokens", "many", "outputTokens");
        row("/kv/1/timeNs", 9, "kv[1].timeNs");
        row("/kv/1/usedBytes", 1e6, "kv[1].usedBytes");
        row("/kv/1/usedBytes", 368'641, "kv[1].usedBytes");
        row("/kv/1/tokens", 7, "kv[1].tokens");
        row("/createdUtc", "yesterday", "createdUtc");
        row("/createdUtc", "2025-13-02T03:04:05Z", "createdUtc");
        row("/model/sha256", "abc", "model.sha256");
        row("/engine/kvBlockTokens", 0, "engine.kvBlockTokens");
        row("/engine/threads", 0, "engine.threads");
        row("/engine/kvBytesPerToken", 1ull << 63, "engine.kvBytesPerToken");
        row("/endNs", std::numeric_limits<std::int64_t>::max(), "endNs");
        row("/endNs", 49, "endNs");
        row("/request/maxTokens", 1, "outputTokens");
        row("/phases/2/phase", "tokenize", "phases[2].phase");
        row("/prefillChunks/1/to", 3, "prefillChunks[1].to");
        row("/prefillChunks/1", Json(), "prefillChunks[1]");
        row("/prefillChunks", Json::array(), "prefillChunks");
        row("/outputTokens/1/stepNs", 51, "outputTokens[1].stepNs");
        row("/outputTokens/1/stepNs", std::numeric_limits<std::int64_t>::max(), "outputTokens[1].stepNs");
        row("/outputTokens/1/kvTokens", 6, "outputTokens[1].kvTokens");
        row("/outputTokens/0/text", "a", "outputTokens[0].text");
        row("/outputTokens/1/bytes", "u", "outputTokens[1].text");
        row("/promptTokens/2/begin", 1, "promptTokens[2].begin");
        row("/request/tracesOperations", 1, "request.tracesOperations");
        row("/request/tracesOperations", false, "passes");
        row("/passes/0/beginNs", -1, "passes[0].beginNs");
        row("/passes/1/beginNs", 19, "passes[1].beginNs"); // before the end of the pass in front of it
        row("/passes/0/endNs", 9, "passes[0].endNs");
        row("/passes/2/endNs", 61, "passes[2].endNs"); // after the end of the run
        row("/passes/0/sequences", 0, "passes[0].sequences");
        row("/passes/0/ownTokens", 0, "passes[0].ownTokens");
        row("/passes/0/ownTokens", 1, "passes[0].tokens"); // one sequence, and tokens of nobody
        row("/passes/0/ownTokens", 3, "passes[0].tokens");
        row("/passes/0/sequences", 2, "passes[0].tokens"); // none of them is left for the other sequence
        row("/passes/2/sequences", std::numeric_limits<int>::max(), "passes[2].tokens");
        row("/passes/2/ownTokens", 7, "passes[2].ownTokens"); // prompt and output are 6
        row("/passes/0/tokens", 1ull << 31, "passes[0].tokens");
        row("/passes/0/costs", Json(), "passes[0].costs");
        row("/passes/0/costs/1", Json{"matmul", 1, 2, 3}, "passes[0].costs");
        row("/passes/0/costs/1", Json{7, 1, 2, 3}, "passes[0].costs");
        row("/passes/0/costs/1", Json{"qkv", 1, 2}, "passes[0].costs");
        row("/passes/0/costs/1", Json{"qkv", 1, 2, 3, 4}, "passes[0].costs");
        row("/passes/0/costs/1/1", -1, "passes[0].costs");
        row("/passes/0/costs/1/2", (1ull << 50) + 1, "passes[0].costs");
        row("/passes/0/costs/1/3", 0.5, "passes[0].costs");
        row("/passes/0/operations", Json::object(), "passes[0].operations");
        row("/passes/0/operations/1", 3, "passes[0].operations");
        row("/passes/0/operations/1", Json{1, 0, 0}, "passes[0].operations");
        row("/passes/0/operations/1/0", 4, "passes[0].operations"); // there are costs 0 to 3
        row("/passes/0/operations/1/0", -1, "passes[0].operations");
        row("/passes/0/operations/1/1", -2, "passes[0].operations[1].layer");
        row("/passes/0/operations/1/1", 2, "passes[0].operations[1].layer");
        row("/passes/0/operations/1/2", -1, "passes[0].operations");
        row("/passes/0/operations/2/2", 2, "passes[0].operations[2].offsetNs"); // the one in front of it ends at 3
        row("/passes/0/operations/3/2", 11, "passes[0].operations[3].offsetNs");
        row("/passes/0/operations/3/3", 6, "passes[0].operations[3].ns"); // beyond the end of the pass
        row("/passes/0/operations/3/3", std::numeric_limits<std::int64_t>::max(), "passes[0].operations");
        row("/model/layers", 1, "passes[0].operations[3].layer");
        row("/model/layers", 0, "passes[0].operations[1].layer");
        row("/preemptions", Json(), "preemptions");
        row("/preemptions/0/timeNs", 21, "preemptions[1].timeNs");
        row("/preemptions/2/timeNs", 61, "preemptions[2].timeNs");
        row("/preemptions/2/tokens", 7, "preemptions[2].tokens");
        row("/preemptions/2/tokens", -1, "preemptions[2].tokens");
    }

    void damagedFieldsAreNamed()
    {
        QFETCH(QString, pointer);
        QFETCH(QString, value);
        QFETCH(QString, where);
        const Result<RunRecord> loaded = runFromJson(changed(pointer.toStdString(), Json::parse(value.toStdString())));
        QVERIFY(!loaded);
        QCOMPARE(loaded.error().code, ErrorCode::BadFormat);
        QCOMPARE(QString::fromStdString(loaded.error().where), where);
        QVERIFY(!loaded.error().message.empty());
    }

    void byteLevelTokensAreTheBytesOfTheText()
    {
        RunRecord record = awkwardRecord();
        record.model.tokenizer = "gpt2 / smollm";
        QVERIFY(runFromJson(toJson(record)));
        record.promptTokens[3].bytes = "other";
        const Result<RunRecord> loaded = runFromJson(toJson(record));
        QVERIFY(!loaded);
        QCOMPARE(loaded.error().text(),
                 std::string("promptTokens[3].bytes: is \"other\", promptText has \" more\" there"));
    }

    void aRunWhosePromptLeavesBytesOutIsLoadedAsItWas()
    {
        RunRecord record = awkwardRecord();
        record.model.tokenizer = "gpt2 / smollm";
        record.promptText = "\x04\xe9\x91\xab and\x04\x06 mor\x04"
                            "e\xff"; // the last token is merged across a byte
        for (const auto &[index, begin, end] : {std::tuple{0, 1, 3}, {1, 3, 4}, {2, 4, 8}, {3, 10, 16}}) {
            record.promptTokens[static_cast<std::size_t>(index)].begin = static_cast<std::size_t>(begin);
            record.promptTokens[static_cast<std::size_t>(index)].end = static_cast<std::size_t>(end);
        }
        const Result<RunRecord> loaded = runFromJson(toJson(record));
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        const std::vector<TextRange> leftOut{{0, 1}, {8, 10}, {14, 15}, {16, 17}};
        QCOMPARE(leftOutRanges(*loaded), leftOut);
        QCOMPARE(leftOutRanges(record), leftOut);
        record.promptTokens[3].end = 17; // a range ends with a byte of its token
        QVERIFY(!runFromJson(toJson(record)));
    }

    // Other tokenizers normalise: what a range holds beside the token's bytes was not left out.
    void onlyBetweenTokensThatNormaliseSomethingIsLeftOut()
    {
        RunRecord record = awkwardRecord();
        record.model.tokenizer = "llama";
        record.promptText = "a   b\u00e9";
        record.promptTokens.resize(2);
        record.promptTokens[0].bytes = " a";
        record.promptTokens[1].bytes = " b";
        record.promptTokens[0].end = 1;
        record.promptTokens[1].begin = 1;
        record.promptTokens[1].end = 5;
        QCOMPARE(leftOutRanges(record), (std::vector<TextRange>{{5, 7}}));
    }

    // What an engine writes: at any moment of a run, with and without a cache.
    void everyMomentOfARunIsLoadedAsItWas()
    {
        for (const CacheMode cache : {CacheMode::Kv, CacheMode::None})
            for (const int outputTokens : {0, 1, 40})
                for (const bool isFinished : {false, true}) {
                    SampleRun run;
                    run.isTraced = isFinished == (outputTokens > 0);
                    run.cache = cache;
                    run.outputTokens = outputTokens;
                    run.isFinished = isFinished;
                    run.reusedTokens = 3;
                    run.chunkTokens = 5;
                    const RunRecord record = sampleRecord(run);
                    const Result<RunRecord> loaded = runFromJson(toJson(record));
                    QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
                    QCOMPARE(toJson(*loaded), toJson(record));
                    QCOMPARE(loaded->passes, record.passes);
                }
        RunRecord cancelled = sampleRecord({.outputTokens = 0, .isFinished = false});
        cancelled.prefillChunks.clear();
        finish(cancelled, FinishReason::Cancelled);
        QVERIFY(runFromJson(toJson(cancelled)));
    }

    // It loses its cache inside the prompt and inside the answer; what it held is computed again beside another run,
    // without being told as prefill once more.
    void everyMomentOfAPreemptedRunIsLoadedAsItWas()
    {
        const auto operations = std::vector<OperationRecord>{{Operation::Qkv, 0, 0, 2, {9, 0, 9}}};
        const auto kv = [](std::int64_t timeNs, std::uint64_t tokens) {
            return KvSample{timeNs, static_cast<int>(tokens), 10 * tokens, tokens > 0 ? 160u : 0u};
        };
        const auto token = [](std::int64_t timeNs, std::int64_t stepNs, int kvTokens) {
            TokenRecord record;
            record.timeNs = timeNs;
            record.stepNs = stepNs;
            record.kvTokens = kvTokens;
            return record;
        };
        Queued queued;
        queued.record.request.tracesOperations = true;
        queued.record.model.layers = 1;
        const std::vector<EventBody> events{
            queued,
            Tokenized{"", {}, std::vector<TokenRecord>(6), 1, {{Phase::Tokenize, 1, 4}}},
            KvGrew{kv(5, 1)},
            PassTraced{{6, 10, 1, 2, 2, operations}},
            PrefillChunk{{1, 3, 6, 10}, kv(10, 3)},
            Preempted{{12, 3}, kv(12, 0)},
            PassTraced{{40, 50, 2, 6, 5, operations}}, // tokens 0 to 4
            PrefillChunk{{3, 5, 40, 50}, kv(50, 5)},
            PassTraced{{50, 60, 2, 2, 1, operations}},
            PrefillChunk{{5, 6, 50, 60}, kv(60, 6)},
            TokenProduced{token(61, 11, 6), kv(61, 6)},
            PassTraced{{61, 70, 3, 3, 1, operations}},
            TokenProduced{token(70, 9, 7), kv(70, 7)},
            Preempted{{70, 7}, kv(70, 0)},
            Preempted{{80, 0}, kv(80, 0)},
            PassTraced{{90, 95, 1, 4, 4, operations}},
            PassTraced{{95, 99, 2, 5, 4, {}}},
            TokenProduced{token(99, 9, 8), kv(99, 8)},
            Finished{FinishReason::MaxTokens, "", "", false, 99, 30}};
        RunRecord record;
        for (const EventBody &event : events) {
            apply({1, event}, record);
            const Result<RunRecord> loaded = runFromJson(toJson(record));
            QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
            QCOMPARE(toJson(*loaded), toJson(record));
            QCOMPARE(loaded->passes, record.passes);
            QCOMPARE(loaded->preemptions, record.preemptions);
        }
        QCOMPARE(record.passes.size(), 6u);
        QCOMPARE(record.preemptions.size(), 3u);
    }

    // Every value of a run, one after the other, becomes something else: it is refused by the name of its field, or
    // loads as a run whose metrics can be computed (sanitizer builds see what overflows).
    void anyOtherValueIsRefusedByNameOrHarmless()
    {
        const std::vector<Json> values{Json(),
                                       true,
                                       "word",
                                       -1,
                                       0,
                                       1.5,
                                       std::numeric_limits<std::int64_t>::max(),
                                       std::numeric_limits<std::int64_t>::min(),
                                       std::numeric_limits<std::uint64_t>::max(),
                                       Json::array(),
                                       Json::object(),
                                       Json::array({Json::array({1, 2, 3})})};
        const Json whole = Json::parse(toJson(awkwardRecord()));
        const Json flat = whole.flatten();
        int refused = 0;
        for (const auto &[pointer, unused] : flat.items()) {
            if (pointer.starts_with("/schema") || pointer.starts_with("/totals"))
                continue;
            for (const Json &value : values) {
                Json json = whole;
                json[Json::json_pointer(pointer)] = value;
                const Result<RunRecord> loaded = runFromJson(json.dump());
                if (loaded) {
                    const Metrics metrics = metricsOf(*loaded);
                    QVERIFY2(!metrics.tpotNs || *metrics.tpotNs > 0, pointer.c_str());
                    QVERIFY(!toJson(*loaded).empty());
                    continue;
                }
                ++refused;
                // Named is the field, or the list that does not fit to it any more.
                const std::string field = pointer.substr(1, pointer.find('/', 1) - 1);
                const std::string text = loaded.error().text();
                const bool isNamed = text.find(field) != std::string::npos || text.starts_with("promptTokens[") ||
                                     text.starts_with("prefillChunks") || text.starts_with("outputTokens") ||
                                     text.starts_with("passes");
                QVERIFY2(isNamed, (pointer + " = " + value.dump() + ": " + text).c_str());
            }
        }
        QVERIFY(refused > 1000);
    }

    // 244 operations of a model with 30 layers. With the cost in every row they are 8.5 kB.
    void aTracedPassTakesFiveKilobytes()
    {
        SampleRun run{.outputTokens = 1001};
        const std::size_t withoutTrace = toJson(sampleRecord(run)).size();
        run.isTraced = true;
        const RunRecord record = sampleRecord(run);
        QCOMPARE(record.passes.size(), 1001u);
        QCOMPARE(record.passes.back().operations.size(), 244u);
        const std::size_t bytes = (toJson(record).size() - withoutTrace) / record.passes.size();
        QVERIFY2(bytes > 4500 && bytes < 6000, std::to_string(bytes).c_str());
    }

    void everyFieldIsRequired()
    {
        const auto whole = Json::parse(toJson(awkwardRecord()));
        for (const auto &[key, unused] : whole.items()) {
            auto json = whole;
            json.erase(key);
            const Result<RunRecord> loaded = runFromJson(json.dump());
            if (key == "totals") { // derived again
                QVERIFY(loaded);
                continue;
            }
            QVERIFY2(!loaded, key.c_str());
            QVERIFY2(loaded.error().text().find(key) != std::string::npos, loaded.error().text().c_str());
        }
    }

    void aRunCutShortAnywhereIsRefused()
    {
        const std::string json = toJson(awkwardRecord());
        for (std::size_t percent = 0; percent < 100; ++percent) {
            const Result<RunRecord> loaded = runFromJson(std::string_view(json).substr(0, json.size() * percent / 100));
            QVERIFY(!loaded);
            QCOMPARE(loaded.error().code, ErrorCode::BadFormat);
        }
    }

    void otherFilesAreRefused_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("another kind of JSON") << QByteArray("{\"schema\": \"lectern-theme\", \"schemaVersion\": 1}");
        QTest::newRow("a list") << QByteArray("[1, 2]");
        QTest::newRow("a number") << QByteArray("1e99999");
        QTest::newRow("an invalid byte") << QByteArray("{\"schema\": \"\xff\"}");
        QTest::newRow("a model") << QByteArray("GGUF\3\0\0\0", 8);
        QTest::newRow("a million brackets") << QByteArray(1'000'000, '[');
        QTest::newRow("a million objects") << QByteArray("{\"a\":").repeated(1'000'000);
    }

    void otherFilesAreRefused()
    {
        QFETCH(QByteArray, bytes);
        const Result<RunRecord> loaded =
            runFromJson(std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
        QVERIFY(!loaded);
        QCOMPARE(loaded.error().code, ErrorCode::BadFormat);
        QVERIFY2(loaded.error().message.find("not a saved run") == 0, loaded.error().message.c_str());
    }

    void filesAreSavedAndLoadedByAnyName()
    {
        const QTemporaryDir folder;
        const std::filesystem::path path =
            std::filesystem::path(folder.path().toStdString()) / u8"ü 数 ' \" run.lectern.json";
        QVERIFY(saveRun(awkwardRecord(), path));
        const Result<RunRecord> loaded = loadRun(path);
        QVERIFY(loaded);
        QCOMPARE(toJson(*loaded), toJson(awkwardRecord()));

        QVERIFY(writeFileAtomically(path, changed("/kv/1/timeNs", 9)));
        const Result<RunRecord> damaged = loadRun(path);
        QVERIFY(!damaged);
        QVERIFY(damaged.error().where.find("run.lectern.json, kv[1].timeNs") != std::string::npos);
        QVERIFY(!loadRun(folder.path().toStdString()));
        QCOMPARE(saveRun(awkwardRecord(), path / "inside").error().code, ErrorCode::WriteFailed);
    }

    void aRunThatCouldNotBeOpenedAgainIsNotSaved()
    {
        const QTemporaryDir folder;
        const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "run.lectern.json";
        RunRecord record = awkwardRecord();
        record.request.text.assign(128u << 20, 'a');
        const Result<void> saved = saveRun(record, path);
        QVERIFY(!saved);
        QCOMPARE(saved.error().code, ErrorCode::WriteFailed);
        QVERIFY2(saved.error().message.find("134217728") != std::string::npos, saved.error().text().c_str());
        QVERIFY2(saved.error().remedy.find("Shorten the prompt") == 0, saved.error().remedy.c_str());

        record.request.text.resize(60u << 20);
        record.passes.assign(350'000, awkwardRecord().passes[0]); // the larger half
        const Result<void> traced = saveRun(record, path);
        QVERIFY(!traced);
        QCOMPARE(traced.error().remedy, std::string("Run it without tracing operations, or for fewer tokens."));
        QVERIFY(!std::filesystem::exists(path));
    }
};

QTEST_APPLESS_MAIN(TestSavedRuns)
#include "tst_saved_runs.moc"
