// SPDX-License-Identifier: GPL-3.0-or-later
// The real window as a piece of furniture: sizes, panes, settings, names and keys of its inputs.
#include "app/seed_box.h"
#include "app/window_layout.h"
#include "tests/app/window_fixture.h"
#include "widgets/message_bar.h"
#include "widgets/prompt_counts.h"
#include "widgets/prompt_splitter.h"
#include "widgets/wrapped_label.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QMenu>
#include <QStatusBar>
#include <QToolButton>

using namespace lectern;

class TestWindowLayout : public test::WindowFixture
{
    Q_OBJECT

private slots:
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

    void aMessageMovesNoPaneAndIsReachedByTheTabKey()
    {
        settle();
        const auto places = [this] {
            QList<QRect> found;
            for (const QDockWidget *dock : m_window->findChildren<QDockWidget *>())
                found << dock->geometry();
            return found;
        };
        const QList<QRect> before = places();
        auto *bar = m_window->findChild<MessageBar *>();
        bar->showMessage(MessageBar::Kind::Error, QStringLiteral("one\ntwo\nthree"), QStringLiteral("Again"));
        settle();
        QCOMPARE(places(), before);
        QVERIFY(bar->geometry().bottom() < m_window->statusBar()->y());
        QVERIFY(bar->y() > m_window->height() / 2);
        editor()->setFocus();
        for (int i = 0; i < 60 && !bar->isAncestorOf(QApplication::focusWidget()); ++i)
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        QVERIFY(bar->isAncestorOf(QApplication::focusWidget()));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
        QVERIFY(bar->isHidden());
        QVERIFY(QApplication::focusWidget()); // the keyboard goes on somewhere
    }

