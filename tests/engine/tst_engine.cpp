// SPDX-License-Identifier: GPL-3.0-or-later
// Order: which events come when, what waits for what, how a run is stopped and paused, what is computed and when.
#include "engine/engine.h"
#include "engine/trace/metrics.h"
#include "engine/trace/run_json.h"
#include "tests/support/scripted_engine.h"

#include <QTest>

#include <atomic>
#include <thread>

using namespace lectern;
using namespace lectern::test;

class TestEngine : public QObject
{
    Q_OBJECT

private:
    ScriptedEngine m_engine;

private slots:
    void init() { m_engine.start(); }

    void eventsComeInOrder()
    {
        m_engine.script->tokens = bytesOf("Hi");
        m_engine.script->tokens.push_back(kEndToken);
        RecordingSink sink = m_engine.run(idsRequest(2 * kPass + 2));
        QCOMPARE(sink.story(),
                 std::string("queued tokenized grew chunk grew chunk grew chunk token token token finished"));
        QCOMPARE(
            m_engine.script->passes,
            (std::vector<Pass>{{0, kPass}, {kPass, kPass}, {2 * kPass, 2}, {2 * kPass + 2, 1}, {2 * kPass + 3, 1}}));
        const RunRecord &record = sink.record;
        QCOMPARE(record.finishReason, FinishReason::EndToken);
        QCOMPARE(record.answer(), std::string("Hi"));
        QCOMPARE(record.outputTokens.size(), 3u);
        QCOMPARE(record.outputTokens[2].id, kEndToken);
        QVERIFY(record.outputTokens[2].isSpecial);
        QCOMPARE(record.outputTokens[2].text, std::string());
        QCOMPARE(record.outputTokens[2].bytes, std::string("<|im_end|>"));
        QCOMPARE(record.outputTokens[0].rank, 0);
        QCOMPARE(record.outputTokens[0].top.size(), 20u);
        QCOMPARE(record.outputTokens[0].kvTokens, 2 * kPass + 2);
        QCOMPARE(record.outputTokens[2].kvTokens, 2 * kPass + 4);
        QCOMPARE(record.engine.backend, std::string("scripted"));
        QCOMPARE(record.programVersion, engineVersion());
        QCOMPARE(record.request.ids.size(), std::size_t{2 * kPass + 2});
    }

    void theRecordOfARunCanBeSavedAndLoaded()
    {
        const RecordingSink sink = m_engine.run(idsRequest(kPass + 6, 20));
        const Result<RunRecord> loaded = runFromJson(toJson(sink.record));
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QCOMPARE(toJson(*loaded), toJson(sink.record));
    }

    void kvBytesAreCountedWhereTheyAreAllocated()
    {
        const RecordingSink sink = m_engine.run(idsRequest(16, 3));
        const std::uint64_t perToken = sink.record.engine.kvBytesPerToken;
        QCOMPARE(perToken, 2u * 2 * 2 * 16 * 2); // K and V, layers, KV heads, head size, F16
        const std::vector<KvSample> &kv = sink.record.kv;
        QCOMPARE(kv.front().tokens, 0);
        QCOMPARE(kv.front().allocatedBytes, 16 * perToken);
        QCOMPARE(kv.back().tokens, 18);
        QCOMPARE(kv.back().usedBytes, 18 * perToken);
        QCOMPARE(kv.back().allocatedBytes, 32 * perToken);
    }

    void requestsRunInTheOrderTheyCame()
    {
        RecordingSink first;
        RecordingSink second;
        std::vector<RequestId> order;
        first.onEvent = second.onEvent = [&](const Event &event) { order.push_back(event.request); };
        const RequestId a = m_engine.engine->submit(idsRequest(3, 2), first);
        const RequestId b = m_engine.engine->submit(idsRequest(3, 2), second);
        QVERIFY(m_engine.engine->step());
        QCOMPARE(second.story(), std::string("queued")); // both are announced at once
        m_engine.finish();
        QCOMPARE(first.story(), std::string("queued tokenized grew chunk token token finished"));
        QCOMPARE(second.story(), std::string("queued tokenized chunk token token finished"));
        QCOMPARE(order, (std::vector<RequestId>{a, b, a, a, a, a, a, a, b, b, b, b, b}));
        QVERIFY(!m_engine.engine->step());
    }

