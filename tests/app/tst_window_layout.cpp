// SPDX-License-Identifier: GPL-3.0-or-later
// The real window as a piece of furniture: sizes, panes, settings, names and keys of its inputs.
#include "app/window_layout.h"
#include "tests/app/window_fixture.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QLineEdit>

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

    void theProjectorEnlargesAndComesBack()
    {
        const int before = editor()->fontMetrics().height();
        action("projector")->trigger();
        QTRY_VERIFY(editor()->fontMetrics().height() > before * 5 / 4);
        action("projector")->trigger();
        QTRY_COMPARE(editor()->fontMetrics().height(), before);
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
