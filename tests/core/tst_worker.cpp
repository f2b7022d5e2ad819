// SPDX-License-Identifier: GPL-3.0-or-later
// The queue between the threads and the runs of the worker, as the controller turns them into records.
#include "tests/support/scripted_session.h"

#include <QSignalSpy>
#include <QTest>

#include <thread>

using namespace lectern;
using namespace lectern::test;

namespace {

QByteArray kindOf(const Event &event)
{
    static const QByteArray names[] = {"load", "queued", "tokenized", "prefill",  "token",
                                       "kv",   "traced", "preempted", "finished", "failed"};
    static_assert(std::size(names) == std::variant_size_v<EventBody>);
    return names[event.body.index()];
}

} // namespace

class TestWorker : public QObject
{
    Q_OBJECT

private slots:
    void aHundredThousandEventsArriveInOrderWithOneWakeUpPerFlush();
    void framesComeOnlyWhenAskedForAndMergeRequests();
    void aFrameIsDoneAfterAllThatItPosted();
    void textFollowsEveryFrameAndFiguresEveryFourthAndTheLast();
    void eventsOfARunComeInOrderWithOneEnd();
    void theRecordHoldsWhatTheEngineSaid();
    void aFailureIsTheOneEndAndKeepsWhatWasProduced();
    void aRefusedRequestEndsWithItsReasonAndLeavesNoRow();
    void stopBeforeTheStartEndsTheRunOnce();
    void stopEndsTheRunOnce_data();
    void stopEndsTheRunOnce();
    void stopOfAPausedRunEndsItOnce();
    void stepPausesAfterEachTokenAndResumeGoesToTheEnd();
    void stepOverTheLastTokenEndsTheRun();
    void actionsInTheWrongStateDoNothing();
    void eventsOfAnEarlierRunAreDropped();
    void removingTheRunningRunStopsIt();
};