    void aRunThatIsStoppedEndsOnce_data()
    {
        QTest::addColumn<int>("stopAtPass"); // 0: before the first step, -1: between two steps of decoding
        QTest::addColumn<QString>("story");
        QTest::newRow("before it starts") << 0 << "queued finished";
        QTest::newRow("in the first chunk") << 1 << "queued tokenized grew finished";
        QTest::newRow("in a later chunk") << 2 << "queued tokenized grew chunk grew finished";
        QTest::newRow("while decoding") << 4 << "queued tokenized grew chunk grew chunk token token finished";
        QTest::newRow("between steps") << -1 << "queued tokenized grew chunk grew chunk token finished";
    }

    void aRunThatIsStoppedEndsOnce()
    {
        QFETCH(int, stopAtPass);
        QFETCH(QString, story);
        RecordingSink sink;
        const RequestId id = m_engine.engine->submit(idsRequest(kPass + 36), sink);
        m_engine.script->onPass = [&] {
            if (static_cast<int>(m_engine.script->passes.size()) == stopAtPass)
                m_engine.engine->cancel(id);
        };
        if (stopAtPass == 0)
            m_engine.engine->cancel(id);
        if (stopAtPass == -1) {
            for (int i = 0; i < 3; ++i)
                m_engine.engine->step();
            m_engine.engine->cancel(id);
        }
        m_engine.finish();
        m_engine.engine->cancel(id); // harmless
        m_engine.engine->cancel(id + 1);
        m_engine.finish();
        QCOMPARE(QString::fromStdString(sink.story()), story);
        QCOMPARE(sink.ends(), 1);
        QCOMPARE(sink.record.finishReason, FinishReason::Cancelled);
        m_engine.script->onPass = nullptr;
        QCOMPARE(m_engine.run(idsRequest(3)).record.finishReason, FinishReason::MaxTokens); // the next run works
    }

    void aWaitingRequestCanBeStopped()
    {
        RecordingSink first;
        RecordingSink second;
        m_engine.engine->submit(idsRequest(3), first);
        const RequestId id = m_engine.engine->submit(idsRequest(3), second);
        m_engine.engine->step();
        m_engine.engine->cancel(id);
        m_engine.finish();
        QCOMPARE(second.story(), std::string("queued finished"));
        QCOMPARE(second.record.finishReason, FinishReason::Cancelled);
        QCOMPARE(first.record.finishReason, FinishReason::MaxTokens);
    }

    void withoutACacheEveryStepComputesEverything()
    {
        Request request = idsRequest(kPass + 2, 3);
        request.cache = CacheMode::None;
        const RecordingSink sink = m_engine.run(request);
        QCOMPARE(m_engine.script->passes,
                 (std::vector<Pass>{{0, kPass}, {kPass, 2}, {0, kPass}, {kPass, 3}, {0, kPass}, {kPass, 4}}));
        QCOMPARE(sink.story(), std::string("queued tokenized chunk chunk token token token finished"));
        QCOMPARE(sink.record.kv.size(), 5u);
        for (const KvSample &sample : sink.record.kv)
            QVERIFY(sample.tokens == 0 && sample.usedBytes == 0 && sample.allocatedBytes == 0);
        QCOMPARE(m_engine.run(idsRequest(kPass + 2, 3)).record.reusedTokens, 0); // nothing was kept
    }

    // Public case 62.
    void aPrefixOfTheLastRunIsReusedAndCounted()
    {
        const auto counts = [](const RecordingSink &sink) {
            const Metrics metrics = metricsOf(sink.record);
            return std::vector<int>{metrics.promptTokens, metrics.reusedTokens, metrics.evaluatedTokens};
        };
        QCOMPARE(counts(m_engine.run(idsRequest(50))), (std::vector<int>{50, 0, 50}));
        QCOMPARE(counts(m_engine.run(idsRequest(50))), (std::vector<int>{50, 49, 1}));
        QCOMPARE(m_engine.script->passes.front(), (Pass{49, 1}));
        Request fresh = idsRequest(50);
        fresh.reusesPrefix = false;
        QCOMPARE(counts(m_engine.run(fresh)), (std::vector<int>{50, 0, 50}));

        m_engine.script->tokens = bytesOf("12");
        m_engine.run(idsRequest(50, 3)); // leaves the prompt, "1" and "2"; its third token was not computed
        Request longer = idsRequest(50);
        for (const TokenId id : bytesOf("12345"))
            longer.ids.push_back(id);
        QCOMPARE(counts(m_engine.run(longer)), (std::vector<int>{55, 52, 3}));
        Request other = idsRequest(50);
        other.ids[20] = 'Z';
        QCOMPARE(counts(m_engine.run(other)), (std::vector<int>{50, 20, 30}));
    }

