// SPDX-License-Identifier: GPL-3.0-or-later
// Several runs at once: what shares a pass, who gives way when blocks run out, what leaves the others alone.
#include "engine/engine.h"
#include "engine/trace/request_limits.h"
#include "tests/support/scripted_engine.h"

#include <QTest>

using namespace lectern;
using namespace lectern::test;

class TestScheduler : public QObject
{
    Q_OBJECT

private:
    using Batches = std::vector<std::vector<Pass>>;

    void start(int maxRuns, int kvTokens = 0)
    {
        LoadOptions options;
        options.maxRuns = maxRuns;
        options.kvBudgetBytes = static_cast<std::uint64_t>(kvTokens) * kTokenBytes;
        m_engine.start(options);
    }

    // No prefix in common with any other of another `letter`.
    static Request requestOf(char letter, int promptTokens, int maxTokens = 4)
    {
        Request request = idsRequest(0, maxTokens);
        request.ids.assign(static_cast<std::size_t>(promptTokens), letter);
        return request;
    }

    RequestId submit(const Request &request, RecordingSink &sink) { return m_engine.engine->submit(request, sink); }

    static constexpr std::uint64_t kTokenBytes = 256; // of the tiny model in F16: 2 · 2 layers · 2 heads · 16 · 2
    ScriptedEngine m_engine;

private slots:
    void runsThatDecodeShareOnePass()
    {
        start(3);
        RecordingSink a, b, c;
        submit(requestOf('a', 3), a);
        submit(requestOf('b', 4), b);
        submit(requestOf('c', 5), c);
        m_engine.finish();
        // Each step prepares one prompt, so they join one after another, and leave one after another.
        QCOMPARE(m_engine.script->batches, (Batches{{{0, 3}},
                                                    {{3, 1}, {0, 4}},
                                                    {{4, 1}, {4, 1}, {0, 5}},
                                                    {{5, 1}, {5, 1}, {5, 1}},
                                                    {{6, 1}, {6, 1}},
                                                    {{7, 1}}}));
        for (const RecordingSink *sink : {&a, &b, &c}) {
            QCOMPARE(sink->record.finishReason, FinishReason::MaxTokens);
            QCOMPARE(sink->record.outputTokens.size(), 4u);
        }
    }

    void aPromptGetsWhatDecodingLeavesOfAPass()
    {
        start(3);
        RecordingSink a, b, c;
        submit(requestOf('a', 3, 8), a);
        submit(requestOf('b', kPass + 10), b);
        submit(requestOf('c', 40), c);
        m_engine.finish();
        const Batches &batches = m_engine.script->batches;
        QCOMPARE(batches[1], (std::vector<Pass>{{3, 1}, {0, kPass - 1}}));
        QCOMPARE(batches[2], (std::vector<Pass>{{4, 1}, {kPass - 1, 11}, {0, 40}})); // in order of arrival
        int most = 0;
        for (const std::vector<Pass> &batch : batches) {
            int tokens = 0;
            for (const Pass &pass : batch)
                tokens += pass.tokens;
            most = std::max(most, tokens);
        }
        QCOMPARE(most, kPass);
    }

    void noMoreRunsThanAllowedAtOnceAndTheNextJoinsWhenOneEnds()
    {
        start(2);
        RecordingSink a, b, c;
        submit(requestOf('a', 3, 2), a);
        submit(requestOf('b', 3, 6), b);
        submit(requestOf('c', 3, 2), c);
        m_engine.finish();
        QCOMPARE(
            m_engine.script->batches,
            (Batches{{{0, 3}}, {{3, 1}, {0, 3}}, {{3, 1}}, {{4, 1}, {0, 3}}, {{5, 1}, {3, 1}}, {{6, 1}}, {{7, 1}}}));
    }

    void stoppingOneInAPassLeavesTheOthersAlone()
    {
        start(2);
        RecordingSink a, b;
        const RequestId first = submit(requestOf('a', 3, 6), a);
        submit(requestOf('b', 3, 6), b);
        m_engine.script->onPass = [&] {
            if (m_engine.script->batches.size() == 3)
                m_engine.engine->cancel(first);
        };
        m_engine.finish();
        QCOMPARE(a.record.finishReason, FinishReason::Cancelled);
        QCOMPARE(a.record.outputTokens.size(), 2u);
        QCOMPARE(b.record.finishReason, FinishReason::MaxTokens);
        QCOMPARE(b.story(), std::string("queued tokenized grew chunk token token token token token token finished"));
        QCOMPARE(m_engine.script->batches[2], (std::vector<Pass>{{4, 1}, {3, 1}}));
        QCOMPARE(m_engine.script->batches[3], (std::vector<Pass>{{3, 1}})); // the same token once more
        QCOMPARE(b.record.outputTokens[0].kvTokens, 3);
        QCOMPARE(b.record.outputTokens[1].kvTokens, 4);
    }

    void pausingOneLeavesTheOthersAlone()
    {
        start(2);
        RecordingSink a, b;
        const RequestId first = submit(requestOf('a', 3), a);
        submit(requestOf('b', 3), b);
        for (int i = 0; i < 3; ++i)
            QVERIFY(m_engine.engine->step());
        m_engine.engine->pause(first);
        m_engine.finish();
        QCOMPARE(b.record.finishReason, FinishReason::MaxTokens);
        QVERIFY(a.record.state == RunState::Decode);
        m_engine.engine->resume(first);
        m_engine.finish();
        QCOMPARE(a.record.finishReason, FinishReason::MaxTokens);
        QCOMPARE(a.record.outputTokens.size(), 4u);
    }