void TestWorker::aHundredThousandEventsArriveInOrderWithOneWakeUpPerFlush()
{
    constexpr int kEvents = 100'000;
    EventQueue queue;
    FrameClock clock;
    clock.setIntervalMs(1);
    std::atomic<int> wakeUps{0};
    connect(
        &queue, &EventQueue::pendingAvailable, &queue, [&] { ++wakeUps; }, Qt::DirectConnection);
    connect(&queue, &EventQueue::pendingAvailable, &clock, &FrameClock::request, Qt::QueuedConnection);
    int flushes = 0;
    int next = 0;
    bool isInOrder = true;
    connect(&clock, &FrameClock::frame, this, [&] {
        const std::vector<Event> batch = queue.take();
        flushes += batch.empty() ? 0 : 1;
        for (const Event &event : batch)
            isInOrder = isInOrder && std::get<TokenProduced>(event.body).token.id == next++;
    });
    std::thread engine([&] {
        for (int i = 0; i < kEvents; ++i) {
            TokenProduced produced;
            produced.token.id = i;
            queue.emitEvent({1, produced});
        }
    });
    const bool hasAll = QTest::qWaitFor([&] { return next == kEvents; }, 30'000);
    engine.join();
    QVERIFY(hasAll);
    QVERIFY(isInOrder);
    QCOMPARE(wakeUps.load(), flushes);
    QVERIFY2(flushes < kEvents / 10, "events came one by one");
}

void TestWorker::framesComeOnlyWhenAskedForAndMergeRequests()
{
    FrameClock clock;
    clock.setIntervalMs(0);
    QSignalSpy frames(&clock, &FrameClock::frame);
    QCoreApplication::processEvents();
    QCOMPARE(frames.size(), 0);
    for (int i = 0; i < 5; ++i)
        clock.request();
    QCOMPARE(frames.size(), 0); // never from within request()
    QVERIFY(frames.wait());
    for (int i = 0; i < 10; ++i)
        QCoreApplication::processEvents();
    QCOMPARE(frames.size(), 1);
}

// As a window does it: the receiver posts a layout, which posts another one, which posts a repaint.
void TestWorker::aFrameIsDoneAfterAllThatItPosted()
{
    FrameClock clock;
    clock.setIntervalMs(0);
    int posted = 0;
    std::function<void()> post = [&] {
        if (++posted < 4)
            QMetaObject::invokeMethod(this, post, Qt::QueuedConnection);
    };
    connect(&clock, &FrameClock::frame, this, [&] { QMetaObject::invokeMethod(this, post, Qt::QueuedConnection); });
    int postedBefore = 0;
    connect(&clock, &FrameClock::frameDone, this, [&] { postedBefore = posted; });
    QSignalSpy done(&clock, &FrameClock::frameDone);
    clock.request();
    QVERIFY(done.wait());
    QCOMPARE(postedBefore, 4);
    QCOMPARE(done.size(), 1);
    QVERIFY(done.at(0).at(0).toLongLong() > 0);
}

void TestWorker::textFollowsEveryFrameAndFiguresEveryFourthAndTheLast()
{
    Script script;
    script.prefillChunks = 1;
    script.outputTokens = 100;
    Session session(script);
    QVERIFY(session.load());
    int steps = 1;
    std::vector<std::size_t> grown, shown; // output tokens at each signal, from the second token on
    const auto tokens = [&] { return session.store.current()->record->outputTokens.size(); };
    connect(&session.store, &RunStore::runGrew, this, [&] {
        if (tokens() > 1)
            grown.push_back(tokens());
        if (steps == 23) // the first one tokenized
            return;
        session.control->allowSteps(1); // one token in every frame: it is there before the next one comes
        session.control->waitForSteps(++steps);
    });
    connect(&session.store, &RunStore::runChanged, this, [&] {
        if (tokens() > 1)
            shown.push_back(tokens());
    });
    session.controller->run({}, {});
    session.control->allowSteps(1);
    QTRY_COMPARE(shown.empty() ? 0 : shown.back(), std::size_t(22));
    QCOMPARE(grown.size(), std::size_t(21));
    QCOMPARE(shown, (std::vector<std::size_t>{5, 9, 13, 17, 21, 22}));
}

void TestWorker::eventsOfARunComeInOrderWithOneEnd()
{
    EventQueue queue;
    auto control = std::make_shared<DriverControl>();
    control->letRun();
    EngineWorker worker(std::make_unique<ScriptedDriver>(control), &queue); // here in the test's own thread
    RequestId startedId = 0;
    std::vector<Event> events;
    connect(&worker, &EngineWorker::started, this, [&](int ticket, RequestId id) {
        QCOMPARE(ticket, 7);
        QVERIFY(queue.take().empty()); // told before the first event
        startedId = id;
    });
    worker.start(7, {}, -1);
    QVERIFY(QTest::qWaitFor([&] {
        for (Event &event : queue.take())
            events.push_back(std::move(event));
        return !events.empty() && kindOf(events.back()) == "finished";
    }));
    QByteArrayList kinds;
    for (const Event &event : events) {
        QCOMPARE(event.request, startedId);
        kinds.push_back(kindOf(event));
    }
    QCOMPARE(kinds.join(' '), QByteArray("queued tokenized prefill prefill token token token finished"));
}

void TestWorker::theRecordHoldsWhatTheEngineSaid()
{
    Session session;
    QVERIFY(session.load());
    session.control->letRun();
    QSignalSpy changed(&session.store, &RunStore::runChanged);
    Request request;
    request.text = "Serving LLMs";
    session.controller->run(request, QStringLiteral("lesson"));
    const int id = session.controller->runningId();
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(session.ends, std::vector<int>{id});
    QCOMPARE(session.record.request.text, std::string("Serving LLMs"));
    QCOMPARE(session.record.promptTokens.size(), std::size_t{4});
    QCOMPARE(session.record.prefillChunks.size(), std::size_t{2});
    QCOMPARE(session.record.answer(), std::string("t0 t1 t2 "));
    QCOMPARE(session.record.kv.size(), std::size_t{5});
    QCOMPARE(session.record.finishReason, std::optional(FinishReason::MaxTokens));
    QCOMPARE(session.store.find(id)->title, QStringLiteral("lesson"));
    QCOMPARE(session.store.currentId(), id);
    QCOMPARE(session.states,
             (std::vector{SessionState::Loading, SessionState::Ready, SessionState::Running, SessionState::Ready}));
    QVERIFY(changed.size() >= 1 && changed.size() <= 5); // by frame, not by event
}

void TestWorker::aFailureIsTheOneEndAndKeepsWhatWasProduced()
{
    Script script;
    script.failsAtToken = 2;
    Session session(script);
    QVERIFY(session.load());
    session.control->letRun();
    session.controller->run({}, QStringLiteral("run"));
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(session.ends.size(), std::size_t{1});
    QCOMPARE(session.record.state, RunState::Failed);
    QCOMPARE(session.record.error->code, ErrorCode::Numerics);
    QCOMPARE(session.record.answer(), std::string("t0 t1 "));
    QCOMPARE(session.store.runs().size(), std::size_t{1});
}

void TestWorker::aRefusedRequestEndsWithItsReasonAndLeavesNoRow()
{
    Script script;
    script.isRefused = true;
    Session session(script);
    QVERIFY(session.load());
    session.control->letRun();
    const int shown = session.store.add(std::make_shared<RunRecord>(), QStringLiteral("shown before"));
    session.store.add(std::make_shared<RunRecord>(), QStringLiteral("another"));
    session.store.setCurrent(shown);
    session.controller->run({}, QStringLiteral("too long"));
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(session.ends.size(), std::size_t{1});
    QVERIFY(session.record.error->message.find("65") != std::string::npos);
    QCOMPARE(session.store.runs().size(), std::size_t{2});
    QCOMPARE(session.store.currentId(), shown);
    QVERIFY(!session.store.canRestore());
    session.controller->run({}, QStringLiteral("again"));
    QCOMPARE(session.controller->state(), SessionState::Running);
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(session.ends.size(), std::size_t{2});
}

void TestWorker::stopBeforeTheStartEndsTheRunOnce()
{
    Session session;
    QVERIFY(session.load());
    session.controller->run({}, QStringLiteral("run"));
    session.controller->stop(); // the worker has not told the run's id yet
    QCOMPARE(session.controller->state(), SessionState::Stopping);
    session.controller->stop();
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(session.ends.size(), std::size_t{1});
    QCOMPARE(session.record.finishReason, std::optional(FinishReason::Cancelled));
    QVERIFY(session.record.outputTokens.empty());
}

void TestWorker::stopEndsTheRunOnce_data()
{
    QTest::addColumn<int>("steps");
    QTest::addColumn<int>("chunks");
    QTest::addColumn<int>("tokens");
    QTest::newRow("in prefill") << 2 << 1 << 0;
    QTest::newRow("in decode") << 4 << 2 << 2;
}

void TestWorker::stopEndsTheRunOnce()
{
    QFETCH(int, steps);
    QFETCH(int, chunks);
    QFETCH(int, tokens);
    Session session;
    QVERIFY(session.load());
    session.control->allowSteps(steps);
    session.controller->run({}, QStringLiteral("run"));
    session.control->waitForSteps(steps);
    session.control->waitForWaitingStep(); // inside the next step
    const std::shared_ptr<RunRecord> record = session.store.current()->record;
    QVERIFY(QTest::qWaitFor([&] { return static_cast<int>(record->prefillChunks.size()) == chunks; }));
    session.controller->stop();
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(session.ends.size(), std::size_t{1});
    QCOMPARE(session.record.finishReason, std::optional(FinishReason::Cancelled));
    QCOMPARE(static_cast<int>(session.record.prefillChunks.size()), chunks);
    QCOMPARE(static_cast<int>(session.record.outputTokens.size()), tokens);
}

void TestWorker::stopOfAPausedRunEndsItOnce()
{
    Session session;
    QVERIFY(session.load());
    session.control->letRun();
    session.controller->step({}, QStringLiteral("run"));
    QVERIFY(session.waitFor(SessionState::Paused));
    session.controller->stop();
    QCOMPARE(session.controller->state(), SessionState::Stopping);
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(session.ends.size(), std::size_t{1});
    QCOMPARE(session.record.finishReason, std::optional(FinishReason::Cancelled));
    QCOMPARE(session.record.outputTokens.size(), std::size_t{1});
}

void TestWorker::stepPausesAfterEachTokenAndResumeGoesToTheEnd()
{
    Script script;
    script.outputTokens = 6;
    Session session(script);
    QVERIFY(session.load());
    session.control->letRun();
    for (std::size_t tokens = 1; tokens <= 3; ++tokens) {
        session.controller->step({}, QStringLiteral("run"));
        QCOMPARE(session.controller->state(), SessionState::Running);
        QVERIFY(session.waitFor(SessionState::Paused));
        QCOMPARE(session.store.current()->record->outputTokens.size(), tokens);
    }
    QCOMPARE(session.store.runs().size(), std::size_t{1}); // one run, not three
    QVERIFY(session.ends.empty());
    session.controller->resume();
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(session.record.outputTokens.size(), std::size_t{6});
    QCOMPARE(session.record.finishReason, std::optional(FinishReason::MaxTokens));
    QCOMPARE(session.ends.size(), std::size_t{1});
    QCOMPARE(session.control->submissions(), 1);
}

void TestWorker::stepOverTheLastTokenEndsTheRun()
{
    Script script;
    script.outputTokens = 1;
    Session session(script);
    QVERIFY(session.load());
    session.control->letRun();
    session.controller->step({}, QStringLiteral("run"));
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(session.record.finishReason, std::optional(FinishReason::MaxTokens));
    QVERIFY(std::find(session.states.begin(), session.states.end(), SessionState::Paused) == session.states.end());
}

void TestWorker::actionsInTheWrongStateDoNothing()
{
    Session session;
    const auto tryEverythingElse = [&] {
        session.controller->run({}, QStringLiteral("no"));
        session.controller->cancelLoad();
        session.controller->resume();
    };
    tryEverythingElse();
    session.controller->step({}, QStringLiteral("no"));
    session.controller->stop();
    QCOMPARE(session.controller->state(), SessionState::NoModel);
    QVERIFY(session.load());
    session.controller->stop();
    session.controller->resume();
    session.controller->cancelLoad();
    QCOMPARE(session.controller->state(), SessionState::Ready);
    session.controller->run({}, QStringLiteral("run"));
    tryEverythingElse();
    session.controller->step({}, QStringLiteral("no"));
    QCOMPARE(session.controller->state(), SessionState::Running);
    session.controller->stop();
    tryEverythingElse();
    QCOMPARE(session.controller->state(), SessionState::Stopping);
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(session.store.runs().size(), std::size_t{1});
    QCOMPARE(session.control->submissions(), 1);
}

void TestWorker::eventsOfAnEarlierRunAreDropped()
{
    Script script;
    TokenProduced stray;
    stray.token.text = "stray";
    script.strayEvent = Event{1, stray}; // ids of runs count from 1
    Session session(script);
    QVERIFY(session.load());
    session.control->letRun();
    session.controller->run({}, QStringLiteral("first"));
    QVERIFY(session.waitFor(SessionState::Ready));
    const std::shared_ptr<RunRecord> first = session.store.current()->record;
    const std::size_t before = first->outputTokens.size();
    session.controller->run({}, QStringLiteral("second"));
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(session.record.answer(), std::string("t0 t1 t2 "));
    QCOMPARE(first->outputTokens.size(), before);
}

void TestWorker::removingTheRunningRunStopsIt()
{
    Session session;
    disconnect(session.controller.get(), &SessionController::runEnded, nullptr, nullptr); // looks the run up
    QSignalSpy ended(session.controller.get(), &SessionController::runEnded);
    QVERIFY(session.load());
    session.controller->run({}, QStringLiteral("run"));
    const int id = session.controller->runningId();
    session.store.remove(id);
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(ended.size(), 1);
    session.store.restoreLast();
    QCOMPARE(session.store.find(id)->record->finishReason, std::optional(FinishReason::Cancelled));
}

QTEST_GUILESS_MAIN(TestWorker)
#include "tst_worker.moc"
