// SPDX-License-Identifier: GPL-3.0-or-later
// Charts while a run grows: when they draw, how their axes move, what long runs cost in time and memory.
#include "tests/widgets/chart_fixture.h"

#include <QSignalSpy>

#include <cmath>
#include <malloc.h>
#include <set>

using namespace lectern;
using namespace lectern::test;

namespace {

struct LayoutCounter : QObject
{
    explicit LayoutCounter(QObject *watched)
        : QObject(watched)
    {
        watched->installEventFilter(this);
    }
    bool eventFilter(QObject *, QEvent *event) override
    {
        count += event->type() == QEvent::LayoutRequest ? 1 : 0;
        return false;
    }
    int count = 0;
};

} // namespace

class TestChartUpdates : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void manyUpdatesInOneTurnGiveOneReplot_data() { chartKinds(); }
    void manyUpdatesInOneTurnGiveOneReplot()
    {
        const auto chart = makeChart();
        SampleRun run;
        run.isFinished = false;
        const auto record = sample(run);
        chart->setRuns({shown(1, record)});
        showSettled(*chart);
        QSignalSpy replots(plotOf(*chart), &QCustomPlot::afterReplot);
        for (int i = 0; i < 500; ++i) {
            appendOutput(*record, run, 1);
            chart->updateRun(1);
        }
        QCOMPARE(replots.count(), 0);
        settle();
        QCOMPARE(replots.count(), 1);
    }

    void hiddenChartsWaitAndCatchUp_data() { chartKinds(); }
    void hiddenChartsWaitAndCatchUp()
    {
        const auto chart = makeChart();
        SampleRun run;
        run.isFinished = false;
        const auto record = sample(run);
        chart->setRuns({shown(1, record)});
        showSettled(*chart);
        const double before = plotOf(*chart)->xAxis->range().upper;
        chart->hide();
        settle();
        QSignalSpy replots(plotOf(*chart), &QCustomPlot::afterReplot);
        appendOutput(*record, run, 500);
        chart->updateRun(1);
        settle();
        QCOMPARE(replots.count(), 0);
        chart->show();
        settle();
        QVERIFY(replots.count() >= 1);
        QVERIFY(plotOf(*chart)->xAxis->range().upper > before);
    }

    // Each new layout of a pane is one of the whole window, with a repaint of its own.
    void newNumbersAskForNoNewLayout_data() { chartKinds(); }
    void newNumbersAskForNoNewLayout()
    {
        const auto chart = makeChart();
        SampleRun run;
        run.isFinished = false;
        const auto record = sample(run);
        chart->setRuns({shown(1, record)});
        showSettled(*chart);
        const QString before = chart->findChild<QLabel *>(QStringLiteral("headline"))->text();
        auto *layouts = new LayoutCounter(chart.get());
        appendOutput(*record, run, 700);
        chart->updateRun(1);
        settle();
        QVERIFY(chart->findChild<QLabel *>(QStringLiteral("headline"))->text() != before);
        QCOMPARE(layouts->count, 0);
    }

    void aChartThatGotNothingNewDrawsNothing_data() { chartKinds(); }
    void aChartThatGotNothingNewDrawsNothing()
    {
        const auto chart = makeChart();
        chart->setRuns({shown(1, sample())});
        showSettled(*chart);
        QSignalSpy replots(plotOf(*chart), &QCustomPlot::afterReplot);
        chart->updateRun(2); // another run grew
        settle();
        QCOMPARE(replots.count(), 0);
    }

    void liveAxesGrowInStepsAndNothingShifts_data() { chartKinds(); }
    void liveAxesGrowInStepsAndNothingShifts()
    {
        const auto chart = makeChart();
        SampleRun run;
        run.outputTokens = 2;
        run.isFinished = false;
        const auto record = sample(run);
        record->request.maxTokens = 100000;
        chart->setRuns({shown(1, record)});
        showSettled(*chart);
        const QRect rect = plotOf(*chart)->axisRect()->rect();
        double last = 0;
        std::set<double> ends;
        for (int i = 0; i < 60; ++i) {
            appendOutput(*record, run, 10);
            chart->updateRun(1);
            settle();
            const double end = std::floor(plotOf(*chart)->xAxis->range().upper); // tokens end half a token later
            QVERIFY2(end >= last, qPrintable(QStringLiteral("%1 after %2").arg(end).arg(last)));
            last = end;
            const double mantissa = end / std::pow(10, std::floor(std::log10(end)));
            QVERIFY2(mantissa == 1 || mantissa == 2 || mantissa == 5, qPrintable(QString::number(end)));
            ends.insert(end);
            QCOMPARE(plotOf(*chart)->axisRect()->rect(), rect);
        }
        QVERIFY(ends.size() >= 3 && ends.size() <= 8);
    }

    void longRunsRedrawAtTheCostOfTheScreen_data() { chartKinds(); }
    void longRunsRedrawAtTheCostOfTheScreen()
    {
        const auto best = [](int tokens) {
            const auto chart = makeChart();
            SampleRun run;
            run.outputTokens = tokens;
            chart->setRuns({shown(1, sample(run))});
            showSettled(*chart);
            qint64 nanoseconds = std::numeric_limits<qint64>::max();
            for (int i = 0; i < 7; ++i) {
                QElapsedTimer timer;
                timer.start();
                plotOf(*chart)->replot();
                nanoseconds = std::min(nanoseconds, timer.nsecsElapsed());
            }
            return nanoseconds;
        };
        const qint64 small = best(3'600), large = best(360'000);
        qInfo("replot of 3,600 tokens %.2f ms, of 360,000 tokens %.2f ms", small / 1e6, large / 1e6);
        QVERIFY(large < 25 * small); // a hundred times the data
    }

    void loadingAndClearingKeepsMemoryFlat()
    {
        SampleRun run;
        run.outputTokens = 100'000;
        const auto record = sample(run);
        LatencyChart latency;
        TimelineChart timeline;
        KvChart kv;
        std::vector<std::size_t> used;
        for (int round = 0; round < 20; ++round) {
            for (RunChart *chart : {static_cast<RunChart *>(&latency), static_cast<RunChart *>(&timeline),
                                    static_cast<RunChart *>(&kv)}) {
                chart->setRuns({shown(round + 1, record)}); // a new run each time
                showSettled(*chart);
                chart->setRuns({});
                settle();
            }
            used.push_back(mallinfo2().uordblks);
        }
        if (used.front() == 0)
            QSKIP("mallinfo2 reports nothing with this allocator");
        QVERIFY2(used.back() <= used[1] * 1.1, qPrintable(QStringLiteral("%1 after %2").arg(used.back()).arg(used[1])));
    }
};

QTEST_MAIN(TestChartUpdates)
#include "tst_chart_updates.moc"