    void theYoungestGivesItsBlocksWhenTheyRunOut()
    {
        start(2, 64); // four blocks
        RecordingSink a, b;
        submit(requestOf('a', 30, 20), a); // 30 + 19 held at the end: four blocks
        submit(requestOf('b', 20, 8), b);  // two blocks
        m_engine.finish();
        QCOMPARE(a.count<Preempted>(), 0);
        QCOMPARE(b.count<Preempted>(), 1);
        QCOMPARE(b.record.preemptions.size(), 1u);
        QVERIFY(b.record.preemptions[0].tokens >= 20);
        for (const RecordingSink *sink : {&a, &b})
            QCOMPARE(sink->record.finishReason, FinishReason::MaxTokens);
        QCOMPARE(a.record.outputTokens.size(), 20u);
        QCOMPARE(b.record.outputTokens.size(), 8u);
        QCOMPARE(b.record.prefillChunks.size(), 1u); // what is computed again is not told again
        // While it waits the older one runs alone; it comes back when that one has ended.
        const Pass &last = m_engine.script->batches.back().front();
        QCOMPARE(last, (Pass{26, 1}));
    }

    void aPromptThatFindsNoRoomWaitsForTheOlderOnes()
    {
        start(2, 64);
        RecordingSink a, b;
        submit(requestOf('a', 40, 4), a); // three blocks
        submit(requestOf('b', 40, 4), b);
        m_engine.finish();
        for (const RecordingSink *sink : {&a, &b}) {
            QCOMPARE(sink->record.finishReason, FinishReason::MaxTokens);
            QCOMPARE(sink->count<Preempted>(), 0);
        }
        QCOMPARE(m_engine.script->passes[4], (Pass{0, 40})); // after the four passes of the first
    }

    void aPausedRunGivesItsBlocksToOneThatNeedsThem()
    {
        start(2, 64);
        RecordingSink a, b;
        const RequestId first = submit(requestOf('a', 40), a);
        submit(requestOf('b', 40), b);
        m_engine.engine->step(); // prepares the first
        m_engine.engine->step(); // its prompt
        m_engine.engine->pause(first);
        m_engine.finish();
        QCOMPARE(b.record.finishReason, FinishReason::MaxTokens);
        QCOMPARE(a.count<Preempted>(), 1);
        m_engine.engine->resume(first);
        m_engine.finish();
        QCOMPARE(a.record.finishReason, FinishReason::MaxTokens);
        QCOMPARE(a.record.outputTokens.size(), 4u);
    }

    void aRunThatOutgrowsAllMemoryEndsAndTheNextOneRuns()
    {
        start(2, 64);
        RecordingSink a, b;
        submit(requestOf('a', 40, 100), a);
        submit(requestOf('b', 10, 4), b);
        m_engine.finish();
        QCOMPARE(a.record.finishReason, FinishReason::MemoryFull);
        QCOMPARE(a.record.outputTokens.size(), 25u); // the last one is not held
        QCOMPARE(b.record.finishReason, FinishReason::MaxTokens);
    }

    void cachesOfEndedRunsGoBeforeAnyRunIsPreempted()
    {
        start(2, 64);
        RecordingSink gone, a, b;
        submit(requestOf('x', 20, 2), gone);
        m_engine.finish(); // its two blocks stay for its prefix
        submit(requestOf('a', 20, 2), a);
        submit(requestOf('b', 20, 2), b);
        m_engine.finish();
        QCOMPARE(a.count<Preempted>() + b.count<Preempted>(), 0);
        QCOMPARE(b.record.finishReason, FinishReason::MaxTokens);
    }

    void aPrefixIsTakenOverFromARunThatIsStillGoing()
    {
        start(2);
        RecordingSink a, b;
        submit(requestOf('s', 40, 6), a);
        submit(requestOf('s', 50, 2), b);
        m_engine.finish();
        QCOMPARE(b.record.reusedTokens, 40);
        QCOMPARE(b.record.prefillChunks[0].from, 40);
        Request unshared = requestOf('s', 50, 2);
        unshared.reusesPrefix = false;
        QCOMPARE(m_engine.run(unshared).record.reusedTokens, 0);
    }

    void operationsAreRecordedWhereTheyAreAskedFor()
    {
        start(2);
        RecordingSink a, b;
        Request traced = requestOf('a', 3, 3);
        traced.tracesOperations = true;
        submit(traced, a);
        submit(requestOf('b', 4, 3), b);
        m_engine.finish();
        QVERIFY(b.record.passes.empty());
        QCOMPARE(b.count<PassTraced>(), 0);
        QCOMPARE(a.record.passes.size(), 3u);
        const PassRecord &shared = a.record.passes[1];
        QCOMPARE(shared.sequences, 2);
        QCOMPARE(shared.tokens, 5);
        QCOMPARE(shared.ownTokens, 1);
        QCOMPARE(shared.operations.front().operation, Operation::Embed);
    }

    void moreRunsThanTheLimitAreRefusedByName()
    {
        for (const int runs : {0, -1, kMaxRuns + 1}) {
            LoadOptions options;
            options.maxRuns = runs;
            m_engine.start();
            RecordingSink sink;
            const auto loaded = m_engine.engine->load("nothing.gguf", options, sink, StopFlag());
            QVERIFY(!loaded);
            QCOMPARE(loaded.error().text(), "runs at the same time: is " + std::to_string(runs) + ", expected 1 to 64");
        }
    }
};

QTEST_GUILESS_MAIN(TestScheduler)
#include "tst_scheduler.moc"
