// SPDX-License-Identifier: GPL-3.0-or-later
// The three charts as a user reads and drives them.
#include "app/core/format.h"
#include "tests/widgets/chart_fixture.h"

#include <QSignalSpy>
#include <QTest>

#include <cmath>

using namespace lectern;
using namespace lectern::test;

namespace {

void hover(RunChart &chart, const QPointF &at)
{
    QMouseEvent move(QEvent::MouseMove, at, plotOf(chart)->mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    QCoreApplication::sendEvent(plotOf(chart), &move);
}

int differences(const QImage &a, const QImage &b)
{
    int count = 0;
    for (int y = 0; y < a.height(); ++y)
        for (int x = 0; x < a.width(); ++x)
            count += a.pixel(x, y) != b.pixel(x, y);
    return count;
}

int pixelsOf(const QImage &image, const QColor &color)
{
    int count = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            count += image.pixelColor(x, y) == color;
    return count;
}

} // namespace

class TestCharts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("QCP|QPainter|invalid"))); }

    void pointerOverAStepSharesItsToken()
    {
        TokenSelection selection;
        const auto record = sample();
        LatencyChart latency;
        TimelineChart timeline;
        KvChart kv;
        for (RunChart *chart :
             {static_cast<RunChart *>(&latency), static_cast<RunChart *>(&timeline), static_cast<RunChart *>(&kv)}) {
            chart->setSelection(&selection);
            chart->setRuns({shown(7, record)});
            showSettled(*chart);
        }
        const auto middle = [](RunChart &chart) { return plotOf(chart)->axisRect()->rect().center().y(); };
        const auto xOf = [](RunChart &chart, double value) { return plotOf(chart)->xAxis->coordToPixel(value); };
        for (const int token : {0, 1, 20, 45}) {
            hover(latency, {xOf(latency, token + 1), static_cast<double>(middle(latency))});
            QCOMPARE(selection.hovered(), (TokenRef{7, TokenPart::Output, token}));
            selection.clear();
            const TokenRecord &step = record->outputTokens[static_cast<std::size_t>(token)];
            const double center = static_cast<double>(step.timeNs - step.stepNs / 2) / 1e6;
            hover(timeline, {xOf(timeline, center), plotOf(timeline)->axisRect()->rect().top() + 10.0});
            QCOMPARE(selection.hovered(), (TokenRef{7, TokenPart::Output, token}));
            selection.clear();
            hover(kv, {xOf(kv, step.kvTokens), static_cast<double>(middle(kv))});
            QCOMPARE(selection.hovered(), (TokenRef{7, TokenPart::Output, token}));
        }
        hover(kv, {xOf(kv, 3.4), static_cast<double>(middle(kv))});
        QCOMPARE(selection.hovered(), (TokenRef{7, TokenPart::Prompt, 3}));
        hover(kv, {xOf(kv, 57.6), static_cast<double>(middle(kv))}); // past the end
        QVERIFY(!selection.hovered().isValid());
        hover(timeline, {xOf(timeline, 10), plotOf(timeline)->axisRect()->rect().top() +
                                                10.0}); // in prefill: the wait for the first token
        QCOMPARE(selection.hovered(), (TokenRef{7, TokenPart::Output, 0}));
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(plotOf(timeline), &leave);
        QVERIFY(!selection.hovered().isValid());
    }

    void tokenChosenElsewhereIsMarked_data() { chartKinds(); }
    void tokenChosenElsewhereIsMarked()
    {
        const auto chart = makeChart();
        TokenSelection selection;
        chart->setSelection(&selection);
        chart->setRuns({shown(1, sample())});
        showSettled(*chart);
        const QImage before = chart->grab().toImage();
        QSignalSpy replots(plotOf(*chart), &QCustomPlot::afterReplot);
        selection.setHovered({1, TokenPart::Output, 20});
        settle();
        const QImage marked = chart->grab().toImage();
        QVERIFY(differences(before, marked) > 50);
        QCOMPARE(replots.count(), 0);                     // only the overlay was painted
        selection.setHovered({2, TokenPart::Output, 20}); // a run that is not shown
        settle();
        QCOMPARE(differences(before, chart->grab().toImage()), 0);
    }

    void keysWalkTheTokensAndZoom()
    {
        LatencyChart chart;
        TokenSelection selection;
        chart.setSelection(&selection);
        chart.setRuns({shown(1, sample())});
        showSettled(chart);
        QCustomPlot *plot = plotOf(chart);
        QTest::keyClick(plot, Qt::Key_End);
        QCOMPARE(selection.hovered(), (TokenRef{1, TokenPart::Output, 45}));
        QTest::keyClick(plot, Qt::Key_Left);
        QCOMPARE(selection.hovered().index, 44);
        QTest::keyClick(plot, Qt::Key_Home);
        QTest::keyClick(plot, Qt::Key_Right);
        QCOMPARE(selection.hovered().index, 1);
        const QCPRange all = plot->xAxis->range();
        QTest::keyClick(plot, Qt::Key_Plus);
        settle();
        QCOMPARE(plot->xAxis->range().size(), all.size() / 2);
        QTest::keyClick(plot, Qt::Key_Minus);
        QTest::keyClick(plot, Qt::Key_Minus);
        settle();
        QCOMPARE(plot->xAxis->range(), all); // never wider than the data
        QTest::keyClick(plot, Qt::Key_Plus);
        QTest::keyClick(plot, Qt::Key_0);
        settle();
        QCOMPARE(plot->xAxis->range(), all);
    }

    void theZoomLastsWhileTheSameRunsAreShown()
    {
        LatencyChart chart;
        const auto record = sample();
        chart.setRuns({shown(1, record)});
        showSettled(chart);
        const QCPRange all = plotOf(chart)->xAxis->range();
        QTest::keyClick(plotOf(chart), Qt::Key_Plus);
        settle();
        ShownRun renamed = shown(1, record);
        renamed.title = QStringLiteral("Another name");
        chart.setRuns({renamed});
        settle();
        QCOMPARE(plotOf(chart)->xAxis->range().size(), all.size() / 2);
        chart.setRuns({shown(2, record)});
        settle();
        QCOMPARE(plotOf(chart)->xAxis->range(), all);
    }

    void aChartIsDrawnAnewWhenTheScreensScaleChanges()
    {
        LatencyChart chart;
        chart.setRuns({shown(1, sample())});
        showSettled(chart);
        QSignalSpy replots(plotOf(chart), &QCustomPlot::afterReplot);
        chart.hide();
        chart.show();
        settle();
        QCOMPARE(replots.count(), 0);
        chart.hide();
        plotOf(chart)->setBufferDevicePixelRatio(2); // what another screen leaves
        chart.show();
        settle();
        QCOMPARE(plotOf(chart)->bufferDevicePixelRatio(), chart.devicePixelRatioF());
        QCOMPARE(replots.count(), 1);
    }

    void wheelZoomsAtThePointerAndDoubleClickShowsAll()
    {
        LatencyChart chart;
        SampleRun run;
        run.outputTokens = 20000;
        chart.setRuns({shown(1, sample(run))});
        showSettled(chart);
        QCustomPlot *plot = plotOf(chart);
        const QCPRange all = plot->xAxis->range();
        const QPointF at = QRectF(plot->axisRect()->rect()).center();
        for (int i = 0; i < 80; ++i) {
            QWheelEvent wheel(at, plot->mapToGlobal(at), {}, {0, 120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                              false);
            QCoreApplication::sendEvent(plot, &wheel);
        }
        settle();
        QVERIFY(plot->xAxis->range().size() < 100);
        // Every token has its own bar now.
        QVERIFY(plot->xAxis->coordToPixel(2) - plot->xAxis->coordToPixel(1) > 2.5);
        QTest::mouseDClick(plot, Qt::LeftButton, {}, at.toPoint());
        settle();
        QCOMPARE(plot->xAxis->range(), all);
    }

    void titleLinesGiveTheMetricsOfTheCurrentRun()
    {
        SampleRun run;
        run.stepMsPerToken = 0.02;
        const auto record = sample(run);
        const Metrics metrics = metricsOf(*record);
        const auto headline = [&](RunChart &chart) {
            chart.setRuns({shown(1, record)});
            showSettled(chart, {900, 200});
            QString text = chart.findChild<QLabel *>(QStringLiteral("headline"))->text();
            text.replace(QStringLiteral("&nbsp;"), QStringLiteral(" "))
                .remove(QRegularExpression(QStringLiteral("<[^>]*>")));
            return text;
        };
        TimelineChart timeline;
        QCOMPARE(headline(timeline), QStringLiteral("TTFT %1 · TPOT %2 · total %3")
                                         .arg(formatDuration(metrics.ttftNs), formatDuration(metrics.tpotNs),
                                              formatDuration(metrics.endToEndNs)));
        KvChart kv;
        QCOMPARE(headline(kv), QStringLiteral("56 tokens · %1 used · %2 allocated · formula %3 per token")
                                   .arg(formatBytes(56 * 23040), formatBytes(64 * 23040), formatBytes(23040)));
        LatencyChart latency;
        QCOMPARE(headline(latency), QStringLiteral("first token %1 · then %2 each · slope +%3 per token of context")
                                        .arg(formatDuration(metrics.ttftNs), formatDuration(metrics.tpotNs),
                                             formatDuration(std::abs(*metrics.stepSlopeNsPerToken))));
    }

    void noiseIsNotCalledASlope()
    {
        const auto record = sample();
        for (std::size_t i = 1; i < record->outputTokens.size(); ++i)
            record->outputTokens[i].stepNs += i % 2 == 0 ? 300'000 : -300'000;
        QVERIFY(metricsOf(*record).stepSlopeNsPerToken && !hasClearSlope(metricsOf(*record)));
        LatencyChart chart;
        chart.setRuns({shown(1, record)});
        showSettled(chart, {900, 200});
        const QString headline = chart.findChild<QLabel *>(QStringLiteral("headline"))->text();
        QVERIFY2(headline.contains(QStringLiteral("no&nbsp;clear&nbsp;slope")), qPrintable(headline));
        QVERIFY2(chart.dataSummary().contains(QStringLiteral("no clear slope")), qPrintable(chart.dataSummary()));
    }

    void besideOthersTheCurrentRunHasTheColourOfItsStyle()
    {
        const Theme theme = Theme::light();
        SampleRun slow;
        slow.stepMs = 3;
        LatencyChart latency;
        KvChart kv;
        for (RunChart *chart : std::vector<RunChart *>{&latency, &kv}) {
            chart->setRuns({shown(1, sample(slow), false), shown(2, sample())});
            showSettled(*chart);
            const QImage image = chart->grab().toImage();
            QVERIFY(pixelsOf(image, theme.runStyles[1].color) > 3000);
            QVERIFY(pixelsOf(image, theme.prefillColor) + pixelsOf(image, theme.kvColor) < 20);
            QVERIFY(pixelsOf(image, theme.runStyles[0].color) < 1500); // a line
            chart->setRuns({shown(2, sample())});
            settle();
            QCOMPARE(pixelsOf(chart->grab().toImage(), theme.runStyles[1].color),
                     0); // alone it has those of the phases
        }
    }

    void lowPlotsKeepTheirLastLabels()
    {
        const auto lastLabel = [](QCPAxis *axis) {
            return qSharedPointerCast<UnitTicker>(axis->ticker())->lastLabel();
        };
        SampleRun run;
        run.outputTokens = 1000;
        run.stepMs = 10.7;
        run.stepMsPerToken = 0;
        TimelineChart timeline;
        LatencyChart latency;
        KvChart kv;
        Theme projector = Theme::light();
        projector.isProjector = true;
        for (const int height : {100, 400}) {
            for (RunChart *chart : std::vector<RunChart *>{&timeline, &latency, &kv}) {
                chart->setRuns({shown(1, sample(run))});
                chart->setTheme(projector);
                showSettled(*chart, {900, height});
            }
            QCOMPARE(lastLabel(plotOf(timeline)->xAxis), QStringLiteral("10"));
            QCOMPARE(lastLabel(plotOf(latency)->xAxis), QLocale().toString(1000));
            for (RunChart *chart : std::vector<RunChart *>{&latency, &kv}) {
                QCPAxis *axis = plotOf(*chart)->yAxis;
                QVERIFY(qSharedPointerCast<UnitTicker>(axis->ticker())->lastTick() >= axis->range().upper * 0.6);
            }
        }
    }

    void narrowTitleLinesDropPartsInsteadOfCuttingThem_data() { chartKinds(); }
    void narrowTitleLinesDropPartsInsteadOfCuttingThem()
    {
        const auto chart = makeChart();
        chart->setRuns({shown(1, sample())});
        for (const int width : {900, 500, 360}) {
            showSettled(*chart, {width, 150});
            const auto *label = chart->findChild<QLabel *>(QStringLiteral("headline"));
            QVERIFY2(label->sizeHint().width() <= label->width() + 1, qPrintable(label->text()));
            QCOMPARE(chart->width(), width);
        }
    }

    void emptyChartsSayWhatWillAppear_data() { chartKinds(); }
    void emptyChartsSayWhatWillAppear()
    {
        const auto chart = makeChart();
        showSettled(*chart);
        QVERIFY(chart->isEmpty());
        QVERIFY(chart->dataSummary().contains(QStringLiteral("appears here")));
        QVERIFY(chart->dataSummary().contains(QStringLiteral("Run")));
        QCOMPARE(chart->accessibleDescription(), chart->dataSummary());
        QVERIFY(!plotOf(*chart)->isVisible());
        chart->setRuns({shown(1, sample())});
        settle();
        QVERIFY(plotOf(*chart)->isVisible());
        QVERIFY(chart->accessibleDescription().startsWith(QStringLiteral("run 1: ")));
        QCOMPARE(plotOf(*chart)->accessibleName(), chart->title());
        chart->setRuns({});
        settle();
        QVERIFY(!plotOf(*chart)->isVisible());
    }

    void prefillShowsItsProgress()
    {
        SampleRun run;
        run.promptTokens = 8000;
        run.outputTokens = 0;
        run.isFinished = false;
        const auto record = sample(run);
        record->prefillChunks.resize(4); // 2,048 of 8,000 tokens
        TimelineChart chart;
        chart.setRuns({shown(1, record)});
        showSettled(chart);
        const QString headline = chart.findChild<QLabel *>(QStringLiteral("headline"))->text();
        QVERIFY2(headline.contains(formatCount(2048)) && headline.contains(formatCount(8000)), qPrintable(headline));
        QVERIFY2(headline.contains(QStringLiteral("26")), qPrintable(headline));
    }

    void runsWithoutCacheShowAFlatLineAndSayIt()
    {
        SampleRun run;
        run.cache = CacheMode::None;
        const auto record = sample(run);
        KvChart chart;
        chart.setRuns({shown(1, record)});
        showSettled(chart);
        QVERIFY(chart.dataSummary().contains(QStringLiteral("KV cache off, 0 bytes held")));
        QVERIFY(chart.findChild<QLabel *>(QStringLiteral("headline"))->text().contains(QStringLiteral("off")));
        QCOMPARE(pixelsOf(chart.grab().toImage(), Theme::light().kvColor), 0);
        // The line of what a cache would hold fits, also while the run goes on.
        for (const bool isFinished : {true, false}) {
            run.isFinished = isFinished;
            chart.setRuns({shown(1, sample(run))});
            settle();
            const double held = 23040.0 * 57;
            QVERIFY(plotOf(chart)->yAxis->range().upper > held && plotOf(chart)->yAxis->range().upper < 3 * held);
        }
    }

    void latencyAxisCoversOverlaidRunsAndCutsOnlyThePause()
    {
        LatencyChart chart;
        SampleRun slow;
        slow.cache = CacheMode::None;
        slow.stepMs = 40;
        chart.setRuns({shown(1, sample())});
        showSettled(chart);
        QVERIFY(plotOf(chart)->yAxis->range().upper < 5); // the pause of 24 ms is cut
        QVERIFY(pixelsOf(chart.grab().toImage(), Theme::light().prefillColor) > 100);
        chart.setRuns({shown(1, sample()), shown(2, sample(slow), false)});
        settle();
        QVERIFY(plotOf(chart)->yAxis->range().upper > 42);
    }

    void clockThatDoesNotMoveLeavesGapsAndFiniteAxes()
    {
        const auto record = sample();
        for (TokenRecord &token : record->outputTokens)
            token.stepNs = token.timeNs = 0;
        for (PrefillChunkRecord &chunk : record->prefillChunks)
            chunk.beginNs = chunk.endNs = 0;
        record->phases.clear();
        for (const auto &chart :
             {std::shared_ptr<RunChart>(new TimelineChart), std::shared_ptr<RunChart>(new LatencyChart),
              std::shared_ptr<RunChart>(new KvChart)}) {
            chart->setRuns({shown(1, record)});
            showSettled(*chart);
            for (const QCPAxis *axis : {plotOf(*chart)->xAxis, plotOf(*chart)->yAxis})
                QVERIFY(std::isfinite(axis->range().upper) && axis->range().size() > 0);
            QVERIFY(!chart->dataSummary().contains(QStringLiteral("nan"), Qt::CaseInsensitive));
        }
    }
};

QTEST_MAIN(TestCharts)
#include "tst_charts.moc"
