// SPDX-License-Identifier: GPL-3.0-or-later
// The runs table by keys and mouse, and what stands around it: the metric strip and the message bar.
#include "tests/support/sample_record.h"
#include "widgets/message_bar.h"
#include "widgets/metric_strip.h"
#include "widgets/runs_view.h"

#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <QToolButton>

using namespace lectern;

class TestRunsView : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_store = std::make_unique<RunStore>();
        for (const char *title : {"capital of France?", "20-page contract", "same, KV cache off"})
            m_store->add(std::make_shared<RunRecord>(sampleRecord()), QString::fromLatin1(title));
        m_view = std::make_unique<RunsView>(m_store.get());
        m_view->resize(1000, 200);
        m_view->show();
        m_view->setFocus();
        QCoreApplication::processEvents();
    }

    void arrowKeysChooseTheCurrentRun()
    {
        QCOMPARE(m_store->currentId(), 3);
        QCOMPARE(m_view->currentIndex().row(), 2);
        QTest::keyClick(m_view.get(), Qt::Key_Up);
        QCOMPARE(m_store->currentId(), 2);
        QTest::keyClick(m_view.get(), Qt::Key_Up);
        QCOMPARE(m_store->currentId(), 1);
        m_store->setCurrent(3);
        QCOMPARE(m_view->currentIndex().row(), 2);
    }

    void deleteKeyAsksForRemovalOfTheChosenRun()
    {
        QSignalSpy asked(m_view.get(), &RunsView::removeRequested);
        QTest::keyClick(m_view.get(), Qt::Key_Up);
        QTest::keyClick(m_view.get(), Qt::Key_Delete);
        QCOMPARE(asked.count(), 1);
        QCOMPARE(asked[0][0].toInt(), 2);
        QCOMPARE(m_store->runs().size(), std::size_t(3)); // the view removes nothing by itself
        m_store->remove(2);
        QCOMPARE(m_view->model()->rowCount(), 2);
        QCOMPARE(m_view->currentIndex().data(RunTableModel::RunIdRole).toInt(), m_store->currentId());
    }

    void spaceAndClickSwitchTheOverlay()
    {
        QTest::keyClick(m_view.get(), Qt::Key_Space);
        QVERIFY(m_store->find(3)->isOverlaid);
        QTest::keyClick(m_view.get(), Qt::Key_Space);
        QVERIFY(!m_store->find(3)->isOverlaid);
        const QRect box = m_view->visualRect(m_view->model()->index(0, RunTableModel::Overlay));
        QTest::mouseClick(m_view->viewport(), Qt::LeftButton, {}, box.topLeft() + QPoint(3, 3)); // anywhere in the cell
        QVERIFY(m_store->find(1)->isOverlaid);
    }

    void renameByF2()
    {
        QTest::keyClick(m_view.get(), Qt::Key_F2);
        auto *editor = m_view->viewport()->findChild<QLineEdit *>();
        QVERIFY(editor);
        QCOMPARE(editor->text(), QStringLiteral("same, KV cache off"));
        editor->selectAll();
        QTest::keyClicks(editor, QStringLiteral("no cache"));
        QTest::keyClick(editor, Qt::Key_Return);
        QCoreApplication::processEvents(); // the delegate commits after the key has been handled
        QCOMPARE(m_store->find(3)->title, QStringLiteral("no cache"));
    }

    void contextMenuActsOnTheRowUnderThePointer()
    {
        QSignalSpy saved(m_view.get(), &RunsView::saveRequested), removed(m_view.get(), &RunsView::removeRequested);
        const QPoint at = m_view->visualRect(m_view->model()->index(1, 0)).center();
        QContextMenuEvent event(QContextMenuEvent::Mouse, at, m_view->viewport()->mapToGlobal(at));
        QCoreApplication::sendEvent(m_view->viewport(), &event);
        auto *menu = m_view->findChild<QMenu *>();
        QVERIFY(menu);
        QList<QAction *> actions;
        for (QAction *action : menu->actions()) {
            if (!action->isSeparator())
                actions.append(action);
        }
        QCOMPARE(actions.size(), 4);
        actions[0]->trigger();
        QVERIFY(m_store->find(2)->isOverlaid);
        actions[2]->trigger();
        QCOMPARE(saved[0][0].toInt(), 2);
        actions[3]->trigger();
        QCOMPARE(removed[0][0].toInt(), 2);
        menu->close();
    }

    void columnsFitAThousandPixelsAndFillThem()
    {
        QCOMPARE(m_view->horizontalScrollBar()->maximum(), 0);
        int total = 0;
        for (int column = 0; column < RunTableModel::ColumnCount; ++column) {
            total += m_view->columnWidth(column);
            for (int row = 0; row < 3; ++row) {
                const QModelIndex index = m_view->model()->index(row, column);
                if (column >= RunTableModel::Prompt && column <= RunTableModel::Kv)
                    QVERIFY(m_view->sizeHintForIndex(index).width() <= m_view->columnWidth(column));
            }
        }
        QCOMPARE(total, m_view->viewport()->width());
    }

    void columnsWidenForALongerEndOfTheRun()
    {
        m_view->resize(1400, 200);
        const auto outcome = m_view->model()->index(2, RunTableModel::Outcome);
        RunRecord &record = *m_store->find(3)->record;
        record.finishReason = FinishReason::MaxTokens;
        record.request.maxTokens = 46;
        m_store->notifyChanged(3);
        QVERIFY(m_view->sizeHintForIndex(outcome).width() <= m_view->columnWidth(RunTableModel::Outcome));
    }

    void emptyTableSaysWhatWillAppear()
    {
        RunStore empty;
        RunsView view(&empty);
        view.resize(600, 120);
        const QImage image = view.grab().toImage();
        int inked = 0;
        for (int y = image.height() / 3; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                inked += qGray(image.pixel(x, y)) < 140;
        QVERIFY2(inked > 200, qPrintable(QString::number(inked)));
    }

    void stripShowsEveryMetricWithItsDefinition()
    {
        MetricStrip strip;
        strip.setMetrics(metricsOf(sampleRecord()));
        strip.resize(700, 60);
        strip.show();
        QCoreApplication::processEvents();
        QStringList texts;
        for (const QLabel *label : strip.findChildren<QLabel *>()) {
            texts.append(label->text());
            QVERIFY2(label->isVisible(), qPrintable(label->text()));
            QVERIFY2(label->sizeHint().width() <= label->width(), qPrintable(label->text()));
        }
        QCOMPARE(texts.size(), 12);
        QCOMPARE(texts.first(), QStringLiteral("TTFT"));
        for (const QLabel *label : strip.findChildren<QLabel *>())
            QVERIFY(!label->parentWidget()->parentWidget()->toolTip().isEmpty()); // the cell
    }

    // In a styled window: a style sheet keeps a parent's font from its children.
    void stripValuesAreLargeAndBoldUnderAStyleSheet()
    {
        MetricStrip strip;
        strip.setStyleSheet(QStringLiteral("QLabel { color: black; }"));
        strip.resize(700, 60);
        strip.show();
        QCoreApplication::processEvents();
        const auto labels = strip.findChildren<QLabel *>(); // name, value, name, value …
        QVERIFY(labels.at(1)->fontInfo().pointSizeF() > 1.3 * labels.at(0)->fontInfo().pointSizeF());
        QVERIFY(labels.at(1)->font().bold());
        QVERIFY(!labels.at(0)->font().bold());
    }

    void stripCellsKeepTheirPlacesWhileNumbersChange()
    {
        MetricStrip strip;
        strip.resize(700, 60);
        strip.show();
        QCoreApplication::processEvents();
        const auto places = [&strip] {
            QCoreApplication::processEvents();
            QList<int> left;
            for (const QLabel *label : strip.findChildren<QLabel *>())
                left.append(label->mapTo(&strip, QPoint()).x());
            return left;
        };
        const QList<int> before = places();
        SampleRun slow;
        slow.stepMs = 123.4;
        slow.prefillMsPerToken = 99;
        strip.setMetrics(metricsOf(sampleRecord(slow)));
        QCOMPARE(places(), before);
        strip.clear();
        QCOMPARE(places(), before);
        strip.resize(260, 60); // too narrow for all: the first stay, whole
        QCoreApplication::processEvents();
        QVERIFY(strip.findChildren<QLabel *>().first()->isVisible());
        QVERIFY(!strip.findChildren<QLabel *>().last()->isVisible());
        QCOMPARE(strip.width(), 260);
    }

    void messageIsPlainTextAndActsOnce()
    {
        MessageBar bar;
        bar.resize(600, 40);
        QVERIFY(bar.text().isEmpty());
        int calls = 0;
        bar.showMessage(MessageBar::Kind::Error, QStringLiteral("<b>bad</b> & worse"), QStringLiteral("Again"),
                        [&calls] { ++calls; });
        QVERIFY(bar.isVisible());
        QCOMPARE(bar.text(), QStringLiteral("<b>bad</b> & worse"));
        for (const QLabel *label : bar.findChildren<QLabel *>()) {
            if (!label->text().isEmpty())
                QCOMPARE(label->textFormat(), Qt::PlainText);
        }
        bar.findChild<QPushButton *>()->click();
        QCOMPARE(calls, 1);
        QVERIFY(!bar.isVisible());
        bar.showMessage(MessageBar::Kind::Info, QStringLiteral("note"));
        QVERIFY(!bar.findChild<QPushButton *>()->isVisible());
        bar.findChild<QToolButton *>()->click();
        QVERIFY(!bar.isVisible());
        QCOMPARE(calls, 1);
    }

    void notesLeaveByThemselvesAndNothingElseDoes()
    {
        QWidget window;
        MessageBar bar(&window);
        auto *other = new QLineEdit(&window);
        window.resize(600, 300);
        window.show();
        window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        other->setFocus();
        auto *life = bar.findChild<QTimer *>();
        for (const auto kind : {MessageBar::Kind::Warning, MessageBar::Kind::Error}) {
            bar.showMessage(MessageBar::Kind::Info, QStringLiteral("note"));
            bar.showMessage(kind, QStringLiteral("stays"));
            QVERIFY(!life->isActive());
        }
        bar.showProgress(QStringLiteral("goes on"), QStringLiteral("Cancel"), [] {});
        QVERIFY(!life->isActive());
        bar.showMessage(MessageBar::Kind::Info, QStringLiteral("note"), QStringLiteral("Undo"));
        QVERIFY(life->isActive());
        QVERIFY(life->interval() > 5000);
        bar.findChild<QPushButton *>()->setFocus();
        QVERIFY(!life->isActive()); // somebody is about to press it
        other->setFocus();
        QVERIFY(life->isActive());
        life->start(0);
        QTRY_VERIFY(bar.isHidden());
        QVERIFY(!life->isActive());
    }

    void theMouseKeepsANoteInPlace()
    {
        QWidget window;
        MessageBar bar(&window);
        window.resize(600, 300);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        bar.showMessage(MessageBar::Kind::Info, QStringLiteral("note"));
        QTest::mouseMove(&window, bar.geometry().center());
        QTRY_VERIFY(!bar.findChild<QTimer *>()->isActive());
        QTest::mouseMove(&window, QPoint(5, 5));
        QTRY_VERIFY(bar.findChild<QTimer *>()->isActive());
    }

    void messagesLieOverTheLowerEndAndAreWholeInAnyWidth()
    {
        QWidget window;
        QWidget floor(&window);
        MessageBar bar(&window);
        bar.setFloor(&floor);
        window.show();
        bar.showProblem(MessageBar::Kind::Error, QStringLiteral("Something went wrong with the file that was opened."),
                        QStringLiteral("expected a number at 12:3, found a letter ").repeated(8));
        int before = 0;
        for (const int width : {1200, 600, 400}) {
            window.resize(width, 500);
            floor.setGeometry(0, 480, width, 20);
            QTRY_COMPARE(bar.width(), width);
            QVERIFY(bar.geometry().bottom() < floor.y() && bar.geometry().bottom() > floor.y() - 12);
            for (const char *name : {"messageText", "messageDetail"}) {
                const auto *label = bar.findChild<QLabel *>(QLatin1String(name));
                QTRY_VERIFY(label->height() >= label->heightForWidth(label->width()));
            }
            QVERIFY(bar.height() > before);
            before = bar.height();
        }
        QVERIFY(bar.accessibleName().startsWith(QStringLiteral("Error: Something went wrong")));
        QVERIFY(bar.accessibleName().contains(QStringLiteral("at 12:3")));
    }

    void messageActionMayShowTheNextMessage()
    {
        MessageBar bar;
        bar.showMessage(MessageBar::Kind::Info, QStringLiteral("first"), QStringLiteral("Next"),
                        [&bar] { bar.showMessage(MessageBar::Kind::Warning, QStringLiteral("second")); });
        bar.findChild<QPushButton *>()->click();
        QCOMPARE(bar.text(), QStringLiteral("second"));
    }

private:
    std::unique_ptr<RunStore> m_store;
    std::unique_ptr<RunsView> m_view; // destroyed before the store
};

QTEST_MAIN(TestRunsView)
#include "tst_runs_view.moc"
