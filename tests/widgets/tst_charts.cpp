// SPDX-License-Identifier: GPL-3.0-or-later
// The three charts as a user drives them, with run records made up for the purpose.
#include "app/core/format.h"
#include "tests/support/sample_record.h"
#include "widgets/chart_series.h"
#include "widgets/kv_chart.h"
#include "widgets/latency_chart.h"
#include "widgets/timeline_chart.h"

#include <QSignalSpy>
#include <QTest>

#include <cmath>
#include <malloc.h>
#include <set>

using namespace lectern;

namespace {

ShownRun shown(int id, std::shared_ptr<RunRecord> record, bool isCurrent = true)
{
    return {id, QStringLiteral("run %1").arg(id), std::move(record), id - 1, isCurrent};
}

std::shared_ptr<RunRecord> sample(const SampleRun &run = {})
{
    return std::make_shared<RunRecord>(sampleRecord(run));
}

QCustomPlot *plotOf(RunChart &chart)
{
    return chart.findChild<QCustomPlot *>(QStringLiteral("plot"));
}

// All that is queued has been drawn.
void settle()
{
    for (int i = 0; i < 4; ++i)
        QCoreApplication::processEvents();
}

void showSettled(RunChart &chart, const QSize &size = {700, 200})
{
    chart.resize(size);
    chart.show();
    settle();
}

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

