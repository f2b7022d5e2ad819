// SPDX-License-Identifier: GPL-3.0-or-later
// The window on a projector: large text, room for the charts, and the way back.
#include "tests/app/window_fixture.h"

#include <QDockWidget>

using namespace lectern;

class TestWindowProjector : public test::WindowFixture
{
    Q_OBJECT

private slots:
    void theProjectorEnlargesAndComesBack()
    {
        const int before = editor()->fontMetrics().height();
        action("projector")->trigger();
        QTRY_VERIFY(editor()->fontMetrics().height() > before * 5 / 4);
        action("projector")->trigger();
        QTRY_COMPARE(editor()->fontMetrics().height(), before);
    }

    void aProjectorInASmallWindowGivesTheRoomOfTheRunsToTheCharts()
    {
        m_window->setAnimated(false);
        const auto *runs = m_window->findChild<QDockWidget *>(QStringLiteral("runs"));
        for (const QSize &size : {QSize(1280, 800), QSize(1024, 640)}) {
            m_window->resetLayout(size);
            settle();
            QVERIFY(runs->isVisible());
            action("projector")->trigger();
            settle();
            QCOMPARE(runs->isVisible(), size.width() == 1280);
            QCOMPARE(m_window->size(), size);
            for (const char *name : {"timeline", "kv", "latency"}) {
                const auto *dock = m_window->findChild<QDockWidget *>(QLatin1String(name));
                QVERIFY2(dock->height() >= 6 * m_window->fontMetrics().height(), name);
            }
            action("projector")->trigger();
            settle();
            QVERIFY(runs->isVisible());
        }
    }

    // --theme says what is shown, not what is remembered; and who moved a pane has it back after the lecture.
    void theProjectorKeepsThemeAndLayout()
    {
        m_window->setTheme(ThemeChoice::Dark, false);
        auto *prompt = m_window->findChild<QDockWidget *>(QStringLiteral("prompt"));
        const int usual = prompt->width();
        m_window->resizeDocks({prompt}, {usual - 60}, Qt::Horizontal); // goes as far as the other panes let it
        QTRY_VERIFY(prompt->width() < usual - 10);
        const int moved = prompt->width();
        for (const bool isOn : {true, false}) {
            action("projector")->trigger();
            QCOMPARE(action("projector")->isChecked(), isOn);
            QVERIFY(m_window->palette().color(QPalette::Window).lightness() < 80);
        }
        QTRY_COMPARE(prompt->width(), moved);
    }

    void theProjectorAgainAndAgainMovesNoPane()
    {
        m_window->setAnimated(false);
        QVERIFY(load(tinyPath()));
        type(QStringLiteral("a b c"));
        QVERIFY(run() > 0);
        settle();
        const auto places = [this] {
            QMap<QString, QRect> all;
            for (const QDockWidget *dock : m_window->findChildren<QDockWidget *>())
                all[dock->objectName()] = dock->geometry();
            return all;
        };
        const auto before = places();
        for (int i = 0; i < 3; ++i) {
            action("projector")->trigger();
            settle();
            QVERIFY(places() != before);
            action("projector")->trigger();
            settle();
            QCOMPARE(places(), before);
        }
    }
};

QTEST_MAIN(TestWindowProjector)

#include "tst_window_projector.moc"
