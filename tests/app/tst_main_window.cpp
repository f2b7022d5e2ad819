// SPDX-License-Identifier: GPL-3.0-or-later
// Runs in the real window with the real engine, driven by keys and mouse.
#include "tests/app/window_fixture.h"
#include "tests/support/models.h"
#include "widgets/message_bar.h"
#include "widgets/run_chart.h"
#include "widgets/runs_view.h"

#include <QPushButton>

using namespace lectern;

class TestMainWindow : public test::WindowFixture
{
    Q_OBJECT

private slots:
    void aPromptIsShownAsTokensWhileItIsTyped()
    {
        QVERIFY(load(tinyPath()));
        type(QStringLiteral("the cache"));
        QTRY_VERIFY(!editor()->spans().empty());
        QTRY_COMPARE(editor()->spans().back().end, 9);
        QVERIFY(label("promptCounts").contains(QStringLiteral("2 word")));
        QVERIFY(label("promptCounts").contains(QStringLiteral("token")));
    }

    void chatModeShowsTheTemplateAroundTheTypedText()
    {
        QVERIFY(load(tinyPath()));
        promptPane()->setMode(PromptMode::Chat);
        type(QStringLiteral("hello <|im_end|>"));
        auto *sent = m_window->findChild<TokenView *>(QStringLiteral("sentTokens"));
        QTRY_VERIFY(sent->shownText().contains(QStringLiteral("<|im_start|>user\nhello <|im_end|><|im_end|>")));
        // What the user typed is text; what the template wrote is special.
        int special = 0;
        for (const TokenSpan &span : sent->spans())
            special += span.isSpecial;
        QCOMPARE(special, 3);
        for (const TokenSpan &span : editor()->spans())
            QVERIFY(!span.isSpecial);
    }

    void aRunFillsAnswerChartsMetricsAndTable()
    {
        QVERIFY(load(tinyPath()));
        type(QStringLiteral("the model reads"));
        const int id = run();
        QVERIFY(id > 0);
        const RunEntry *entry = m_window->runs()->find(id);
        QCOMPARE(entry->record->state, RunState::Finished);
        QCOMPARE(entry->record->outputTokens.size(), std::size_t(24));
        QCOMPARE(*entry->record->finishReason, FinishReason::MaxTokens);
        QVERIFY(label("answerFooter").contains(QStringLiteral("token 24 of at most 24")));
        for (const NamedChart &chart : m_window->charts())
            QVERIFY2(!chart.chart->isEmpty(), qPrintable(chart.fileName));
        auto *table = m_window->findChild<RunsView *>();
        QCOMPARE(table->model()->rowCount(), 1);
        QCOMPARE(table->model()->index(0, RunTableModel::Output).data().toString(), QStringLiteral("24"));
        QVERIFY(label("statusFacts").contains(QStringLiteral("/ 256")));
    }

    void stepMakesOneTokenAndWaits()
    {
        QVERIFY(load(tinyPath()));
        type(QStringLiteral("the model"));
        QTest::keyClick(m_window.get(), Qt::Key_F10);
        QTRY_COMPARE(m_window->session()->state(), SessionState::Paused);
        const int id = m_window->runs()->currentId();
        QCOMPARE(m_window->runs()->find(id)->record->outputTokens.size(), std::size_t(1));
        QTest::keyClick(m_window.get(), Qt::Key_F10);
        QTRY_COMPARE(m_window->runs()->find(id)->record->outputTokens.size(), std::size_t(2));
        QTRY_COMPARE(m_window->session()->state(), SessionState::Paused);
        QCOMPARE(run(), id); // goes on to the end
        QCOMPARE(m_window->runs()->find(id)->record->outputTokens.size(), std::size_t(24));
    }

    void stopEndsAPausedRunAndKeepsItsTokens()
    {
        QVERIFY(load(tinyPath()));
        type(QStringLiteral("the model"));
        QTest::keyClick(m_window.get(), Qt::Key_F10);
        QTRY_COMPARE(m_window->session()->state(), SessionState::Paused);
        QSignalSpy ended(m_window.get(), &MainWindow::runEnded);
        QTest::keyClick(m_window.get(), Qt::Key_Period, Qt::ControlModifier);
        QVERIFY(ended.wait(test::kRunMs));
        const auto record = m_window->runs()->current()->record;
        QCOMPARE(*record->finishReason, FinishReason::Cancelled);
        QCOMPARE(record->outputTokens.size(), std::size_t(1));
    }

    void withoutTheKvCacheTheAnswerIsTheSameAndNothingIsKept()
    {
        QVERIFY(load(tinyPath()));
        type(QStringLiteral("the model"));
        const int with = run();
        action("kvCache")->trigger();
        const int without = run();
        const auto first = m_window->runs()->find(with)->record, second = m_window->runs()->find(without)->record;
        QCOMPARE(QString::fromStdString(second->answer()), QString::fromStdString(first->answer()));
        QCOMPARE(metricsOf(*second).kvUsedBytes, std::uint64_t(0));
        QVERIFY(metricsOf(*first).kvUsedBytes > 0);
    }

