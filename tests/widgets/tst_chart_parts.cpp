// SPDX-License-Identifier: GPL-3.0-or-later
// What charts are made of: theme colours, run styles, axes, downsampling, clipping.
#include "widgets/chart_axis.h"
#include "widgets/chart_series.h"
#include "widgets/theme.h"

#include <QTest>

#include <cmath>
#include <set>

using namespace lectern;

class TestChartParts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
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

QTEST_GUILESS_MAIN(TestChartParts)
#include "tst_chart_parts.moc"
