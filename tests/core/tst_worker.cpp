// SPDX-License-Identifier: GPL-3.0-or-later
// The worker thread, the queue between the threads, and the controller that turns events into records.
#include "app/core/file_path.h"
#include "app/core/session_controller.h"
#include "tests/support/scripted_driver.h"
#include "tests/support/thread_sanitizer.h"
#include "tests/support/tiny_model.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <thread>

using namespace lectern;
using namespace lectern::test;

namespace {

const QString kPath = QStringLiteral("/models/scripted.gguf");

// A controller on a scripted engine, with everything that it says written down.
struct Session
{
    explicit Session(Script script = {})
        : control(std::make_shared<DriverControl>(std::move(script)))
    {
        controller = std::make_unique<SessionController>(&store, std::make_unique<ScriptedDriver>(control));
        controller->frameClock()->setIntervalMs(0); // as fast as the event loop turns
        QObject::connect(controller.get(), &SessionController::stateChanged, controller.get(),
                         [this](SessionState state) { states.push_back(state); });
        QObject::connect(controller.get(), &SessionController::runEnded, controller.get(), [this](int id) {
            ends.push_back(id);
            record = *store.find(id)->record;
        });
        QObject::connect(controller.get(), &SessionController::loadFailed, controller.get(),
                         [this](const QString &path, const Error &error) {
                             failures.push_back(path + u' ' + QString::fromStdString(error.message));
                         });
    }

    bool load()
    {
        control->allowLoading();
        controller->loadModel(kPath);
        return waitFor(SessionState::Ready);
    }
    bool waitFor(SessionState state)
    {
        return QTest::qWaitFor([&] { return controller->state() == state; });
    }

    RunStore store;
    std::shared_ptr<DriverControl> control;
    std::unique_ptr<SessionController> controller;
    std::vector<SessionState> states;
    std::vector<int> ends; // runs in the order of their ends
    RunRecord record;      // of the run that ended last, as it was then
    QStringList failures;
};

QByteArray kindOf(const Event &event)
{
    static const QByteArray names[] = {"load", "queued", "tokenized", "prefill", "token", "kv", "finished", "failed"};
    return names[event.body.index()];
}

} // namespace

