// SPDX-License-Identifier: GPL-3.0-or-later
// Events become records, records become metrics, and a saved run is the run that was saved.
#include "engine/trace/event.h"
#include "engine/trace/event_json.h"
#include "engine/trace/metrics.h"
#include "engine/trace/operation_totals.h"
#include "engine/trace/run_json.h"
#include "tests/support/awkward_record.h"

#include <QTest>

#include <clocale>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

using namespace lectern;
using namespace lectern::test;

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

    void aPreemptedRunKeepsWhatItProduced()
    {
        RunRecord record;
        apply({1, TokenProduced{outputToken(7, 21), {21, 3, 30, 160}}}, record);
        apply({1, Preempted{{25, 3}, {25, 0, 0, 0}}}, record);
        QCOMPARE(record.state, RunState::Decode);
        QCOMPARE(record.answer(), std::string("t"));
        QCOMPARE(record.preemptions, (std::vector<PreemptionRecord>{{25, 3}}));
        QCOMPARE(record.kv.size(), 2u);
        QCOMPARE(record.kv.back().usedBytes, 0u);
        const PassRecord pass{30, 40, 2, 5, 4, {{Operation::Sample, -1, 9, 1, {}}}}; // computed again, beside another
        apply({1, PassTraced{pass}}, record);
        QCOMPARE(record.passes, std::vector<PassRecord>{pass});
    }

    // A program that reads events and one that reads files see the same fields.
    void eventsSpellPassesAndPreemptionsAsFilesDo()
    {
        const RunRecord record = awkwardRecord();
        const auto saved = nlohmann::ordered_json::parse(toJson(record));
        auto passed = nlohmann::ordered_json::parse(eventToJsonLine({3, PassTraced{record.passes[0]}}, record));
        QCOMPARE(passed["event"].get<std::string>(), std::string("passTraced"));
        QCOMPARE(passed["request"].get<int>(), 3);
        passed.erase("event");
        passed.erase("request");
        QCOMPARE(passed.dump(), saved["passes"][0].dump());
        QCOMPARE(passed["operations"][3].dump(), std::string("[1,1,5,5]")); // with the cost of the second one
        QCOMPARE(passed["costs"][1].dump(), std::string("[\"qkv\",1125899906842624,0,1125899906842624]"));
        QCOMPARE(eventToJsonLine({3, Preempted{{25, 7}, {25, 0, 0, 0}}}, record),
                 std::string(R"({"event":"preempted","request":3,"timeNs":25,"tokens":7,)"
                             R"("kv":{"timeNs":25,"tokens":0,"usedBytes":0,"allocatedBytes":0}})"));
    }

    void aFailedRunKeepsItsTextAndItsReason()
    {
        RunRecord record;
        apply({1, TokenProduced{outputToken(7, 21), {}}}, record);
        const Failed failed{{ErrorCode::Numerics, "NaN", "step 2", ""}, 30, 2, "ze"};
        apply({1, failed}, record);
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
        QVERIFY(!metrics.kvUsedBytes && !metrics.kvAllocatedBytes); // no sample, so not 0
        QCOMPARE(metrics.ttftNs.has_value(), !times.isEmpty() && times.first() > 0);
        QCOMPARE(metrics.endToEndNs, metrics.ttftNs);
        for (const char *key : {"kvUsedBytes", "kvAllocatedBytes", "stepSlopeErrorNsPerToken"})
            QVERIFY2(toJson(record).find(std::string("\"") + key + "\":null") != std::string::npos, key);
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
        QVERIFY(hasClearSlope(metricsOf(record)));
    }

    // Values by hand: x = 1 … 8, mean 4.5, Σ(x − mean)² = 42.
    void aSlopeIsClearOnlyAboveThreeTimesItsStandardError()
    {
        const auto metricsOfSteps = [](std::vector<int> steps) {
            RunRecord record;
            record.outputTokens.push_back(outputToken(0, 1, 1));
            for (const int step : steps)
                record.outputTokens.push_back(outputToken(0, 2, step));
            return metricsOf(record);
        };
        // Steps 100 ± 10 in turn: Σxy = 40, slope 40/42, Σy² = 800, residues 800 − 1600/42, ÷ 6 ÷ 42, root.
        const Metrics noisy = metricsOfSteps({90, 110, 90, 110, 90, 110, 90, 110});
        QVERIFY(std::abs(*noisy.stepSlopeNsPerToken - 40.0 / 42) < 1e-9);
        QVERIFY(std::abs(*noisy.stepSlopeErrorNsPerToken - std::sqrt((800 - 1600.0 / 42) / 252)) < 1e-9);
        QVERIFY(!hasClearSlope(noisy));
        // The same noise around steps that grow by 10: the slope grows by 10, the error stays.
        const Metrics growing = metricsOfSteps({100, 130, 120, 150, 140, 170, 160, 190});
        QVERIFY(std::abs(*growing.stepSlopeNsPerToken - 10 - 40.0 / 42) < 1e-9);
        QVERIFY(std::abs(*growing.stepSlopeErrorNsPerToken - *noisy.stepSlopeErrorNsPerToken) < 1e-9);
        QVERIFY(hasClearSlope(growing));
        // Slow spells: alone, each step would say 3.05 times its error; neighbours correlate with 0.6225, which is 2.07
        // times the error.
        std::vector<int> spells;
        for (const int step : {100, 112, 104, 112})
            spells.insert(spells.end(), 5, step);
        const Metrics slowed = metricsOfSteps(spells);
        QVERIFY(std::abs(*slowed.stepSlopeNsPerToken - 0.5263) < 1e-4);
        QVERIFY(std::abs(*slowed.stepSlopeNsPerToken / *slowed.stepSlopeErrorNsPerToken - 1.4726) < 1e-4);
        QVERIFY(!hasClearSlope(slowed));
        QVERIFY(!hasClearSlope(metricsOfSteps({70, 70, 70, 70, 70, 70, 70, 70}))); // nothing grows
        QVERIFY(!hasClearSlope(metricsOfSteps({70, 80})));                         // no slope at all
    }

    void operationsAddUpForPrefillAndDecode()
    {
        RunRecord record;
        record.outputTokens = {outputToken(1, 100), outputToken(2, 120), outputToken(3, 200)};
        record.passes = {
            {10, 50, 1, 8, 8, {{Operation::Qkv, 0, 0, 10, {600, 0, 900}}, {Operation::Qkv, 1, 10, 20, {600, 0, 900}}}},
            {50, 100, 2, 5, 1, {{Operation::Qkv, 0, 0, 50, {600, 300, 100}}}}, // the prompt's last token
            {100, 120, 2, 3, 1, {{Operation::Attention, 0, 0, 4, {0, 40, 20}}, {Operation::Sample, -1, 4, 6, {}}}},
            {130, 160, 1, 4, 4, {{Operation::Qkv, 0, 1, 20, {600, 0, 400}}}}, // again, after a preemption
            {160, 200, 1, 1, 1, {{Operation::Attention, 0, 0, 0, {0, 60, 20}}}}};
        const OperationTotals totals = operationTotalsOf(record);
        QCOMPARE(totals.prefill.passes, 3);
        QCOMPARE(totals.prefill.ownTokens, 13);
        QCOMPARE(totals.prefill.tokens, 17);
        QCOMPARE(totals.prefill.ns, 120);
        const OperationTotal &qkv = totals.prefill.of(Operation::Qkv);
        QCOMPARE(qkv.count, 4);
        QCOMPARE(qkv.ns, 100);
        QCOMPARE(qkv.cost, (OperationCost{2400, 300, 2300}));
        QCOMPARE(qkv.gigabytesPerSecond(), 27.0); // bytes a nanosecond, weights and keys and values
        QCOMPARE(qkv.gigaflopsPerSecond(), 23.0);
        QCOMPARE(totals.prefill.restNs(), 20);

        QCOMPARE(totals.decode.passes, 2);
        QCOMPARE(totals.decode.ns, 60);
        QCOMPARE(totals.decode.of(Operation::Attention).count, 2);
        QCOMPARE(totals.decode.of(Operation::Attention).cost, (OperationCost{0, 100, 40}));
        QCOMPARE(totals.decode.of(Operation::Sample).ns, 6);
        QCOMPARE(totals.decode.of(Operation::Sample).gigaflopsPerSecond(), 0.0);
        QCOMPARE(totals.decode.restNs(), 50);
        QCOMPARE(totals.decode.of(Operation::Qkv).count, 0);
    }

    void withoutACacheEveryPassAfterTheFirstTokenIsDecode()
    {
        RunRecord record;
        record.request.cache = CacheMode::None;
        record.passes = {{0, 10, 1, 8, 8, {}}, {10, 30, 1, 9, 9, {}}};
        QCOMPARE(operationTotalsOf(record).prefill.passes, 2); // no token yet
        record.outputTokens = {outputToken(1, 10)};
        const OperationTotals totals = operationTotalsOf(record);
        QCOMPARE(totals.prefill.passes, 1);
        QCOMPARE(totals.decode.passes, 1);
        QCOMPARE(totals.decode.ns, 20);
        QCOMPARE(OperationTotal().gigabytesPerSecond(), 0.0); // no time was measured
    }

    void aSavedRunIsLoadedAsItWas()
    {
        const RunRecord record = awkwardRecord();
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
        QVERIFY(loaded->request.tracesOperations);
        QCOMPARE(loaded->passes, record.passes);
        QCOMPARE(loaded->preemptions, record.preemptions);
        QCOMPARE(loaded->pausedNs, 7);
        QCOMPARE(*metricsOf(*loaded).tpotNs, *metricsOf(record).tpotNs);
    }

    void aRefusedRunIsLoadedAsItWas()
    {
        RunRecord record;
        record.createdUtc = "2025-01-02T03:04:05Z";
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
        const std::string before = toJson(awkwardRecord());
        if (!std::setlocale(LC_ALL, "de_DE.UTF-8"))
            QSKIP("the locale de_DE.UTF-8 is not installed");
        const std::string after = toJson(awkwardRecord());
        const Result<RunRecord> loaded = runFromJson(before);
        std::setlocale(LC_ALL, "C");
        QCOMPARE(after, before);
        QVERIFY(loaded);
        QCOMPARE(loaded->request.sampling.temperature, 0.7f);
    }

    void floatsAreWrittenAsShortAsTheyCanBe()
    {
        QVERIFY(toJson(awkwardRecord()).find("\"temperature\":0.7,") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestTrace)
#include "tst_trace.moc"
