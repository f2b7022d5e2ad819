// SPDX-License-Identifier: GPL-3.0-or-later
// Events become records, records become metrics, and a saved run is the run that was saved.
#include "engine/base/file.h"
#include "engine/trace/event.h"
#include "engine/trace/metrics.h"
#include "engine/trace/run_json.h"

#include <QTemporaryDir>
#include <QTest>

#include <clocale>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

using namespace lectern;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TokenRecord outputToken(TokenId id, std::int64_t timeNs, std::int64_t stepNs = 1000)
{
    TokenRecord token;
    token.id = id;
    token.text = "t";
    token.timeNs = timeNs;
    token.stepNs = stepNs;
    return token;
}

RunRecord runWithTimes(const std::vector<std::int64_t> &times)
{
    RunRecord record;
    for (const std::int64_t timeNs : times)
        record.outputTokens.push_back(outputToken(1, timeNs));
    return record;
}

// A record with something awkward in every field.
RunRecord fullRecord()
{
    RunRecord record;
    record.programVersion = "0.1.0";
    record.createdUtc = "2025-01-02T03:04:05Z";
    record.machine = {"CPU \"A\"", 2, "AVX2", 8ull << 30, "", "Linux x86_64"};
    record.model.name = "Tiny";
    record.model.fileName = "tïny.gguf";
    record.model.vocabulary = 300;
    record.model.fileBytes = 98'362'432;
    record.engine = {"cpu", "AVX2", 2, 90'000'000, 23'040, 188'743'680, 16, 8192};
    record.request.kind = PromptKind::Chat;
    record.request.text = std::string("a\0b\xff", 4);
    record.request.messages = {{"user", "What's the capital of France?"}};
    record.request.ids = {0, 7};
    record.request.sampling = {0.7f, 40, 0.9f, 0.05f, 1.1f, std::numeric_limits<std::uint64_t>::max()};
    record.request.stops = {"\n\n", "end"};
    record.request.cache = CacheMode::None;
    record.request.reusesPrefix = false;
    record.promptText = "\xe9\x91\xab and more";
    record.userRanges = {{0, 3}, {4, 7}};
    for (const auto &[begin, end] : {std::pair{0, 2}, {2, 3}, {3, 7}, {7, 12}}) {
        TokenRecord token;
        token.id = begin;
        token.bytes = record.promptText.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        token.begin = static_cast<std::size_t>(begin);
        token.end = static_cast<std::size_t>(end);
        record.promptTokens.push_back(token);
    }
    record.reusedTokens = 1;
    record.phases = {
        {Phase::Template, 0, 5}, {Phase::Tokenize, 5, 9}, {Phase::Prefill, 10, 30}, {Phase::Decode, 31, 50}};
    record.prefillChunks = {{1, 3, 10, 20}, {3, 4, 20, 30}};
    record.kv = {{10, 1, 23'040, 368'640}, {20, 3, 69'120, 368'640}, {50, 5, 115'200, 368'640}};
    TokenRecord token = outputToken(299, 31, 11);
    token.bytes = "\xe9\x91";
    token.text = "";
    token.logprob = -0.1f;
    token.rank = 2;
    token.kvTokens = 4;
    token.kvBytes = 92'160;
    token.top = {{5, -0.05f}, {299, -0.1f}, {6, -std::numeric_limits<float>::infinity()}};
    record.outputTokens = {token, outputToken(3, 50)};
    record.outputTokens[1].logprob = -std::numeric_limits<float>::infinity();
    record.tailText = "\xef\xbf\xbd";
    record.endedInsideCharacter = true;
    record.state = RunState::Finished;
    record.finishReason = FinishReason::StopString;
    record.stopString = "end";
    record.endNs = 60;
    record.pausedNs = 7;
    return record;
}

std::string changed(const std::string &pointer, const nlohmann::json &value)
{
    auto json = nlohmann::json::parse(toJson(fullRecord()));
    json[nlohmann::json::json_pointer(pointer)] = value;
    return json.dump();
}

} // namespace

