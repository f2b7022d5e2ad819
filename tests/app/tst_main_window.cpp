// SPDX-License-Identifier: GPL-3.0-or-later
// Runs in the real window with the real engine, driven by keys and mouse.
#include "app/seed_box.h"
#include "engine/trace/run_json.h"
#include "tests/app/window_fixture.h"
#include "tests/support/models.h"
#include "widgets/message_bar.h"
#include "widgets/run_chart.h"
#include "widgets/runs_view.h"

#include <QDoubleSpinBox>
#include <QPushButton>
#include <QTextBrowser>

#include <map>

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

    void whatIsSentIsShownFromTheUsersMessageOn()
    {
        QVERIFY(load(tinyPath()));
        promptPane()->setMode(PromptMode::Chat);
        promptPane()->setSystemPrompt(QStringLiteral("many words ").repeated(14));
        m_window->setPrompt(QStringLiteral("hello") + QStringLiteral("\nyou").repeated(5)); // more than fits below it
        auto *sent = m_window->findChild<TokenView *>(QStringLiteral("sentTokens"));
        QTRY_VERIFY(sent->shownText().contains(QStringLiteral("user\nhello\nyou")));
        const auto firstLine = [sent] { return sent->cursorForPosition(QPoint(2, 2)).block().text(); };
        QTRY_COMPARE(firstLine(), QStringLiteral("<|im_start|>user"));
        QVERIFY(run() > 0);
        QTRY_COMPARE(firstLine(), QStringLiteral("<|im_start|>user"));
    }

    void aSampleWithASystemMessageIsAChat()
    {
        QVERIFY(load(tinyPath()));
        promptPane()->setMode(PromptMode::Raw);
        QTest::keyClick(m_window.get(), Qt::Key_2, Qt::AltModifier);
        QCOMPARE(promptPane()->mode(), PromptMode::Chat);
        QCOMPARE(promptPane()->systemPrompt(), QStringLiteral("Answer in one sentence."));
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
        QVERIFY(label("answerFooter").contains(QStringLiteral("24 of max 24 tokens")));
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
        QCOMPARE(metricsOf(*second).kvUsedBytes, std::optional<std::uint64_t>(0));
        QVERIFY(metricsOf(*first).kvUsedBytes > 0);
        // Of the same prompt, and yet told apart in the table and in legends.
        QCOMPARE(m_window->runs()->find(with)->title, QStringLiteral("the model"));
        QCOMPARE(m_window->runs()->find(without)->title, QStringLiteral("no KV cache: the model"));
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

    // One chart is painted a frame: no one waits for ever where every frame finds the run longer.
    void everyChartHasItsTurnWhileARunGrowsInEveryFrame()
    {
        QVERIFY(load(tinyPath()));
        editor()->replaceText(QStringLiteral("the model"));
        const int id = run();
        QVERIFY(id > 0);
        std::vector<std::unique_ptr<QSignalSpy>> painted;
        for (const NamedChart &chart : m_window->charts())
            painted.push_back(
                std::make_unique<QSignalSpy>(chart.chart->findChild<QCustomPlot *>(), &QCustomPlot::afterReplot));
        QSignalSpy frames(m_window->session()->frameClock(), &FrameClock::frame);
        for (int i = 0; i < 12; ++i) {
            m_window->runs()->notifyChanged(id);
            QVERIFY(frames.wait());
        }
        for (const auto &times : painted)
            QVERIFY2(times->size() >= 3, qPrintable(QString::number(times->size())));
    }

    // ollama#5044
    void theSeedLeavesTheTemperatureAlone()
    {
        QVERIFY(load(tinyPath()));
        auto *temperature = m_window->findChild<QDoubleSpinBox *>(QStringLiteral("temperature"));
        auto *seed = m_window->findChild<SeedBox *>(QStringLiteral("seed"));
        const auto enter = [](QAbstractSpinBox *box, const char *text) {
            box->setFocus();
            box->selectAll();
            QTest::keyClicks(box, QLatin1String(text));
            QTest::keyClick(box, Qt::Key_Return);
        };
        enter(temperature, "1.5");
        setMaxTokens(20);
        editor()->replaceText(QStringLiteral("the model"));
        std::vector<std::string> answers;
        for (const char *text : {"7", "7", "8"}) {
            enter(seed, text);
            QCOMPARE(temperature->value(), 1.5);
            QVERIFY(run() > 0);
            const RunRecord &record = *m_window->runs()->current()->record;
            QCOMPARE(record.request.sampling.temperature, 1.5f);
            QCOMPARE(record.request.sampling.seed, std::uint64_t(QByteArray(text).toInt()));
            QVERIFY(toJson(record).find("\"temperature\":1.5") != std::string::npos);
            answers.push_back(record.answer());
        }
        QCOMPARE(answers[1], answers[0]);
        QVERIFY(answers[2] != answers[0]);
    }

    void aTokenUnderThePointerIsMarkedInEveryPane()
    {
        QVERIFY(load(tinyPath()));
        type(QStringLiteral("the model reads"));
        QTRY_VERIFY(!editor()->spans().empty() && editor()->spans().back().end == 15);
        const int id = run();
        QVERIFY(id > 0);
        auto *selection = m_window->findChild<TokenSelection *>();
        std::map<QString, QWidget *> panes{{QStringLiteral("answer"), answer()->viewport()},
                                           {QStringLiteral("prompt"), editor()->viewport()}};
        for (const NamedChart &chart : m_window->charts())
            panes[chart.fileName] = chart.chart;
        const auto pictures = [&] {
            for (int i = 0; i < 4; ++i)
                QCoreApplication::processEvents();
            std::map<QString, QImage> images;
            for (const auto &[name, widget] : panes)
                images[name] = widget->grab().toImage();
            return images;
        };
        const auto plot = [&](const QString &name) {
            return panes[name]->findChild<QWidget *>(QStringLiteral("plot"));
        };
        const auto middleOf = [](const TokenTextEdit &edit, std::size_t span) {
            for (const auto &line : edit.linesIn(edit.viewport()->rect()))
                for (const QRectF &box : edit.boxesOf(edit.spans()[span].begin, edit.spans()[span].end, line))
                    return box.center().toPoint();
            return QPoint();
        };
        struct Source
        {
            QWidget *widget;
            QPoint at;
            TokenPart part;
        };
        const Source sources[] = {
            {answer()->viewport(), middleOf(*answer(), 3), TokenPart::Output},
            {plot(QStringLiteral("latency")), plot(QStringLiteral("latency"))->rect().center(), TokenPart::Output},
            {plot(QStringLiteral("kv-cache")), plot(QStringLiteral("kv-cache"))->rect().center(), TokenPart::Output},
            {plot(QStringLiteral("timeline")), plot(QStringLiteral("timeline"))->rect().center(), TokenPart::Output},
            {editor()->viewport(), middleOf(*editor(), 2), TokenPart::Prompt}};
        selection->clear();
        const auto before = pictures();
        for (const Source &source : sources) {
            QTest::mouseMove(source.widget, source.at);
            QVERIFY2(selection->hovered().isValid(), qPrintable(source.widget->objectName()));
            QCOMPARE(selection->hovered().runId, id);
            QCOMPARE(selection->hovered().part, source.part);
            const auto marked = pictures();
            for (const auto &[name, image] : before) {
                const bool isText = name == QStringLiteral("answer") || name == QStringLiteral("prompt");
                const bool isOther =
                    name == (source.part == TokenPart::Output ? QStringLiteral("prompt") : QStringLiteral("answer"));
                if (source.part == TokenPart::Output || isText || name == QStringLiteral("kv-cache"))
                    QVERIFY2((marked.at(name) != image) != isOther,
                             qPrintable(source.widget->objectName() + QStringLiteral(" → ") + name));
            }
            selection->clear();
            QCOMPARE(pictures(), before);
        }
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

    // cortex.cpp#1099
    void theGuideStatesTheFormulas()
    {
        QTest::keyClick(m_window.get(), Qt::Key_F1);
        const auto *browser = m_window->findChild<QTextBrowser *>();
        QVERIFY(browser);
        const QString guide = browser->toPlainText();
        for (const char *formula : {"(last token − first token) ÷ (output tokens − 1)", "1 ÷ TPOT"})
            QVERIFY2(guide.contains(QString::fromUtf8(formula)), formula);
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
