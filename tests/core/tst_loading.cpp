// SPDX-License-Identifier: GPL-3.0-or-later
// Loading models, cancelling that at any moment, and the end of the worker thread; then the same thread with the real
// engine.
#include "app/core/file_path.h"
#include "tests/support/scripted_session.h"
#include "tests/support/tiny_model.h"

#include <QFileInfo>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include <thread>

using namespace lectern;
using namespace lectern::test;

class TestLoading : public QObject
{
    Q_OBJECT

private slots:
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

void TestLoading::loadProgressArrives()
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
    QCOMPARE(QString::fromStdString(session.controller->model()->model.fileName), QFileInfo(kPath).fileName());
}

void TestLoading::aFailedLoadIsReportedOnceWithItsPath()
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

void TestLoading::cancelledLoadsLeaveNoModel_data()
{
    QTest::addColumn<double>("fraction");
    QTest::addColumn<int>("cancels");
    QTest::newRow("at 0 %") << 0.0 << 1;
    QTest::newRow("at 50 %") << 0.5 << 1;
    QTest::newRow("at 99.9 %") << 0.999 << 1;
    QTest::newRow("in the moment of 100 %") << 1.0 << 1; // the load succeeds all the same
    QTest::newRow("twice") << 0.5 << 2;
}

void TestLoading::cancelledLoadsLeaveNoModel()
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

void TestLoading::aCancelledLoadNeverTellsThatItLoaded()
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

void TestLoading::cancelAfterTheLoadReturnedWins()
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

void TestLoading::anotherLoadReplacesTheOneAtWork()
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
    QCOMPARE(session.controller->model()->model.fileName, std::string("other.gguf"));
    QVERIFY(session.failures.isEmpty());
    QCOMPARE(session.states, (std::vector{SessionState::Loading, SessionState::Ready}));
}

void TestLoading::loadingStopsTheRunFirst()
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
    // The end of the run may already be among the events that loadModel() takes, or come after it.
    QCOMPARE(order.size(), std::size_t{3});
    QCOMPARE(order.back(), QByteArray("loaded"));
    QVERIFY(std::find(order.begin(), order.end(), QByteArray("ended")) != order.end());
    QCOMPARE(session.ends.size(), std::size_t{1});
    QCOMPARE(session.record.finishReason, std::optional(FinishReason::Cancelled));
    QCOMPARE(session.controller->runningId(), 0);
}

void TestLoading::loadingRightAfterRunEndsTheRunOnce()
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

void TestLoading::destroyAtAnyMomentIsQuickAndEndsTheRecord_data()
{
    QTest::addColumn<QByteArray>("moment");
    for (const char *moment : {"new", "loading", "ready", "starting", "in prefill", "in decode", "paused"})
        QTest::newRow(moment) << QByteArray(moment);
}

// A step or load that is not stopped would wait for ever here: the test would run into its time limit.
void TestLoading::destroyAtAnyMomentIsQuickAndEndsTheRecord()
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

void TestLoading::theRealEngineRunsATinyModel()
{
    QTemporaryDir folder;
    const std::filesystem::path path = writeTinyModel(toFilePath(folder.path()), "tiny ü 数.gguf");
    RunStore store;
    SessionController controller(&store);
    QSignalSpy loadFailed(&controller, &SessionController::loadFailed);
    controller.loadModel(QString::fromStdString(path.string()));
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

QTEST_GUILESS_MAIN(TestLoading)
#include "tst_loading.moc"
