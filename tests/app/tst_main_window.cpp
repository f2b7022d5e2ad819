// SPDX-License-Identifier: GPL-3.0-or-later
// The real window with the real engine on a tiny model, driven by keys and mouse.
#include "app/main_window.h"
#include "app/window_layout.h"
#include "engine/trace/run_json.h"
#include "tests/support/models.h"
#include "tests/support/tiny_model.h"
#include "widgets/answer_pane.h"
#include "widgets/message_bar.h"
#include "widgets/prompt_edit.h"
#include "widgets/prompt_pane.h"
#include "widgets/run_chart.h"
#include "widgets/runs_view.h"
#include "widgets/token_view.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QDropEvent>
#include <QFileDialog>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

#include <memory>

using namespace lectern;

namespace {

constexpr int kLoadMs = 30'000;
constexpr int kRunMs = 60'000;

} // namespace

class TestMainWindow : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    std::unique_ptr<Settings> m_settings;
    std::unique_ptr<MainWindow> m_window;

    QString tinyPath() const { return m_folder.filePath(QStringLiteral("tiny.gguf")); }
    PromptPane *promptPane() const { return m_window->findChild<PromptPane *>(); }
    PromptEdit *editor() const { return m_window->findChild<PromptEdit *>(); }
    TokenView *answer() const { return m_window->findChild<TokenView *>(QStringLiteral("answerView")); }
    QString label(const char *name) const { return m_window->findChild<QLabel *>(QLatin1String(name))->text(); }
    QAction *action(const char *name) const { return m_window->findChild<QAction *>(QLatin1String(name)); }

    bool load(const QString &path)
    {
        QSignalSpy loaded(m_window.get(), &MainWindow::loadEnded);
        m_window->loadModel(path);
        return loaded.wait(kLoadMs) && loaded.at(0).at(0).toBool();
    }

    void type(const QString &text)
    {
        editor()->setFocus();
        editor()->selectAll();
        QTest::keyClick(editor(), Qt::Key_Delete);
        QTest::keyClicks(editor(), text);
    }

    // Runs what is in the editor to its end with the keyboard; the run's id, 0 if it was refused.
    int run()
    {
        QSignalSpy ended(m_window.get(), &MainWindow::runEnded);
        QTest::keyClick(m_window.get(), Qt::Key_Return, Qt::ControlModifier);
        return ended.isEmpty() && !ended.wait(kRunMs) ? -1 : ended.at(0).at(0).toInt();
    }

    void setMaxTokens(int count) { m_window->findChild<QSpinBox *>(QStringLiteral("maxTokens"))->setValue(count); }