    void aSeedIsAnyNumberOf64BitsInTheFieldAndItsTwin()
    {
        m_window->findChild<QToolButton *>(QStringLiteral("samplingButton"))->menu()->popup({10, 10});
        SeedBox *field = m_window->findChild<SeedBox *>(QStringLiteral("seed"));
        SeedBox *twin = m_window->findChild<SeedBox *>(QStringLiteral("seedTwin"));
        const auto text = [](const SeedBox *box) { return box->findChild<QLineEdit *>()->text(); };
        twin->selectAll();
        QTest::keyClicks(twin, QStringLiteral("1844674a407370955161-45")); // the last 5 is too much
        QCOMPARE(field->value(), 18446744073709551614u);
        QCOMPARE(text(field), QStringLiteral("18446744073709551614"));
        field->stepBy(10);
        QCOMPARE(text(twin), QStringLiteral("18446744073709551615"));
        twin->selectAll();
        QTest::keyClick(twin, Qt::Key_Backspace);
        QTest::keyClick(twin, Qt::Key_Return); // empty: the seed stays
        QCOMPARE(text(twin), QStringLiteral("18446744073709551615"));
        field->setValue(3);
        QTest::keyClick(twin, Qt::Key_PageDown);
        QCOMPARE(field->value(), quint64(0));
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

    void theContextOfTheCommandLineWinsOverTheRememberedOneAlsoWhenItIsTheModelsOwn()
    {
        m_settings->setContextTokens(512);
        m_window.reset();
        m_window = std::make_unique<MainWindow>(m_settings.get());
        const auto *box = m_window->findChild<QComboBox *>(QStringLiteral("contextBox"));
        QCOMPARE(box->currentData().toInt(), 512);
        CommandLine line;
        line.contextTokens = 0;
        m_window->openAtStart(line);
        QCOMPARE(box->currentData().toInt(), 0);
        QCOMPARE(m_settings->contextTokens(), 512);
    }

    void theBackendOfTheCommandLineStandsUnderMoreTooAndCanBeChangedThere()
    {
        const auto *box = m_window->findChild<QComboBox *>(QStringLiteral("backendBox"));
        auto *twin = m_window->findChild<QComboBox *>(QStringLiteral("backendBoxTwin"));
        CommandLine line;
        line.load.backend = BackendChoice::Reference;
        m_window->openAtStart(line);
        QCOMPARE(box->currentIndex(), 1);
        QCOMPARE(twin->currentIndex(), 1);
        twin->setCurrentIndex(0);
        QCOMPARE(box->currentIndex(), 0);
        QVERIFY(!m_settings->usesReference());
    }

    void whatIsChosenComesBackInTheNextWindowAndTheLayoutCanBeReset()
    {
        const auto dock = [this](const char *name) { return m_window->findChild<QDockWidget *>(QLatin1String(name)); };
        const auto places = [this] {
            QMap<QString, QRect> found;
            for (const QDockWidget *pane : m_window->findChildren<QDockWidget *>())
                found[pane->objectName()] = pane->isVisible() ? pane->geometry() : QRect();
            return found;
        };
        const auto click = [this](const char *name) {
            QTest::mouseClick(m_window->findChild<QAbstractButton *>(QLatin1String(name)), Qt::LeftButton);
        };
        const auto enter = [this](const char *name, const char *text) {
            auto *box = m_window->findChild<QAbstractSpinBox *>(QLatin1String(name));
            box->setFocus();
            box->selectAll();
            QTest::keyClicks(box, QLatin1String(text));
            QTest::keyClick(box, Qt::Key_Return);
        };
        m_window->setAnimated(false);
        m_window->resetLayout({1100, 700});
        settle();
        const QMap<QString, QRect> standard = places();
        QVERIFY(load(tinyPath()));
        enter("maxTokens", "77");
        enter("temperature", "0.7");
        enter("seed", "18446744073709551615");
        click("lens2");
        click("chatMode");
        click("rawMode");
        action("kvCache")->trigger();
        action("theme2")->trigger();
        dock("kv")->toggleViewAction()->trigger();
        m_window->resizeDocks({dock("runs")}, {260}, Qt::Vertical);
        settle();
        const QMap<QString, QRect> own = places();
        QVERIFY(own != standard && own.value(QStringLiteral("kv")).isNull());
        QVERIFY(m_window->close());

        m_window.reset();
        m_settings = std::make_unique<Settings>(m_folder.filePath(QStringLiteral("settings.ini")));
        m_window = std::make_unique<MainWindow>(m_settings.get());
        m_window->setAnimated(false);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
        m_window->openAtStart({});
        settle();
        QCOMPARE(m_window->size(), QSize(1100, 700));
        QCOMPARE(places(), own);
        QCOMPARE(m_window->findChild<QSpinBox *>(QStringLiteral("maxTokens"))->value(), 77);
        QCOMPARE(m_window->findChild<QDoubleSpinBox *>(QStringLiteral("temperature"))->value(), 0.7);
        QCOMPARE(m_window->findChild<SeedBox *>(QStringLiteral("seed"))->value(), ~quint64(0));
        QCOMPARE(answer()->lens(), AnswerLens::Latency);
        QVERIFY(m_window->findChild<QAbstractButton *>(QStringLiteral("lens2"))->isChecked());
        QCOMPARE(promptPane()->mode(), PromptMode::Raw);
        QVERIFY(!action("kvCache")->isChecked());
        QVERIFY(action("theme2")->isChecked());
        QVERIFY(m_window->palette().color(QPalette::Window).lightness() < 90);
        QTRY_COMPARE_WITH_TIMEOUT(m_window->session()->state(), SessionState::Ready, test::kLoadMs);
        QCOMPARE(m_window->session()->modelPath(), tinyPath()); // the recent one
        action("resetLayout")->trigger();
        settle();
        QCOMPARE(places(), standard);
        m_settings->setTheme(ThemeChoice::Light);
    }

    // vllm#1623
    void valuesOutOfRangeCannotBeEntered()
    {
        const struct
        {
            const char *box, *typed;
            double least, most;
        } cases[] = {
            {"temperature", "-1", 0, 100}, {"temperature", "1000", 0, 100},      {"topP", "1.5", 0, 1},
            {"minP", "-0.5", 0, 1},        {"repetitionPenalty", "-3", 0.1, 10}, {"temperature", "nan", 0, 100}};
        m_window->findChild<QToolButton *>(QStringLiteral("samplingButton"))->menu()->popup({10, 10});
        for (const auto &[name, typed, least, most] : cases) {
            auto *box = m_window->findChild<QDoubleSpinBox *>(QLatin1String(name));
            box->setFocus();
            box->selectAll();
            QTest::keyClicks(box, QLatin1String(typed));
            QTest::keyClick(box, Qt::Key_Tab);
            QVERIFY2(box->value() >= least && box->value() <= most, name);
            QVERIFY2(box->text() != QLatin1String(typed), name); // seen, not only meant
        }
        m_window->findChild<QToolButton *>(QStringLiteral("samplingButton"))->menu()->close();
        auto *temperature = m_window->findChild<QDoubleSpinBox *>(QStringLiteral("temperature"));
        temperature->setValue(0);
        QCOMPARE(m_settings->sampling().temperature, 0.0f); // the best token always
    }

    void theSentPromptHasAShareOfWholeLinesThatTypingDoesNotChange()
    {
        m_window->setAnimated(false);
        promptPane()->setMode(PromptMode::Chat);
        auto *sent = m_window->findChild<TokenView *>(QStringLiteral("sentTokens"));
        const auto *counts = m_window->findChild<QLabel *>(QStringLiteral("promptCounts"));
        const struct
        {
            QSize size;
            int lines;
        } cases[] = {{{1280, 800}, 5}, {{1024, 640}, 3}};
        for (const auto &[size, lines] : cases) {
            m_window->resetLayout(size);
            editor()->clear();
            settle();
            const int line = sent->fontMetrics().lineSpacing();
            const int before = sent->height();
            QVERIFY(before >= lines * line + sent->document()->documentMargin());
            QVERIFY(editor()->height() >= 2 * line);
            type(QStringLiteral("What is the capital of France, and why is it not another one of its many cities?"));
            settle();
            QCOMPARE(sent->height(), before);
            PromptCounts shown;
            shown.text = editor()->promptText();
            shown.tokens = 123;
            shown.hasModel = true;
            auto *label = m_window->findChild<WrappedLabel *>(QStringLiteral("promptCounts"));
            label->showText(promptCountsText(shown, Theme::light())
                                .replace(QStringLiteral("(s)"), QStringLiteral("s"))); // without a catalogue
            settle();
            QVERIFY2(counts->height() < 2 * counts->fontMetrics().height(),
                     qPrintable(
                         QStringLiteral("%1 x %2: %3").arg(counts->width()).arg(counts->height()).arg(counts->text())));
        }
    }

    void aMovedHandleOfThePromptStaysWhereItIsUntilTheLayoutIsReset()
    {
        m_window->setAnimated(false);
        auto *splitter = m_window->findChild<PromptSplitter *>();
        settle();
        const QList<int> before = splitter->sizes();
        QSplitterHandle *handle = splitter->handle(1);
        const QPoint grip = handle->rect().center();
        QTest::mousePress(handle, Qt::LeftButton, {}, grip);
        QTest::mouseMove(handle, grip - QPoint(0, 25));
        QTest::mouseRelease(handle, Qt::LeftButton, {}, grip - QPoint(0, 25));
        const QList<int> moved = splitter->sizes();
        QVERIFY(moved != before);
        m_window->setTheme(ThemeChoice::Dark, false);
        settle();
        QCOMPARE(splitter->sizes(), moved);
        action("resetLayout")->trigger();
        settle();
        QCOMPARE(splitter->sizes(), before);
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
};

QTEST_MAIN(TestWindowLayout)
#include "tst_window_layout.moc"