    void timesAreCountedFromSubmissionInTheirParts()
    {
        m_engine.script->onPass = [this] { m_engine.nowNs += 10; };
        RecordingSink sink;
        m_engine.engine->submit(idsRequest(kPass + 6, 3), sink);
        m_engine.nowNs += 100; // waiting
        m_engine.finish();
        const RunRecord &record = sink.record;
        QCOMPARE(record.prefillChunks[0].beginNs, 100);
        QCOMPARE(record.prefillChunks[0].endNs, 110);
        QCOMPARE(record.prefillChunks[1].endNs, 120);
        QCOMPARE(record.outputTokens[0].timeNs, 120);
        QCOMPARE(record.outputTokens[0].stepNs, 10);
        QCOMPARE(record.outputTokens[1].timeNs, 130);
        QCOMPARE(record.outputTokens[2].stepNs, 10);
        QCOMPARE(record.endNs, 140);
        QCOMPARE(*metricsOf(record).ttftNs, 120.0);
        QCOMPARE(*metricsOf(record).prefillNs, 20.0);
        QCOMPARE(*metricsOf(record).tpotNs, 10.0);
    }

    void aPausedRunTakesNoStepsAndItsClockStandsStill()
    {
        m_engine.script->onPass = [this] { m_engine.nowNs += 10; };
        RecordingSink sink;
        const RequestId id = m_engine.engine->submit(idsRequest(3, 3), sink);
        m_engine.engine->step();
        m_engine.engine->step();
        m_engine.engine->pause(id);
        m_engine.nowNs += 5000;
        QVERIFY(!m_engine.engine->step());
        QCOMPARE(sink.record.outputTokens.size(), 1u);
        m_engine.engine->pause(id); // twice is once
        m_engine.nowNs += 5000;
        m_engine.engine->resume(id);
        m_engine.finish();
        QCOMPARE(sink.record.outputTokens[1].timeNs, 20);
        QCOMPARE(sink.record.endNs, 30);
        QCOMPARE(sink.record.pausedNs, 10'000);
    }

    void aPauseAskedForInsideAStepBeginsAfterIt()
    {
        RecordingSink sink;
        const RequestId id = m_engine.engine->submit(idsRequest(3, 3), sink);
        m_engine.script->onPass = [&] {
            m_engine.engine->pause(id);
            m_engine.nowNs += 10;
        };
        m_engine.engine->step();
        m_engine.engine->step();
        m_engine.nowNs += 5000;
        QVERIFY(!m_engine.engine->step());
        QCOMPARE(sink.record.outputTokens[0].timeNs, 10);
        m_engine.engine->resume(id);
        m_engine.engine->step();
        QCOMPARE(sink.record.outputTokens[1].timeNs, 20);
    }

    void aPausedRunCanBeStoppedAndOthersWaitBehindIt()
    {
        RecordingSink first;
        RecordingSink second;
        const RequestId id = m_engine.engine->submit(idsRequest(3), first);
        m_engine.engine->submit(idsRequest(3), second);
        m_engine.engine->step();
        m_engine.engine->pause(id);
        QVERIFY(!m_engine.engine->step());
        QCOMPARE(second.story(), std::string("queued"));
        m_engine.engine->cancel(id);
        m_engine.finish();
        QCOMPARE(first.record.finishReason, FinishReason::Cancelled);
        QCOMPARE(second.record.finishReason, FinishReason::MaxTokens);
    }

    void aWaitingRequestThatIsPausedKeepsItsPlace()
    {
        RecordingSink first;
        RecordingSink second;
        const RequestId id = m_engine.engine->submit(idsRequest(3), first);
        m_engine.engine->pause(id);
        m_engine.engine->submit(idsRequest(3), second);
        QVERIFY(m_engine.engine->step()); // both are announced
        QVERIFY(!m_engine.engine->step());
        QCOMPARE(first.story(), std::string("queued"));
        QCOMPARE(second.story(), std::string("queued"));
        second.onEvent = [&](const Event &) { QVERIFY(first.record.finishReason.has_value()); };
        m_engine.engine->resume(id);
        m_engine.finish();
        QCOMPARE(first.record.finishReason, FinishReason::MaxTokens);
        QCOMPARE(second.record.finishReason, FinishReason::MaxTokens);
    }

    // A request that comes while a model is unloaded belongs to whatever is loaded next.
    void aRequestThatComesDuringUnloadingIsNotLost()
    {
        RecordingSink ending;
        RecordingSink late;
        m_engine.engine->submit(idsRequest(3), ending);
        ending.onEvent = [&](const Event &event) {
            if (std::holds_alternative<Finished>(event.body))
                m_engine.engine->submit(idsRequest(3), late);
        };
        m_engine.engine->unload();
        QCOMPARE(ending.story(), std::string("queued finished"));
        QCOMPARE(late.story(), std::string());
        m_engine.finish();
        QCOMPARE(late.story(), std::string("queued failed"));
    }

    void unloadingEndsEveryRequestOnce()
    {
        RecordingSink active;
        RecordingSink waiting;
        m_engine.engine->submit(idsRequest(3), active);
        m_engine.engine->step();
        m_engine.engine->step();
        m_engine.engine->submit(idsRequest(3), waiting);
        m_engine.engine->unload();
        QVERIFY(!m_engine.engine->loaded());
        QCOMPARE(active.record.finishReason, FinishReason::Cancelled);
        QCOMPARE(waiting.story(), std::string("queued finished"));
        QVERIFY(!m_engine.engine->step());
        const RecordingSink refused = m_engine.run(idsRequest(3));
        QCOMPARE(refused.story(), std::string("queued failed"));
        QCOMPARE(refused.record.error->message, std::string("no model is loaded"));
    }

    void requestsMayComeAndBeStoppedFromAnotherThread()
    {
        constexpr int kRequests = 40;
        std::vector<RecordingSink> sinks(kRequests);
        std::atomic<int> ended = 0;
        for (RecordingSink &sink : sinks)
            sink.onEvent = [&](const Event &event) {
                if (std::holds_alternative<Finished>(event.body))
                    ++ended;
            };
        std::thread other([&] {
            for (int i = 0; i < kRequests; ++i) {
                const RequestId id = m_engine.engine->submit(idsRequest(70), sinks[static_cast<std::size_t>(i)]);
                m_engine.engine->pause(id);
                if (i % 2 == 1)
                    m_engine.engine->cancel(id);
                m_engine.engine->resume(id);
            }
        });
        while (ended < kRequests)
            m_engine.engine->step();
        other.join();
        for (int i = 0; i < kRequests; ++i) {
            const RecordingSink &sink = sinks[static_cast<std::size_t>(i)];
            QCOMPARE(sink.ends(), 1);
            if (i % 2 == 0)
                QCOMPARE(sink.record.finishReason, FinishReason::MaxTokens);
        }
    }

    void logitsAreRefusedWhileARunIsActive()
    {
        RecordingSink sink;
        m_engine.engine->submit(idsRequest(3), sink);
        m_engine.engine->step();
        QVERIFY(!m_engine.engine->logits(std::vector<TokenId>{1}, StopFlag()));
        m_engine.finish();
        QCOMPARE(m_engine.engine->logits(std::vector<TokenId>{1}, StopFlag())->size(), 300u);
        QVERIFY(!m_engine.engine->logits({}, StopFlag()));
        QVERIFY(!m_engine.engine->logits(std::vector<TokenId>{300}, StopFlag()));
        QCOMPARE(m_engine.run(idsRequest(3)).record.reusedTokens, 0);
    }
};

QTEST_APPLESS_MAIN(TestEngine)
#include "tst_engine.moc"
