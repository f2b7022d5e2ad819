// SPDX-License-Identifier: GPL-3.0-or-later
// What charts are made of: theme colours, run styles, axes, downsampling, clipping.
#include "tests/widgets/chart_fixture.h"
#include "widgets/chart_axis.h"
#include "widgets/chart_series.h"
#include "widgets/theme.h"

#include <QPaintEngine>
#include <QTest>

#include <cmath>
#include <set>

using namespace lectern;

namespace {

// Every text of a drawing with the place it takes.
class TextPlaces : public QPaintDevice
{
public:
    struct Place
    {
        QString text;
        QRectF rect;
    };
    std::vector<Place> places;

    explicit TextPlaces(const QSize &size)
        : m_size(size)
        , m_engine(&places)
    {
    }
    QPaintEngine *paintEngine() const override { return &m_engine; }

protected:
    int metric(PaintDeviceMetric metric) const override
    {
        switch (metric) {
        case PdmWidth:
            return m_size.width();
        case PdmHeight:
            return m_size.height();
        case PdmDpiX:
        case PdmDpiY:
        case PdmPhysicalDpiX:
        case PdmPhysicalDpiY:
            return 96;
        case PdmDevicePixelRatioScaled:
            return static_cast<int>(devicePixelRatioFScale());
        default:
            return 1;
        }
    }

private:
    class Engine : public QPaintEngine
    {
    public:
        explicit Engine(std::vector<Place> *into)
            : QPaintEngine(AllFeatures)
            , m_into(into)
        {
        }
        bool begin(QPaintDevice *) override { return true; }
        bool end() override { return true; }
        void updateState(const QPaintEngineState &) override {}
        void drawPixmap(const QRectF &, const QPixmap &, const QRectF &) override {}
        void drawPolygon(const QPointF *, int, PolygonDrawMode) override {}
        void drawPath(const QPainterPath &) override {}
        Type type() const override { return User; }
        void drawTextItem(const QPointF &at, const QTextItem &item) override
        {
            const QRectF rect(at.x(), at.y() - item.ascent() * 0.8, item.width(), item.ascent() * 0.8);
            m_into->push_back({item.text(), painter()->combinedTransform().mapRect(rect)});
        }

    private:
        std::vector<Place> *m_into;
    };
    QSize m_size;
    mutable Engine m_engine;
};

} // namespace

class TestChartParts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void textsOfManyRunsDoNotOverlapAndAllRunsAreCounted_data() { test::chartKinds(); }
    void textsOfManyRunsDoNotOverlapAndAllRunsAreCounted()
    {
        QTest::failOnWarning(QRegularExpression(QStringLiteral("QCP|QPainter|invalid")));
        const auto chart = test::makeChart();
        for (const int count : {2, 5, 20, 60}) {
            QVector<ShownRun> runs;
            for (int i = 1; i <= count; ++i) {
                ShownRun run = test::shown(i, test::sample(), i == count);
                run.title = QStringLiteral("Question %1: what is the capital of this country?").arg(i);
                runs.append(run);
            }
            chart->setRuns(runs);
            for (const QSize &size : {QSize(560, 160), QSize(760, 220), QSize(1280, 720)}) {
                TextPlaces device(size);
                QCPPainter painter(&device);
                chart->paintTo(&painter, size, Theme::light());
                painter.end();
                int named = 0, counted = 0;
                for (std::size_t i = 0; i < device.places.size(); ++i) {
                    const auto &[text, rect] = device.places[i];
                    for (std::size_t j = 0; j < i; ++j)
                        QVERIFY2(!rect.intersects(device.places[j].rect),
                                 qPrintable(text + QStringLiteral(" / ") + device.places[j].text));
                    named += text.startsWith(QStringLiteral("Ques")) && rect.bottom() < size.height() - 30;
                    if (text.startsWith(QStringLiteral("+ ")))
                        counted = text.split(u' ').at(1).toInt();
                }
                QVERIFY(named >= 2);
                QCOMPARE(named + counted, count);
            }
        }
    }

    void rowsWithoutRoomTakeNoPointer()
    {
        TimelineChart chart;
        TokenSelection selection;
        chart.setSelection(&selection);
        QVector<ShownRun> runs;
        for (int i = 1; i <= 30; ++i)
            runs.append(test::shown(i, test::sample(), i == 1));
        chart.setRuns(runs);
        test::showSettled(chart, {700, 160});
        std::set<int> found;
        QCustomPlot *plot = test::plotOf(chart);
        for (int y = 0; y < plot->height(); ++y) {
            const QPointF at(plot->width() / 2, y);
            QMouseEvent move(QEvent::MouseMove, at, plot->mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
            QCoreApplication::sendEvent(plot, &move);
            if (selection.hovered().isValid())
                found.insert(selection.hovered().runId);
        }
        QVERIFY(found.size() >= 2 && found.size() < 10);
        selection.setHovered({30, TokenPart::Output, 1}); // has no row: nothing to mark
        test::settle();
    }

    // A sign at the origin would say that it held nothing.
    void aRunWithoutSamplesOfTheCacheHasNoSignInTheChartBesideOthers()
    {
        const std::shared_ptr<RunRecord> unknown = test::sample();
        unknown->kv.clear();
        KvChart chart;
        for (const int current : {1, 2}) {
            chart.setRuns({test::shown(1, unknown, current == 1), test::shown(2, test::sample(), current == 2)});
            test::showSettled(chart);
            const QImage left = chart.grab().toImage().copy(0, 0, chart.width() / 3, chart.height());
            int found = 0;
            for (int y = 0; y < left.height(); ++y)
                for (int x = 0; x < left.width(); ++x)
                    found += left.pixelColor(x, y) == Theme::light().runStyles[0].color;
            QCOMPARE(found, 0);
        }
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

    void anAxisWithRoomForOneTickHasARoundOneInItsUpperThird()
    {
        UnitTicker ticker;
        ticker.setTickCount(1);
        const auto labelsOf = [&](double end) {
            QVector<double> ticks;
            QVector<QString> labels;
            ticker.setUnit(byteUnit(end));
            ticker.generate(QCPRange(0, end), QLocale::c(), u'g', 6, ticks, nullptr, &labels);
            return labels.join(u'|');
        };
        QCOMPARE(labelsOf(1.37e6), QStringLiteral("0|1"));
        QCOMPARE(labelsOf(1.6e6), QStringLiteral("0|1.5"));
        QCOMPARE(labelsOf(23.9e6), QStringLiteral("0|20"));
        QCOMPARE(labelsOf(39e6), QStringLiteral("0|30"));
        QCOMPARE(labelsOf(970), QStringLiteral("0|800"));
        QCOMPARE(ticker.lastTick(), 800.0);
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
};

QTEST_MAIN(TestChartParts)
#include "tst_chart_parts.moc"