class TestTrace : public QObject
{
    Q_OBJECT

private slots:
    void eventsBecomeARecord()
    {
        Queued queued;
        queued.record.programVersion = "0.1.0";
        RunRecord record;
        apply({1, LoadProgress{LoadPhase::Weights, 1, 2}}, record);
        QCOMPARE(record.state, RunState::Queued);
        apply({1, queued}, record);
        QCOMPARE(record.programVersion, std::string("0.1.0"));
        Tokenized tokenized{"ab", {}, {TokenRecord{}, TokenRecord{}, TokenRecord{}}, 1, {{Phase::Tokenize, 1, 4}}};
        apply({1, tokenized}, record);
        QCOMPARE(record.state, RunState::Prefill);
        apply({1, KvGrew{{5, 1, 10, 160}}}, record);
        apply({1, PrefillChunk{{1, 2, 6, 10}, {10, 2, 20, 160}}}, record);
        apply({1, PrefillChunk{{2, 3, 12, 20}, {20, 3, 30, 160}}}, record);
        apply({1, TokenProduced{outputToken(7, 21), {21, 3, 30, 160}}}, record);
        apply({1, TokenProduced{outputToken(8, 30), {30, 4, 40, 160}}}, record);
        QCOMPARE(record.state, RunState::Decode);
        Finished finished;
        finished.reason = FinishReason::MaxTokens;
        finished.tailText = "!";
        finished.timeNs = 31;
        apply({1, finished}, record);

        QCOMPARE(record.state, RunState::Finished);
        QCOMPARE(record.finishReason, FinishReason::MaxTokens);
        QCOMPARE(record.reusedTokens, 1);
        QCOMPARE(record.answer(), std::string("tt!"));
        QCOMPARE(record.kv.size(), 5u);
        QCOMPARE(record.kv[1].usedBytes, 20u);
        QCOMPARE(record.phases.size(), 3u);
        QCOMPARE(record.phases[1].beginNs, 6); // prefill: first chunk's begin to last chunk's end
        QCOMPARE(record.phases[1].endNs, 20);
        QCOMPARE(record.phases[2].beginNs, 21); // decode: first token to last token
        QCOMPARE(record.phases[2].endNs, 30);
    }

    void aFailedRunKeepsItsTextAndItsReason()
    {
        RunRecord record;
        apply({1, TokenProduced{outputToken(7, 21), {}}}, record);
        apply({1, Failed{{ErrorCode::Numerics, "NaN", "step 2", ""}, 30, 2, "ze"}}, record);
        QCOMPARE(record.state, RunState::Failed);
        QCOMPARE(record.answer(), std::string("tze"));
        QCOMPARE(record.error->where, std::string("step 2"));
        QCOMPARE(record.pausedNs, 2);
        QVERIFY(!record.finishReason);
    }

    // Public case 61: request at 0.0 s, first token at 2.0 s, 101st and last at 6.0 s.
    void decodeSpeedLeavesOutTheWaitForTheFirstToken()
    {
        std::vector<std::int64_t> times;
        for (int i = 0; i <= 100; ++i)
            times.push_back(2 * kSecond + i * kSecond / 25);
        const Metrics metrics = metricsOf(runWithTimes(times));
        QCOMPARE(*metrics.ttftNs, 2e9);
        QCOMPARE(*metrics.decodeTokensPerSecond, 25.0);
        QCOMPARE(*metrics.tpotNs, 40e6);
        QCOMPARE(*metrics.endToEndNs, 6e9);
        QCOMPARE(metrics.passes, 101);
    }

    // Public case 62: 50 prompt tokens, 49 of them from the cache.
    void promptTokensAreCountedInTotalReusedAndEvaluated()
    {
        RunRecord record;
        record.promptTokens.resize(50);
        record.reusedTokens = 49;
        record.prefillChunks = {{49, 50, 0, kSecond / 4}};
        const Metrics metrics = metricsOf(record);
        QCOMPARE(metrics.promptTokens, 50);
        QCOMPARE(metrics.reusedTokens, 49);
        QCOMPARE(metrics.evaluatedTokens, 1);
        QCOMPARE(metrics.contextTokens, 50);
        QCOMPARE(*metrics.prefillTokensPerSecond, 4.0);
    }

    void aPrefillThatWasStoppedCountsWhatItComputed()
    {
        RunRecord record;
        record.promptTokens.resize(200);
        record.prefillChunks = {{0, 64, 10, 10 + kSecond}};
        QCOMPARE(metricsOf(record).evaluatedTokens, 200);
        QCOMPARE(metricsOf(record).computedTokens, 64);
        QCOMPARE(*metricsOf(record).prefillTokensPerSecond, 64.0);
        QCOMPARE(metricsOf(record).passes, 1);
    }

