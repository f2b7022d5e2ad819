// SPDX-License-Identifier: GPL-3.0-or-later
// The real window on a scripted engine, which says when each step and each part of a load may happen: long answers,
// failures, other runs looked at meanwhile, and buttons pressed in any order.
#include "tests/app/window_fixture.h"
#include "tests/support/recording_sink.h"
#include "tests/support/sample_record.h"
#include "tests/support/scripted_driver.h"
#include "widgets/message_bar.h"
#include "widgets/metric_strip.h"
#include "widgets/run_chart.h"
#include "widgets/runs_view.h"

#include <QPushButton>
#include <QScrollBar>
#include <QToolBar>
#include <qcustomplot.h>

#include <random>

using namespace lectern;
using test::Script;

class TestWindowRuns : public test::WindowFixture
{
    Q_OBJECT

private:
    static constexpr int kStepsBeforeTokens = 2; // one for the prompt, one for all of its prefill but the last chunk
    const QString m_path = QStringLiteral("/models/scripted.gguf");
    std::shared_ptr<test::DriverControl> m_control;

    std::shared_ptr<const Tokenizer> tokenizer() const
    {
        Engine engine;
        test::RecordingSink sink;
        const auto model = engine.load(tinyPath().toStdString(), {}, sink, StopFlag());
        return model ? (*model)->tokenizer : nullptr;
    }

    void open(Script script, bool isLoaded = true)
    {
        script.tokenizer = tokenizer();
        m_control = std::make_shared<test::DriverControl>(std::move(script));
        m_window.reset();
        m_window = std::make_unique<MainWindow>(m_settings.get(), std::make_unique<test::ScriptedDriver>(m_control));
        m_window->resetLayout({1280, 800});
        m_window->show();
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
        m_window->session()->frameClock()->setIntervalMs(0); // as fast as the event loop turns
        if (!isLoaded)
            return;
        m_control->allowLoading();
        QVERIFY(load(m_path));
        editor()->replaceText(QStringLiteral("the prompt"));
    }

    SessionState state() const { return m_window->session()->state(); }
    QString said() const { return m_window->messageText(); }
    std::size_t tokensOfCurrent() const { return m_window->runs()->current()->record->outputTokens.size(); }
    void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) { QTest::keyClick(m_window.get(), key, modifiers); }
    void pressRun() { press(Qt::Key_Return, Qt::ControlModifier); }
    void pressStop() { press(Qt::Key_Period, Qt::ControlModifier); }
    QStringList shownTexts() const // of everything but the answer that is about the chosen run
    {
        QStringList texts{label("answerFooter"), label("statusFacts"), label("sentCaption")};
        for (const NamedChart &chart : m_window->charts())
            texts << chart.chart->dataSummary();
        for (const QLabel *metric : m_window->findChild<MetricStrip *>()->findChildren<QLabel *>())
            texts << metric->text();
        return texts;
    }