    void manyUpdatesInOneTurnGiveOneReplot_data() { charts(); }
    void manyUpdatesInOneTurnGiveOneReplot()
    {
        const auto chart = make();
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

    void hiddenChartsWaitAndCatchUp_data() { charts(); }
    void hiddenChartsWaitAndCatchUp()
    {
        const auto chart = make();
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

    void liveAxesGrowInStepsAndNothingShifts_data() { charts(); }
    void liveAxesGrowInStepsAndNothingShifts()
    {
        const auto chart = make();
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

    void tokenChosenElsewhereIsMarked_data() { charts(); }
    void tokenChosenElsewhereIsMarked()
    {
        const auto chart = make();
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
        const auto record = sample();
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

    void narrowTitleLinesDropPartsInsteadOfCuttingThem_data() { charts(); }
    void narrowTitleLinesDropPartsInsteadOfCuttingThem()
    {
        const auto chart = make();
        chart->setRuns({shown(1, sample())});
        for (const int width : {900, 500, 360}) {
            showSettled(*chart, {width, 150});
            const auto *label = chart->findChild<QLabel *>(QStringLiteral("headline"));
            QVERIFY2(label->sizeHint().width() <= label->width() + 1, qPrintable(label->text()));
            QCOMPARE(chart->width(), width);
        }
    }

    void emptyChartsSayWhatWillAppear_data() { charts(); }
    void emptyChartsSayWhatWillAppear()
    {
        const auto chart = make();
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
        QVERIFY(std::isfinite(plotOf(chart)->yAxis->range().upper));
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

    void longRunsRedrawAtTheCostOfTheScreen_data() { charts(); }
    void longRunsRedrawAtTheCostOfTheScreen()
    {
        const auto best = [this](int tokens) {
            const auto chart = make();
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

    void textAndSeriesKeepTheirContrastInBothThemes()
    {
        for (const Theme &theme : {Theme::light(), Theme::dark()}) {
            for (const QColor &background : {theme.card, theme.window}) {
                QVERIFY(contrast(theme.text, background) >= 7);
                QVERIFY(contrast(theme.mutedText, background) >= 4.5);
            }
            const QPalette palette = theme.palette();
            QVERIFY(contrast(palette.color(QPalette::HighlightedText), palette.color(QPalette::Highlight)) >= 4.5);
            QVERIFY(contrast(palette.color(QPalette::ButtonText), palette.color(QPalette::Button)) >= 4.5);
            for (const QColor &color : {theme.error, theme.warning})
                QVERIFY(contrast(color, theme.card) >= 4.5);
            for (const QColor &color :
                 {theme.tokenizeColor, theme.prefillColor, theme.decodeColor, theme.kvColor, theme.accent})
                QVERIFY2(contrast(color, theme.card) >= 3, qPrintable(color.name()));
            for (const RunStyle &style : theme.runStyles)
                QVERIFY2(contrast(style.color, theme.card) >= 3, qPrintable(style.color.name()));
            for (const QColor &fill : theme.tokenFill)
                QVERIFY2(contrast(theme.text, fill) >= 4.5, qPrintable(fill.name()));
            for (const QColor &shade : {theme.latencyShade, theme.probabilityShade})
                QVERIFY2(contrast(theme.text, shade) >= 4.5, qPrintable(shade.name()));
        }
        QVERIFY(std::abs(contrast(Qt::black, Qt::white) - 21) < 1e-6);
        QVERIFY(contrast(readable(QColor(0xe69f00), Qt::white), Qt::white) >= 4.5);
    }

    void runsDifferByMarkerAndDashesAsWellAsColour()
    {
        for (const Theme &theme : {Theme::light(), Theme::dark()}) {
            std::set<int> markers;
            for (int i = 0; i < kRunStyles; ++i) {
                markers.insert(static_cast<int>(theme.runStyles[i].marker));
                for (int j = 0; j < i; ++j) {
                    QVERIFY(theme.runStyles[i].dashes != theme.runStyles[j].dashes);
                    QVERIFY(theme.runStyles[i].color != theme.runStyles[j].color);
                }
            }
            QCOMPARE(static_cast<int>(markers.size()), kRunStyles);
        }
    }

    void axesFollowTheReadersLocaleAndStepIn125()
    {
        QCOMPARE(stepUp(1), 1.0);
        QCOMPARE(stepUp(1.01), 2.0);
        QCOMPARE(stepUp(2350), 5000.0);
        QCOMPARE(stepUp(0.06), 0.1);
        QCOMPARE(liveEnd(30, 100, 10), 100.0); // never back
        QCOMPARE(timeUnit(2350).name, QStringLiteral("ms"));
        QCOMPARE(timeUnit(23500).name, QStringLiteral("s"));
        QCOMPARE(byteUnit(1.3e6).name, QStringLiteral("MB"));
        UnitTicker ticker;
        ticker.setUnit(byteUnit(1.5e6));
        ticker.setTickCount(3);
        QVector<double> ticks;
        QVector<QString> labels;
        QLocale::setDefault(QLocale(QLocale::German, QLocale::Germany));
        ticker.generate(QCPRange(0, 1.5e6), QLocale::c(), u'g', 6, ticks, nullptr, &labels);
        QLocale::setDefault(QLocale::c());
        QVERIFY(labels.contains(QStringLiteral("0,5")) && labels.contains(QStringLiteral("1,0")));
    }

    void columnsKeepEveryExtremeAndLinesStayInside()
    {
        std::vector<double> values;
        for (int i = 0; i < 10'000; ++i)
            values.push_back(std::sin(i * 0.7) * i);
        values[5000] = 1e6;
        values[5001] = std::nan("");
        const auto toPixel = [](std::size_t i) { return static_cast<double>(i) * 0.05; };
        const auto columns = pixelColumns(values, 0, values.size(), toPixel);
        QCOMPARE(columns.size(), std::size_t(500));
        for (std::size_t c = 0; c < columns.size(); ++c) {
            double lowest = INFINITY, highest = -INFINITY;
            for (std::size_t i = c * 20; i < (c + 1) * 20; ++i) {
                if (std::isfinite(values[i])) {
                    lowest = std::min(lowest, values[i]);
                    highest = std::max(highest, values[i]);
                }
            }
            QCOMPARE(columns[c].lowest, lowest);
            QCOMPARE(columns[c].highest, highest);
        }
        const QRectF rect(10, 10, 50, 40);
        const auto parts = clipped(QPolygonF{{0, 0}, {30, 30}, {30, 100}, {40, 20}, {100, 20}}, rect);
        QCOMPARE(parts.size(), std::size_t(2));
        for (const QPolygonF &part : parts)
            for (const QPointF &point : part)
                QVERIFY(rect.adjusted(-1e-9, -1e-9, 1e-9, 1e-9).contains(point));
        QCOMPARE(parts[0], (QPolygonF{{10, 10}, {30, 30}, {30, 50}}));
    }

private:
    void charts()
    {
        QTest::addColumn<QString>("kind");
        for (const char *kind : {"timeline", "kv", "latency"})
            QTest::newRow(kind) << QString::fromLatin1(kind);
    }

    std::unique_ptr<RunChart> make()
    {
        const QString kind = *static_cast<QString *>(QTest::qData("kind", qMetaTypeId<QString>()));
        if (kind == QStringLiteral("timeline"))
            return std::make_unique<TimelineChart>();
        if (kind == QStringLiteral("kv"))
            return std::make_unique<KvChart>();
        return std::make_unique<LatencyChart>();
    }
};

QTEST_MAIN(TestCharts)
#include "tst_charts.moc"