class TestWorker : public QObject
{
    Q_OBJECT

private slots:
    void aHundredThousandEventsArriveInOrderWithOneWakeUpPerFlush();
    void framesComeOnlyWhenAskedForAndMergeRequests();
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
    void loadProgressArrives();
    void aFailedLoadIsReportedOnceWithItsPath();
    void cancelledLoadsLeaveNoModel_data();
    void cancelledLoadsLeaveNoModel();
    void aCancelledLoadNeverTellsThatItLoaded();
    void cancelAfterTheLoadReturnedWins();
    void anotherLoadReplacesTheOneAtWork();
    void loadingStopsTheRunFirst();
    void loadingRightAfterRunEndsTheRunOnce();
    void destroyAtAnyMomentIsQuickAndEndsTheRecord_data();
    void destroyAtAnyMomentIsQuickAndEndsTheRecord();
    void theRealEngineRunsATinyModel();
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

void TestWorker::loadProgressArrives()
{
    Script script;
    script.loadStops = {0, 0.5, 1};
    Session session(script);
    QSignalSpy progress(session.controller.get(), &SessionController::loadProgressed);
    QVERIFY(session.load());
    QVERIFY(!progress.isEmpty());
    QCOMPARE(progress.last().at(1).toULongLong(), 1000u);
    QCOMPARE(progress.last().at(2).toULongLong(), 1000u);
    QCOMPARE(session.controller->modelPath(), kPath);
    QCOMPARE(fromFilePath(session.controller->model()->path), kPath);
}

void TestWorker::aFailedLoadIsReportedOnceWithItsPath()
{
    Script script;
    script.loadFailure = Error{ErrorCode::BadFormat, "tensor t needs bytes 96 to 128, file ends at 120", {}, {}};
    Session session(script);
    session.control->allowLoading();
    const QString path = QStringLiteral("/модели 模型 é/тест-ü.gguf");
    session.controller->loadModel(path);
    QCOMPARE(session.controller->modelPath(), path);
    QVERIFY(session.waitFor(SessionState::NoModel));
    QCOMPARE(session.failures, QStringList{path + QStringLiteral(" tensor t needs bytes 96 to 128, file ends at 120")});
    QVERIFY(!session.controller->model());
    QVERIFY(session.controller->modelPath().isEmpty());
}

void TestWorker::cancelledLoadsLeaveNoModel_data()
{
    QTest::addColumn<double>("fraction");
    QTest::addColumn<int>("cancels");
    QTest::newRow("at 0 %") << 0.0 << 1;
    QTest::newRow("at 50 %") << 0.5 << 1;
    QTest::newRow("at 99.9 %") << 0.999 << 1;
    QTest::newRow("in the moment of 100 %") << 1.0 << 1; // the load succeeds all the same
    QTest::newRow("twice") << 0.5 << 2;
}

void TestWorker::cancelledLoadsLeaveNoModel()
{
    QFETCH(double, fraction);
    QFETCH(int, cancels);
    Script script;
    script.loadStops = {fraction};
    Session session(script);
    session.controller->loadModel(kPath);
    session.control->waitForLoadStop(1);
    for (int i = 0; i < cancels; ++i) {
        session.controller->cancelLoad();
        QCOMPARE(session.controller->state(), SessionState::NoModel); // at once
    }
    if (fraction == 1)
        session.control->allowLoading();
    session.control->waitForLoadReturn(1);
    if (fraction == 1)
        session.control->waitForUnload(1);
    // The next load goes through the same thread: everything of the first one has arrived when it is ready.
    QVERIFY(session.load());
    QCOMPARE(session.states,
             (std::vector{SessionState::Loading, SessionState::NoModel, SessionState::Loading, SessionState::Ready}));
    QVERIFY(session.failures.isEmpty());
    QVERIFY(session.controller->model());
}

void TestWorker::aCancelledLoadNeverTellsThatItLoaded()
{
    Script script;
    script.loadStops = {1}; // succeeds whatever the stop flag says
    auto control = std::make_shared<DriverControl>(script);
    EventQueue queue;
    EngineWorker worker(std::make_unique<ScriptedDriver>(control), &queue); // here in the test's own thread
    QSignalSpy loaded(&worker, &EngineWorker::loaded);
    std::vector<ErrorCode> failures;
    connect(&worker, &EngineWorker::loadFailed, this, [&](int, const Error &error) { failures.push_back(error.code); });
    std::thread user([&] {
        control->waitForLoadStop(1);
        worker.cancelLoad(1);
        control->allowLoading();
    });
    worker.load(1, kPath, {});
    const bool hasFailed = QTest::qWaitFor([&] { return !failures.empty() || !loaded.isEmpty(); });
    user.join();
    QVERIFY(hasFailed);
    QCOMPARE(loaded.size(), 0);
    QCOMPARE(failures, std::vector{ErrorCode::Cancelled});
    QVERIFY(!control->isModelAlive());

    worker.cancelLoad(2); // before it has begun
    worker.load(2, kPath, {});
    QVERIFY(QTest::qWaitFor([&] { return failures.size() == 2; }));
    QCOMPARE(loaded.size(), 0);
}

void TestWorker::cancelAfterTheLoadReturnedWins()
{
    for (int round = 0; round < 50; ++round) {
        Session session;
        session.control->allowLoading();
        session.controller->loadModel(kPath);
        session.control->waitForLoadReturn(1); // the result is on its way, somewhere
        session.controller->cancelLoad();
        session.control->waitForUnload(1);
        QCoreApplication::processEvents();
        QCOMPARE(session.controller->state(), SessionState::NoModel);
        QVERIFY(!session.controller->model());
        QVERIFY(QTest::qWaitFor([&] { return !session.control->isModelAlive(); }));
    }
}

void TestWorker::anotherLoadReplacesTheOneAtWork()
{
    Session session;
    session.controller->loadModel(kPath);
    session.control->waitForLoadStop(1);
    const QString other = QStringLiteral("/models/other.gguf");
    session.controller->loadModel(other);
    QCOMPARE(session.controller->state(), SessionState::Loading);
    session.control->waitForLoadStop(2); // the first one has given up by itself
    session.control->allowLoading();
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(fromFilePath(session.controller->model()->path), other);
    QVERIFY(session.failures.isEmpty());
    QCOMPARE(session.states, (std::vector{SessionState::Loading, SessionState::Ready}));
}

void TestWorker::loadingStopsTheRunFirst()
{
    Session session;
    QVERIFY(session.load());
    session.control->allowSteps(3);
    session.controller->run({}, QStringLiteral("run"));
    session.control->waitForSteps(3);
    session.control->waitForWaitingStep();
    QVERIFY(QTest::qWaitFor([&] { return !session.store.current()->record->outputTokens.empty(); }));
    std::vector<QByteArray> order;
    connect(session.controller.get(), &SessionController::runEnded, this, [&] { order.push_back("ended"); });
    connect(session.controller.get(), &SessionController::modelChanged, this,
            [&] { order.push_back(session.controller->model() ? "loaded" : "gone"); });
    session.controller->loadModel(kPath);
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(order, (std::vector<QByteArray>{"gone", "ended", "loaded"}));
    QCOMPARE(session.ends.size(), std::size_t{1});
    QCOMPARE(session.record.finishReason, std::optional(FinishReason::Cancelled));
    QCOMPARE(session.controller->runningId(), 0);
}

void TestWorker::loadingRightAfterRunEndsTheRunOnce()
{
    Session session;
    QVERIFY(session.load());
    session.controller->run({}, QStringLiteral("run"));
    session.controller->loadModel(kPath);
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(session.ends.size(), std::size_t{1});
    QCOMPARE(session.record.finishReason, std::optional(FinishReason::Cancelled));
    session.control->letRun();
    session.controller->run({}, QStringLiteral("next"));
    QVERIFY(session.waitFor(SessionState::Ready));
    QCOMPARE(session.record.finishReason, std::optional(FinishReason::MaxTokens));
}

void TestWorker::destroyAtAnyMomentIsQuickAndEndsTheRecord_data()
{
    QTest::addColumn<QByteArray>("moment");
    for (const char *moment : {"new", "loading", "ready", "starting", "in prefill", "in decode", "paused"})
        QTest::newRow(moment) << QByteArray(moment);
}

// A step or load that is not stopped would wait for ever here: the test would run into its time limit.
void TestWorker::destroyAtAnyMomentIsQuickAndEndsTheRecord()
{
    QFETCH(QByteArray, moment);
    Session session;
    if (moment == "loading") {
        session.controller->loadModel(kPath);
        session.control->waitForLoadStop(1);
    } else if (moment != "new") {
        QVERIFY(session.load());
    }
    const int steps = moment == "in prefill" ? 2 : moment == "in decode" ? 4 : 0;
    if (moment == "paused") {
        session.control->letRun();
        session.controller->step({}, QStringLiteral("run"));
        QVERIFY(session.waitFor(SessionState::Paused));
    } else if (moment == "starting" || steps > 0) {
        session.control->allowSteps(steps);
        session.controller->run({}, QStringLiteral("run"));
    }
    if (steps > 0) {
        session.control->waitForSteps(steps);
        session.control->waitForWaitingStep();
        QCoreApplication::processEvents();
    }
    session.controller.reset();
    for (const RunEntry &entry : session.store.runs())
        QCOMPARE(entry.record->finishReason, std::optional(FinishReason::Cancelled));
    QVERIFY(!session.control->isModelAlive());
    QCOMPARE(session.control.use_count(), 1L); // the driver is gone
}

void TestWorker::theRealEngineRunsATinyModel()
{
    QTemporaryDir folder;
    const std::filesystem::path path = writeTinyModel(toFilePath(folder.path()), "tiny ü 数.gguf");
    RunStore store;
    SessionController controller(&store);
    QSignalSpy loadFailed(&controller, &SessionController::loadFailed);
    controller.loadModel(fromFilePath(path));
    QVERIFY(QTest::qWaitFor([&] { return controller.state() != SessionState::Loading; }, 30'000));
    QCOMPARE(loadFailed.size(), 0);
    QCOMPARE(controller.state(), SessionState::Ready);
    Request request;
    request.text = "Serving LLMs is not like serving web apps.";
    request.maxTokens = 5;
    controller.step(request, QStringLiteral("tiny"));
    QVERIFY(QTest::qWaitFor([&] { return controller.state() == SessionState::Paused; }, 30'000));
    const std::shared_ptr<RunRecord> record = store.current()->record;
    QCOMPARE(record->outputTokens.size(), std::size_t{1});
    controller.resume();
    QVERIFY(QTest::qWaitFor([&] { return controller.state() == SessionState::Ready; }, 30'000));
    QCOMPARE(record->state, RunState::Finished);
    QVERIFY(record->outputTokens.size() == 5 || record->finishReason == FinishReason::EndToken);
    QVERIFY(record->pausedNs > 0);
    QCOMPARE(record->prefillChunks.back().to, static_cast<int>(record->promptTokens.size()));

    controller.step(request, QStringLiteral("stopped"));
    QVERIFY(QTest::qWaitFor([&] { return controller.state() == SessionState::Paused; }, 30'000));
    controller.stop();
    QVERIFY(QTest::qWaitFor([&] { return controller.state() == SessionState::Ready; }, 30'000));
    QCOMPARE(store.current()->record->finishReason, std::optional(FinishReason::Cancelled));
    QCOMPARE(store.current()->record->outputTokens.size(), std::size_t{1});

    request.text.clear();
    QSignalSpy ended(&controller, &SessionController::runEnded);
    controller.run(request, QStringLiteral("empty"));
    QVERIFY(QTest::qWaitFor([&] { return controller.state() == SessionState::Ready; }, 30'000));
    QCOMPARE(ended.size(), 1);
    QCOMPARE(store.runs().size(), std::size_t{2}); // nothing to evaluate: no row

    request.text = "A";
    request.maxTokens = 100;
    controller.run(request, QStringLiteral("interrupted by a load"));
    controller.loadModel(QStringLiteral("/no/such/file.gguf"));
    QVERIFY(QTest::qWaitFor([&] { return controller.state() == SessionState::NoModel; }, 30'000));
    QCOMPARE(loadFailed.size(), 1);
    QCOMPARE(ended.size(), 2);
    QCOMPARE(store.current()->record->finishReason, std::optional(FinishReason::Cancelled));
}

QTEST_GUILESS_MAIN(TestWorker)
#include "tst_worker.moc"