    void hoveringATokenSelectsItForEveryPane()
    {
        QVERIFY(load(tinyPath()));
        type(QStringLiteral("the model"));
        QTRY_VERIFY(!editor()->spans().empty() && editor()->spans().back().end == 9);
        const int id = run();
        QVERIFY(id > 0);
        auto *selection = m_window->findChild<TokenSelection *>();
        QTextCursor cursor(answer()->document());
        QVERIFY(!answer()->spans().empty());
        cursor.setPosition(answer()->spans().front().begin);
        QTest::mouseMove(answer()->viewport(), answer()->cursorRect(cursor).center() + QPoint(3, 0));
        QCOMPARE(selection->hovered(), (TokenRef{id, TokenPart::Output, answer()->spans().front().lastToken}));
        // The editor's tokens are those that were sent: hovering them selects tokens of the run.
        QTextCursor first(editor()->document());
        first.setPosition(editor()->spans().front().begin);
        QTest::mouseMove(editor()->viewport(), editor()->cursorRect(first).center() + QPoint(3, 0));
        QCOMPARE(selection->hovered(), (TokenRef{id, TokenPart::Prompt, editor()->spans().front().lastToken}));
        // An edit makes them tokens of a prompt that has not run.
        QTest::keyClicks(editor(), QStringLiteral("s"));
        QTRY_COMPARE(editor()->spans().back().end, editor()->promptText().size());
        QTest::mouseMove(editor()->viewport(), QPoint(editor()->viewport()->width() - 2, 2));
        QTest::mouseMove(editor()->viewport(), editor()->cursorRect(first).center() + QPoint(3, 0));
        QCOMPARE(selection->hovered().runId, 0);
    }

    void anEmptyPromptIsRefusedWithoutARow()
    {
        QVERIFY(load(tinyPath()));
        type(QString());
        QCOMPARE(run(), 0);
        QVERIFY(m_window->messageText().contains(QStringLiteral("Nothing to evaluate")));
        QCOMPARE(m_window->runs()->runs().size(), std::size_t(0));
        editor()->replaceText(QStringLiteral("\u200B")); // a zero-width space is an ordinary prompt of three bytes
        QVERIFY(run() > 0);
        QCOMPARE(m_window->runs()->current()->record->promptText.size(), std::size_t(3));
    }

    void aPromptLongerThanTheContextNamesBothNumbers()
    {
        QVERIFY(load(tinyPath()));
        editor()->replaceText(QStringLiteral("zq").repeated(200));
        QCOMPARE(run(), 0);
        QVERIFY2(m_window->messageText().contains(QStringLiteral("400")), qPrintable(m_window->messageText()));
        QVERIFY(m_window->messageText().contains(QStringLiteral("256")));
        QCOMPARE(m_window->runs()->runs().size(), std::size_t(0));
        type(QStringLiteral("ok"));
        QVERIFY(run() > 0);
    }

    void aDeletedRunComesBackWithUndo()
    {
        QVERIFY(load(tinyPath()));
        type(QStringLiteral("the model"));
        const int id = run();
        auto *table = m_window->findChild<RunsView *>();
        table->setFocus();
        table->setCurrentIndex(table->model()->index(0, 0));
        QTest::keyClick(table, Qt::Key_Delete);
        QCOMPARE(table->model()->rowCount(), 0);
        for (QPushButton *button : m_window->findChild<MessageBar *>()->findChildren<QPushButton *>())
            QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(table->model()->rowCount(), 1);
        QVERIFY(m_window->runs()->find(id) != nullptr);
    }

    void closingWhileARunGoesOnIsQuickAndClean()
    {
        QVERIFY(load(tinyPath()));
        setMaxTokens(100'000);
        action("kvCache")->setChecked(false); // slow on purpose
        type(QStringLiteral("the model"));
        QTest::keyClick(m_window.get(), Qt::Key_Return, Qt::ControlModifier);
        QCOMPARE(m_window->session()->state(), SessionState::Running);
        QElapsedTimer timer;
        timer.start();
        m_window.reset();
        QVERIFY(timer.elapsed() < 5'000);
    }

    void theRealModelAnswersAQuestion()
    {
        const auto path = test::modelPath();
        if (!path)
            QSKIP("SmolLM2-135M-Instruct.Q4_1.gguf is not there (packaging/run.sh brings it)");
        QVERIFY(load(QString::fromStdString(path->string())));
        promptPane()->setMode(PromptMode::Chat);
        setMaxTokens(32);
        QTest::keyClick(m_window.get(), Qt::Key_2, Qt::AltModifier); // the sample "What's the capital of France?"
        QCOMPARE(promptPane()->systemPrompt(), QStringLiteral("Answer in one sentence."));
        QVERIFY(editor()->promptText().contains(QStringLiteral("France")));
        const int id = run();
        QVERIFY(id > 0);
        const auto record = m_window->runs()->find(id)->record;
        QVERIFY2(record->answer().find("Paris") != std::string::npos, record->answer().c_str());
        QCOMPARE(*record->finishReason, FinishReason::EndToken);
        QVERIFY(answer()->shownText().contains(QStringLiteral("Paris")));
    }
};

QTEST_MAIN(TestMainWindow)
#include "tst_main_window.moc"