    // Public case 64.
    void whatWasNotMeasuredIsMissing_data()
    {
        QTest::addColumn<QList<qint64>>("times");
        QTest::newRow("no token") << QList<qint64>{};
        QTest::newRow("one token") << QList<qint64>{1000};
        QTest::newRow("the clock stood still") << QList<qint64>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
        QTest::newRow("the clock stood still after the first token") << QList<qint64>{5, 5, 5};
    }

    void whatWasNotMeasuredIsMissing()
    {
        QFETCH(QList<qint64>, times);
        RunRecord record = runWithTimes({times.begin(), times.end()});
        for (TokenRecord &token : record.outputTokens)
            token.stepNs = 0;
        record.prefillChunks = {{0, 4, 7, 7}};
        const Metrics metrics = metricsOf(record);
        QVERIFY(!metrics.tpotNs);
        QVERIFY(!metrics.decodeTokensPerSecond);
        QVERIFY(!metrics.itlP50Ns && !metrics.itlP90Ns && !metrics.itlP99Ns);
        QVERIFY(!metrics.prefillNs && !metrics.prefillTokensPerSecond);
        QVERIFY(!metrics.stepSlopeNsPerToken);
        QVERIFY(!metrics.templateNs && !metrics.tokenizeNs);
        QCOMPARE(metrics.ttftNs.has_value(), !times.isEmpty() && times.first() > 0);
        QCOMPARE(metrics.endToEndNs, metrics.ttftNs);
        QVERIFY(toJson(record).find("null") != std::string::npos);
    }