private slots:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        test::writeTinyModel(m_folder.path().toStdString(), "tiny.gguf");
    }

    void init()
    {
        m_settings = std::make_unique<Settings>(m_folder.filePath(QStringLiteral("settings.ini")));
        m_window = std::make_unique<MainWindow>(m_settings.get());
        m_window->resetLayout({1280, 800});
        m_window->show();
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
        promptPane()->setMode(PromptMode::Raw);
        setMaxTokens(24);
    }

    void cleanup()
    {
        m_window.reset();
        m_settings.reset();
        QFile::remove(m_folder.filePath(QStringLiteral("settings.ini")));
    }

    void aFirstStartWithoutAModelSaysWhatToDo()
    {
        m_window->openAtStart({});
        QVERIFY(m_window->messageText().contains(QStringLiteral("packaging/run.sh")));
        QVERIFY(!action("run")->isEnabled());
    }

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
        QVERIFY(ended.wait(kRunMs));
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

    void aFileThatIsNoModelIsNamedAndTheNextOneLoads()
    {
        const QString path = m_folder.filePath(QStringLiteral("page.gguf"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("<!DOCTYPE html><html></html>");
        file.close();
        QVERIFY(!load(path));
        QVERIFY2(m_window->messageText().contains(QStringLiteral("page.gguf")), qPrintable(m_window->messageText()));
        QVERIFY(load(tinyPath()));
        QVERIFY(m_window->messageText().isEmpty());
    }

    void modelsInFoldersWithForeignNamesLoadByDropAndByRecentList()
    {
        const QString folder = m_folder.filePath(QStringLiteral("модели 模型 é"));
        QDir().mkpath(folder);
        const QString path = folder + QStringLiteral("/тест-ü.gguf");
        QFile::copy(tinyPath(), path);
        QSignalSpy loaded(m_window.get(), &MainWindow::loadEnded);
        QMimeData mime;
        mime.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter({10, 10}, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop({10, 10}, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &drop);
        QVERIFY(loaded.wait(kLoadMs) && loaded.at(0).at(0).toBool());
        QVERIFY(m_window->windowTitle().contains(QStringLiteral("тест-ü.gguf")));
        QCOMPARE(m_settings->recentModels().first(), path);
        m_window->openAtStart({}); // the recent list
        QTRY_COMPARE_WITH_TIMEOUT(m_window->session()->state(), SessionState::Ready, kLoadMs);
        QCOMPARE(m_window->session()->modelPath(), path);
    }

    void exportsHaveTheRightContentAndSize()
    {
        QVERIFY(load(tinyPath()));
        type(QStringLiteral("the model"));
        const int id = run();
        const auto record = m_window->runs()->find(id)->record;
        const QString folder = m_folder.filePath(QStringLiteral("export ü"));
        const auto written = writeRunBundle(*record, m_window->charts(), folder);
        QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
        QCOMPARE(written->size(), 13);
        for (const char *chart : {"timeline", "kv-cache", "latency"}) {
            const QString base = folder + QLatin1Char('/') + QLatin1String(chart);
            const QImage png(base + QStringLiteral(".png"));
            QCOMPARE(png.size(), QSize(1600, 900));
            QFile svg(base + QStringLiteral(".svg"));
            QVERIFY(svg.open(QIODevice::ReadOnly));
            QXmlStreamReader reader(&svg);
            while (!reader.atEnd())
                reader.readNext();
            QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
            QFile pdf(base + QStringLiteral(".pdf"));
            QVERIFY(pdf.open(QIODevice::ReadOnly));
            QCOMPARE(pdf.read(5), QByteArray("%PDF-"));
        }
        QFile tokens(folder + QStringLiteral("/tokens.csv"));
        QVERIFY(tokens.open(QIODevice::ReadOnly));
        QVERIFY(tokens.readAll().count('\n') >=
                static_cast<int>(1 + record->promptTokens.size() + record->outputTokens.size()));
    }

    void aSavedRunOpensWithTheVerySameCharts()
    {
        QVERIFY(load(tinyPath()));
        type(QStringLiteral("the model"));
        QVERIFY(run() > 0);
        QStringList before;
        for (const NamedChart &chart : m_window->charts())
            before << chart.chart->dataSummary();
        const QString path = m_folder.filePath(QStringLiteral("saved.lectern.json"));
        QVERIFY(saveRun(*m_window->runs()->current()->record, path.toStdString()));
        const int first = m_window->runs()->currentId();
        m_window->openFile(path);
        QTRY_VERIFY(m_window->runs()->currentId() != first);
        QStringList after;
        for (const NamedChart &chart : m_window->charts())
            after << chart.chart->dataSummary();
        QCOMPARE(after, before);
        QCOMPARE(answer()->shownText().isEmpty(), false);
    }

    void aDamagedSavedRunIsRefusedWithItsField()
    {
        const QString path = m_folder.filePath(QStringLiteral("damaged.lectern.json"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("{\"schemaVersion\": 1, \"outputTokens\": 7}");
        file.close();
        m_window->openFile(path);
        QTRY_VERIFY(m_window->messageText().contains(QStringLiteral("damaged.lectern.json")));
        QCOMPARE(m_window->runs()->runs().size(), std::size_t(0));
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

    void bothDecimalMarksGiveTheSameTemperature()
    {
        QLocale::setDefault(QLocale(QLocale::German));
        auto *box = m_window->findChild<QDoubleSpinBox *>(QStringLiteral("temperature"));
        box->setLocale(QLocale(QLocale::German));
        for (const char *typed : {"0,7", "0.7"}) {
            box->setValue(0);
            box->selectAll();
            QTest::keyClicks(box, QLatin1String(typed));
            QTest::keyClick(box, Qt::Key_Return);
            QCOMPARE(box->value(), 0.7);
        }
        QLocale::setDefault(QLocale::c());
    }

    void theWindowFitsSmallScreens()
    {
        m_window->resetLayout({1024, 640});
        QTRY_COMPARE(m_window->size(), QSize(1024, 640));
        for (QDockWidget *dock : m_window->findChildren<QDockWidget *>()) {
            QTRY_VERIFY2(m_window->rect().contains(dock->geometry()), qPrintable(dock->objectName()));
            QTRY_VERIFY2(dock->height() > 60, qPrintable(dock->objectName())); // docks move in an animation
        }
        m_window->resetLayout({800, 600});
        QTRY_COMPARE(m_window->size(), QSize(800, 600));
    }

    void oneEnlargedPaneGivesAllBackAgain()
    {
        answer()->setFocus();
        action("enlarge")->trigger();
        QVERIFY(m_window->findChild<QDockWidget *>(QStringLiteral("answer"))->isVisible());
        QVERIFY(!m_window->findChild<QDockWidget *>(QStringLiteral("runs"))->isVisible());
        action("enlarge")->trigger();
        for (QDockWidget *dock : m_window->findChildren<QDockWidget *>())
            QVERIFY2(dock->isVisible(), qPrintable(dock->objectName()));
    }

    void aForeignLayoutIsIgnored()
    {
        WindowLayout *layout = m_window->findChild<WindowLayout *>();
        QVERIFY(!layout->restore("garbage"));
        QVERIFY(!layout->restore(m_window->saveState(kLayoutVersion + 1)));
        QVERIFY(layout->restore(layout->save()));
    }

    void everyInputHasAnAccessibleName()
    {
        for (QWidget *widget : m_window->findChildren<QWidget *>()) {
            const bool isInput =
                qobject_cast<QAbstractSpinBox *>(widget) || qobject_cast<QComboBox *>(widget) ||
                qobject_cast<QPlainTextEdit *>(widget) || qobject_cast<QAbstractButton *>(widget) ||
                (qobject_cast<QLineEdit *>(widget) && !qobject_cast<QAbstractSpinBox *>(widget->parent()) &&
                 !qobject_cast<QComboBox *>(widget->parent()));
            if (!isInput || !widget->isVisibleTo(m_window.get()) ||
                widget->objectName().startsWith(QLatin1String("qt_")))
                continue;
            const auto *button = qobject_cast<QAbstractButton *>(widget);
            const bool isNamed = !widget->accessibleName().isEmpty() ||
                                 (button && (!button->text().isEmpty() || !button->toolTip().isEmpty()));
            QVERIFY2(isNamed,
                     qPrintable(QLatin1String(widget->metaObject()->className()) + QLatin1Char(' ') +
                                widget->objectName() + QStringLiteral(" in ") + widget->parent()->objectName()));
        }
    }

    void noShortcutIsUsedTwice()
    {
        QMap<QString, QString> seen;
        for (QAction *item : m_window->findChildren<QAction *>()) {
            for (const QKeySequence &key : item->shortcuts()) {
                QVERIFY2(!seen.contains(key.toString()),
                         qPrintable(key.toString() + QStringLiteral(": ") + item->text()));
                seen.insert(key.toString(), item->text());
            }
        }
        QVERIFY(seen.size() > 8);
    }

    void aRefusedLoadIsSaidAndAStoppedOneCanBeRepeated()
    {
        m_window->loadModel(tinyPath());
        QTest::keyClick(m_window.get(), Qt::Key_Period, Qt::ControlModifier);
        if (m_window->session()->state() == SessionState::NoModel) // otherwise it was quicker than the key
            QVERIFY(m_window->messageText().contains(QStringLiteral("stopped")));
        QVERIFY(load(tinyPath()));
    }

    void settingsAreRememberedButNotThoseOfTheCommandLine()
    {
        m_window->findChild<QSpinBox *>(QStringLiteral("topK"))->setValue(40);
        CommandLine line;
        line.maxTokens = 7;
        line.lens = AnswerLens::Latency;
        m_window->openAtStart(line);
        QCOMPARE(m_window->findChild<QSpinBox *>(QStringLiteral("maxTokens"))->value(), 7);
        QCOMPARE(m_settings->sampling().topK, 40);
        QCOMPARE(m_settings->maxTokens(), 24);
        QCOMPARE(m_settings->answerLens(), AnswerLens::Tokens);
    }

    void theProjectorEnlargesAndComesBack()
    {
        const int before = editor()->fontMetrics().height();
        action("projector")->trigger();
        QTRY_VERIFY(editor()->fontMetrics().height() > before * 5 / 4);
        action("projector")->trigger();
        QTRY_COMPARE(editor()->fontMetrics().height(), before);
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