private slots:
    // llama.cpp#26651: at its seventh step the model gives nothing but NaN.
    void aRunThatFailsIsShownWithItsReasonEverywhere()
    {
        Script script;
        script.outputTokens = 20;
        script.failsAtToken = 6;
        open(script);
        m_control->letRun();
        for (const int count : {1, 2}) { // and the window goes on
            const int id = run();
            QVERIFY(id > 0);
            QCOMPARE(state(), SessionState::Ready);
            QCOMPARE(m_window->runs()->current()->id, id);
            QCOMPARE(answer()->shownText(), QStringLiteral("t0 t1 t2 t3 t4 t5 "));
            QVERIFY2(label("answerFooter").contains(QStringLiteral("All scores are NaN")),
                     qPrintable(label("answerFooter")));
            QVERIFY(label("messageText").contains(QStringLiteral("no numbers"))); // what it means
            QCOMPARE(said(), QStringLiteral("All scores are NaN"));               // the engine's own words
            const auto *table = m_window->findChild<RunsView *>();
            const QModelIndex outcome = table->model()->index(count - 1, RunTableModel::Outcome);
            QCOMPARE(outcome.data().toString(), QStringLiteral("failed"));
            QCOMPARE(outcome.data(Qt::ToolTipRole).toString(), QStringLiteral("All scores are NaN"));
            QVERIFY(label("statusFacts").contains(QStringLiteral("problems %1").arg(count)));
            QVERIFY(label("statusState").contains(QStringLiteral("ready")));
            for (const NamedChart &chart : m_window->charts())
                QVERIFY(!chart.chart->isEmpty());
        }
    }

    void anotherRunIsLookedAtWhileOneGoesOn()
    {
        Script script;
        script.outputTokens = 12;
        open(script);
        const int opened =
            m_window->runs()->add(std::make_shared<RunRecord>(sampleRecord()), QStringLiteral("opened before"));
        QTRY_VERIFY(!answer()->shownText().isEmpty());
        const QString openedText = answer()->shownText();
        const QStringList openedTexts = shownTexts();

        m_control->allowSteps(kStepsBeforeTokens + 3);
        pressRun();
        const int live = m_window->runs()->currentId();
        QVERIFY(live != opened);
        QTRY_COMPARE(answer()->shownText(), QStringLiteral("t0 t1 t2 "));
        auto *table = m_window->findChild<RunsView *>();
        table->setFocus();
        QTest::keyClick(table, Qt::Key_Up);
        QCOMPARE(m_window->runs()->currentId(), opened);
        QCOMPARE(answer()->shownText(), openedText);
        QCOMPARE(shownTexts(), openedTexts);

        m_control->allowSteps(4);
        const auto record = m_window->runs()->find(live)->record;
        QTRY_COMPARE(record->outputTokens.size(), std::size_t(7));
        // Figures come later than text.
        QTRY_COMPARE(table->model()->index(1, RunTableModel::Output).data().toString(), QStringLiteral("7"));
        QCOMPARE(answer()->shownText(), openedText); // the shown one is still shown
        QCOMPARE(shownTexts(), openedTexts);
        QCOMPARE(state(), SessionState::Running);
        QVERIFY(label("statusState").contains(QStringLiteral("decode")));

        QTest::keyClick(table, Qt::Key_Down);
        QCOMPARE(answer()->shownText(), QStringLiteral("t0 t1 t2 t3 t4 t5 t6 "));
        QVERIFY(shownTexts() != openedTexts);
        QTest::keyClick(table, Qt::Key_Up);
        QSignalSpy ended(m_window.get(), &MainWindow::runEnded);
        m_control->letRun();
        QVERIFY(ended.wait(test::kRunMs));
        QCOMPARE(ended.at(0).at(0).toInt(), live);
        QCOMPARE(m_window->runs()->currentId(), opened); // its end does not take the view away
        QCOMPARE(answer()->shownText(), openedText);
        QCOMPARE(shownTexts(), openedTexts);
        QTest::keyClick(table, Qt::Key_Down);
        QVERIFY(answer()->shownText().endsWith(QStringLiteral(" t11 ")));
        QVERIFY(label("answerFooter").contains(QStringLiteral("limit reached")));
    }

    // jan#2818: 20,000 tokens of 12 characters, and the reader has scrolled up meanwhile.
    void aLongAnswerComesInBatchesAndTheReaderStaysWhere()
    {
        constexpr int kTokens = 20'000;
        Script script;
        script.outputTokens = 2 * kTokens; // stopped before
        script.pieces.assign(2 * kTokens, {" twelve char", " twelve char"});
        open(script);
        int frames = 0, turns = 0; // of the event loop
        connect(m_window->session()->frameClock(), &FrameClock::frame, this, [&] { ++frames; });
        QTimer beat;
        connect(&beat, &QTimer::timeout, this, [&] { ++turns; });
        beat.start(0);
        m_control->allowSteps(kStepsBeforeTokens + 1'000);
        pressRun();
        QTRY_COMPARE_WITH_TIMEOUT(tokensOfCurrent(), std::size_t(1'000), test::kRunMs);
        QScrollBar *bar = answer()->verticalScrollBar();
        QTRY_VERIFY(bar->maximum() > 20);
        QTRY_COMPARE(bar->value(), bar->maximum()); // it follows
        bar->setValue(7);
        m_control->allowSteps(kTokens - 1'000);
        QTRY_COMPARE_WITH_TIMEOUT(tokensOfCurrent(), std::size_t(kTokens), test::kRunMs);
        QCOMPARE(bar->value(), 7);
        QCOMPARE(answer()->shownText().size(), 12 * kTokens);
        QVERIFY2(frames < kTokens / 4, qPrintable(QString::number(frames)));
        QVERIFY2(turns >= frames, qPrintable(QStringLiteral("%1 turns, %2 frames").arg(turns).arg(frames)));

        m_control->allowSteps(kTokens / 2);
        QSignalSpy ended(m_window.get(), &MainWindow::runEnded);
        pressStop(); // in the middle of the stream
        QCOMPARE(state(), SessionState::Stopping);
        QVERIFY(ended.wait(test::kRunMs));
        QCOMPARE(*m_window->runs()->current()->record->finishReason, FinishReason::Cancelled);
        QVERIFY(tokensOfCurrent() < std::size_t(2 * kTokens));
        QCOMPARE(answer()->shownText().size(), static_cast<qsizetype>(12 * tokensOfCurrent()));
        QCOMPARE(bar->value(), 7);
    }

    // What is there already is not written again, and a token costs about the same after 1,000 and after 20,000. Times
    // are compared within this process only, by their medians and with a wide margin.
    void aTokenCostsTheSameHoweverLongTheAnswerIs()
    {
        constexpr int kShort = 1'000, kLong = 20'000, kMeasured = 21;
        Script script;
        script.outputTokens = 2 * kLong;
        script.pieces.assign(2 * kLong, {" twelve char", " twelve char"});
        open(script);
        m_control->allowSteps(kStepsBeforeTokens);
        pressRun();
        std::size_t count = 0;
        const auto produce = [&](std::size_t more) {
            QElapsedTimer timer;
            timer.start();
            count += more;
            m_control->allowSteps(static_cast<int>(more));
            while (tokensOfCurrent() < count && timer.elapsed() < test::kRunMs)
                QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 10);
            QCoreApplication::processEvents(); // and what follows from it, painting too
            return timer.nsecsElapsed();
        };
        const auto median = [&] {
            std::vector<qint64> times;
            for (int i = 0; i < kMeasured; ++i)
                times.push_back(produce(1));
            std::sort(times.begin(), times.end());
            return times[kMeasured / 2];
        };
        produce(kShort);
        const qint64 early = median();
        produce(kLong);
        int changed = 0; // characters that one more token writes anew
        connect(answer()->document(), &QTextDocument::contentsChange, this,
                [&](int, int removed, int added) { changed = std::max(changed, removed + added); });
        const qint64 late = median();
        answer()->document()->disconnect(this);
        QVERIFY2(changed >= 12 && changed < 100, qPrintable(QString::number(changed)));
        QCOMPARE(tokensOfCurrent(), count);
        QVERIFY2(late < 8 * early, qPrintable(QStringLiteral("%1 ns, then %2 ns").arg(early).arg(late)));
        pressStop();
        QTRY_COMPARE(state(), SessionState::Ready);
    }

    // The engine never waits for the window: it comes to its end while the GUI thread stands still in one frame.
    void theEngineGoesOnWhilePaintingIsSlow()
    {
        Script script;
        script.outputTokens = 500;
        open(script);
        int frames = 0;
        connect(m_window->runs(), &RunStore::runChanged, this, [&] {
            if (++frames == 1)
                m_control->waitForSteps(kStepsBeforeTokens + script.outputTokens);
        });
        m_control->letRun();
        QVERIFY(run() > 0);
        QCOMPARE(tokensOfCurrent(), std::size_t(500));
        QVERIFY2(frames <= 4, qPrintable(QString::number(frames))); // what came meanwhile is one batch
        QVERIFY(answer()->shownText().endsWith(QStringLiteral(" t499 ")));
    }

    // llama-cpp-python#372: each character appears once, whole, with its last token.
    void charactersOfSeveralTokensStreamWhole()
    {
        const QString joiner = QStringLiteral("\u200C"), right = QStringLiteral("می\u200Cخواهم שלום");
        Script script;
        script.pieces = {{"\xE9\x91", ""},   {"\xAB", "鑫"}, {"!", "!"},     {"\xE2\x80", ""},
                         {"\x8C", "\u200C"}, {"\n", "\n"},   {"می", "می"},   {"\u200C", "\u200C"},
                         {"خواه", "خواه"},   {"م", "م"},     {" של", " של"}, {"ום", "ום"}};
        script.outputTokens = static_cast<int>(script.pieces.size());
        open(script);
        const QString expected = QStringLiteral("鑫!") + joiner + QLatin1Char('\n') + right;
        QString joined;
        m_control->allowSteps(kStepsBeforeTokens);
        pressRun();
        for (std::size_t i = 0; i < script.pieces.size(); ++i) {
            m_control->allowSteps(1);
            QTRY_COMPARE(tokensOfCurrent(), i + 1);
            joined += QString::fromStdString(script.pieces[i].second);
            QCOMPARE(answer()->shownText(), joined);
        }
        QTRY_COMPARE(state(), SessionState::Ready);
        QCOMPARE(joined, expected);
        QVERIFY(label("answerFooter").contains(QStringLiteral("12 of")));
        const auto record = m_window->runs()->current()->record;
        QCOMPARE(record->answer(), expected.toStdString());
        for (std::size_t i = 1; i < 3; ++i) // 鑫 needs two tokens, and each has its time
            QVERIFY(record->outputTokens[i].timeNs > record->outputTokens[i - 1].timeNs);
        QCOMPARE(answer()->spans()[0].firstToken, 0);
        QCOMPARE(answer()->spans()[0].lastToken, 1);
        QVERIFY(!answer()->shownText().contains(QChar(QChar::ReplacementCharacter)));
    }

    void buttonsInAnyOrderEndInReadyWithOneEndForEachRun_data()
    {
        QTest::addColumn<unsigned>("seed");
        QTest::addColumn<bool>("isScripted");
        for (const unsigned seed : {1u, 2u, 3u})
            QTest::addRow("scripted engine, seed %u", seed) << seed << true;
        QTest::addRow("real engine") << 4u << false;
    }

    void buttonsInAnyOrderEndInReadyWithOneEndForEachRun()
    {
        QFETCH(unsigned, seed);
        QFETCH(bool, isScripted);
        if (isScripted) {
            Script script;
            script.outputTokens = 6;
            open(script);
            m_control->letRun();
        } else {
            m_window->session()->frameClock()->setIntervalMs(0);
            QVERIFY(load(tinyPath()));
            setMaxTokens(4);
            editor()->replaceText(QStringLiteral("the model"));
        }
        QSignalSpy started(m_window->session(), &SessionController::runStarted);
        QSignalSpy ended(m_window->session(), &SessionController::runEnded);
        auto *bar = m_window->findChild<QToolBar *>(QStringLiteral("runToolBar"));
        std::mt19937 random(seed); // the same numbers on every machine
        for (int i = 0; i < 50; ++i) {
            const char *names[] = {"run", "stop", "step"};
            QTest::mouseClick(bar->widgetForAction(action(names[random() % 3])), Qt::LeftButton);
            const bool waits = random() % 2; // until it has happened; else the next click comes at once
            const auto isSettled = [this] {
                return state() != SessionState::Running && state() != SessionState::Stopping;
            };
            if (waits)
                QVERIFY(QTest::qWaitFor(isSettled, test::kRunMs));
        }
        QTRY_VERIFY_WITH_TIMEOUT(state() == SessionState::Ready || state() == SessionState::Paused, test::kRunMs);
        if (state() == SessionState::Paused)
            QTest::mouseClick(bar->widgetForAction(action("stop")), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(state(), SessionState::Ready, test::kRunMs);
        QVERIFY2(started.size() > 3, qPrintable(QString::number(started.size())));
        QCOMPARE(ended, started);
        QCOMPARE(m_window->runs()->runs().size(), static_cast<std::size_t>(started.size()));
        for (const RunEntry &entry : m_window->runs()->runs())
            QCOMPARE(entry.record->state, RunState::Finished);
        QVERIFY(action("run")->isEnabled() && !action("stop")->isEnabled());
    }

    // gpt4all#1472
    void aLoadThatLastsIsStoppedReplacedOrClosed()
    {
        Script script;
        script.loadStops = {0.2};
        open(script, false);
        m_window->loadModel(m_path);
        m_control->waitForLoadStop(1);
        QTRY_VERIFY(label("statusState").contains(QStringLiteral("loading weights: 200")));
        QVERIFY(action("stop")->isEnabled() && !action("run")->isEnabled());
        pressStop();
        QCOMPARE(state(), SessionState::NoModel); // at once
        QVERIFY(said().contains(QStringLiteral("stopped")));
        m_control->waitForLoadReturn(1);
        QVERIFY(!m_control->isModelAlive());

        QTest::mouseClick(m_window->findChild<QPushButton *>(QStringLiteral("messageAction")), Qt::LeftButton);
        QCOMPARE(state(), SessionState::Loading);
        m_control->waitForLoadStop(2);
        const QString other = QStringLiteral("/models/other.gguf");
        m_window->loadModel(other);
        m_control->waitForLoadStop(3); // the one before has given up
        m_control->allowLoading();
        QTRY_COMPARE(state(), SessionState::Ready);
        QVERIFY(m_window->windowTitle().contains(QStringLiteral("other.gguf")));
        QCOMPARE(m_settings->recentModels(), QStringList(other)); // the others never were models of this window

        open(script, false);
        m_window->loadModel(m_path);
        m_control->waitForLoadStop(1);
        m_window->close();
        m_window.reset(); // a load that went on would wait for ever: the test would run into its time limit
        QVERIFY(!m_control->isModelAlive());
    }
};

QTEST_MAIN(TestWindowRuns)
#include "tst_window_runs.moc"