    // Public case 65: one unit, nanoseconds, everywhere.
    void timeToFirstTokenIsInNanoseconds() { QCOMPARE(*metricsOf(runWithTimes({2'350'000'000})).ttftNs, 2350e6); }

    void percentilesTakeTheNearestRank()
    {
        std::vector<std::int64_t> times{10};
        for (int gap = 10; gap >= 1; --gap) // gaps 10, 9, ... 1
            times.push_back(times.back() + gap);
        const Metrics metrics = metricsOf(runWithTimes(times));
        QCOMPARE(*metrics.itlP50Ns, 5.0);
        QCOMPARE(*metrics.itlP90Ns, 9.0);
        QCOMPARE(*metrics.itlP99Ns, 10.0);
    }

    void stepTimesThatGrowByThreePerTokenHaveSlopeThree()
    {
        RunRecord record;
        record.promptTokens.resize(100);
        record.outputTokens.push_back(outputToken(0, 1, 999'999)); // prefill: does not count
        for (int i = 1; i <= 7; ++i)
            record.outputTokens.push_back(outputToken(0, 1 + i, 50 + 3 * i));
        QVERIFY(!metricsOf(record).stepSlopeNsPerToken); // 7 steps are too few
        record.outputTokens.push_back(outputToken(0, 9, 50 + 3 * 8));
        QVERIFY(std::abs(*metricsOf(record).stepSlopeNsPerToken - 3.0) < 1e-9);
    }

    void aSavedRunIsLoadedAsItWas()
    {
        const RunRecord record = fullRecord();
        const Result<RunRecord> loaded = runFromJson(toJson(record));
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QCOMPARE(toJson(*loaded), toJson(record));
        QCOMPARE(loaded->request.text, record.request.text);
        QCOMPARE(loaded->request.sampling, record.request.sampling);
        QCOMPARE(loaded->request.messages, record.request.messages);
        QCOMPARE(loaded->request.stops, record.request.stops);
        QCOMPARE(loaded->request.cache, CacheMode::None);
        QCOMPARE(loaded->userRanges, record.userRanges);
        QCOMPARE(loaded->promptTokens[1].bytes, std::string("\xab"));
        QCOMPARE(loaded->promptTokens[1].begin, 2u);
        QCOMPARE(loaded->outputTokens[0].bytes, std::string("\xe9\x91"));
        QCOMPARE(loaded->outputTokens[0].logprob, -0.1f);
        QCOMPARE(loaded->outputTokens[0].top, record.outputTokens[0].top);
        QCOMPARE(loaded->outputTokens[1].logprob, -std::numeric_limits<float>::infinity());
        QCOMPARE(loaded->kv[1].usedBytes, 69'120u);
        QCOMPARE(loaded->engine.kvBudgetBytes, 188'743'680u);
        QCOMPARE(loaded->finishReason, FinishReason::StopString);
        QVERIFY(loaded->endedInsideCharacter);
        QCOMPARE(loaded->pausedNs, 7);
        QCOMPARE(*metricsOf(*loaded).tpotNs, *metricsOf(record).tpotNs);
    }

    void aRefusedRunIsLoadedAsItWas()
    {
        RunRecord record;
        record.request.maxTokens = -5;
        record.request.sampling.temperature = std::numeric_limits<float>::quiet_NaN();
        record.state = RunState::Failed;
        record.error = Error{ErrorCode::InvalidInput, "is -5", "max tokens", "Ask for more."};
        const Result<RunRecord> loaded = runFromJson(toJson(record));
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QCOMPARE(loaded->error->text(), std::string("max tokens: is -5. Ask for more."));
        QCOMPARE(loaded->request.maxTokens, -5);
        QVERIFY(std::isnan(loaded->request.sampling.temperature));
    }

    // Public case 73: files have the decimal point, whatever the locale.
    void numbersDoNotDependOnTheLocale()
    {
        const std::string before = toJson(fullRecord());
        if (!std::setlocale(LC_ALL, "de_DE.UTF-8"))
            QSKIP("the locale de_DE.UTF-8 is not installed");
        const std::string after = toJson(fullRecord());
        const Result<RunRecord> loaded = runFromJson(before);
        std::setlocale(LC_ALL, "C");
        QCOMPARE(after, before);
        QVERIFY(loaded);
        QCOMPARE(loaded->request.sampling.temperature, 0.7f);
    }

    void floatsAreWrittenAsShortAsTheyCanBe()
    {
        QVERIFY(toJson(fullRecord()).find("\"temperature\":0.7,") != std::string::npos);
    }

    void damagedFieldsAreNamed_data()
    {
        using Json = nlohmann::json;
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
    }

    void damagedFieldsAreNamed()
    {
        QFETCH(QString, pointer);
        QFETCH(QString, value);
        QFETCH(QString, where);
        const Result<RunRecord> loaded =
            runFromJson(changed(pointer.toStdString(), nlohmann::json::parse(value.toStdString())));
        QVERIFY(!loaded);
        QCOMPARE(loaded.error().code, ErrorCode::BadFormat);
        QCOMPARE(QString::fromStdString(loaded.error().where), where);
        QVERIFY(!loaded.error().message.empty());
    }

    void everyFieldIsRequired()
    {
        const auto whole = nlohmann::json::parse(toJson(fullRecord()));
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

    void newerVersionsAreRefusedWithBothNumbers()
    {
        const Result<RunRecord> loaded = runFromJson(changed("/schemaVersion", 2));
        QVERIFY(!loaded);
        QCOMPARE(loaded.error().code, ErrorCode::Unsupported);
        QVERIFY(loaded.error().message.find("version 2") != std::string::npos);
        QVERIFY(loaded.error().message.find("version 1") != std::string::npos);
    }

    void aRunCutShortAnywhereIsRefused()
    {
        const std::string json = toJson(fullRecord());
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
        QVERIFY(saveRun(fullRecord(), path));
        const Result<RunRecord> loaded = loadRun(path);
        QVERIFY(loaded);
        QCOMPARE(toJson(*loaded), toJson(fullRecord()));

        QVERIFY(writeFileAtomically(path, changed("/kv/1/timeNs", 9)));
        const Result<RunRecord> damaged = loadRun(path);
        QVERIFY(!damaged);
        QVERIFY(damaged.error().where.find("run.lectern.json, kv[1].timeNs") != std::string::npos);
        QVERIFY(!loadRun(folder.path().toStdString()));
        QCOMPARE(saveRun(fullRecord(), path / "inside").error().code, ErrorCode::WriteFailed);
    }

    void aRunThatCouldNotBeOpenedAgainIsNotSaved()
    {
        const QTemporaryDir folder;
        const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "run.lectern.json";
        RunRecord record = fullRecord();
        record.request.text.assign(128u << 20, 'a');
        const Result<void> saved = saveRun(record, path);
        QVERIFY(!saved);
        QCOMPARE(saved.error().code, ErrorCode::WriteFailed);
        QVERIFY2(saved.error().message.find("134217728") != std::string::npos, saved.error().text().c_str());
        QVERIFY(!std::filesystem::exists(path));
    }
};

QTEST_APPLESS_MAIN(TestTrace)
#include "tst_trace.moc"
