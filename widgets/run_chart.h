// SPDX-License-Identifier: GPL-3.0-or-later
// A chart of runs: title line with the pane's one important number, plot, and the same data for screen readers.
//
// Subclasses: TimelineChart, KvChart, LatencyChart. A changed run only asks for one queued replot; reading its new
// tokens, ranges and texts all happen right before that replot, and hidden charts wait until they are shown.
// QCustomPlot gives axes, grid, layers, zoom and export; the data are drawn by the subclass, straight from compact
// series, at no more points than there are pixels. Traps of QCustomPlot 2.1 (pixel ratio, repaint hint, margins) are
// handled here once.
//
// Mouse: hover shares the token, wheel and drag zoom and move along x, double click shows everything again.
// Keys: Left/Right/Home/End walk the output tokens, + and - zoom, 0 shows everything.
#pragma once

#include "app/core/run_store.h"
#include "app/core/token_selection.h"
#include "widgets/chart_axis.h"
#include "widgets/chart_paint.h"
#include "widgets/theme.h"

#include <QFrame>
#include <QLabel>
#include <QVector>

#include <memory>
#include <optional>

class QCustomPlot;
class QCPPainter;

namespace lectern {

class StillLabel;

struct ShownRun
{
    int id = 0;
    QString title;
    std::shared_ptr<const RunRecord> record;
    int style = 0;
    bool isCurrent = false;
    std::shared_ptr<LiveMetrics> metrics = nullptr; // of the record; a chart makes its own if there are none

    bool isLive() const { return record->state != RunState::Finished && record->state != RunState::Failed; }
};

// One part of the title line. Parts that do not fit are left out from the end.
struct HeadlinePart
{
    QString text;
    bool isStrong = false;
};

class RunChart : public QFrame
{
    Q_OBJECT

public:
    RunChart(const QString &title, const QString &emptyText, QWidget *parent = nullptr);
    ~RunChart() override;

    QString title() const { return m_title; }
    void setTheme(const Theme &theme);
    void setSelection(TokenSelection *selection); // hover here ↔ highlight everywhere
    // Which runs are shown, in any order; when none is marked as current, the last one is. Keeps the zoom while their
    // ids stay the same.
    void setRuns(const QVector<ShownRun> &runs);
    void updateRun(int runId); // its record grew
    bool isEmpty() const;      // no run with data

    // Draws title, key numbers, legend and plot in `theme` into `size` logical pixels: what exports write. Independent
    // of the screen's scale.
    void paintTo(QCPPainter *painter, const QSize &size, const Theme &theme);
    QString dataSummary(); // the chart in one or two sentences

protected:
    // What a subclass gives. x is in the base unit of its axis (chart_axis.h).
    virtual void rebuild() = 0;                      // runs() changed: drop all series
    virtual void append(const ShownRun &run) = 0;    // take what is new in its record, at O(new)
    virtual void updateAxes(const QSizeF &area) = 0; // setXAxis, setYAxis for a plot of this size
    virtual void drawData(QCPPainter *painter, const QRectF &area) = 0;
    virtual void drawHighlight(QCPPainter *painter, const QRectF &area, const ShownRun &run, TokenRef token) = 0;
    virtual TokenRef tokenAt(const QPointF &position) const = 0;
    virtual QVector<HeadlinePart> headline() const = 0;  // from the current run, the one important number first
    virtual std::vector<LegendEntry> legend() const = 0; // the line above the plot
    virtual QString describe() const = 0;                // the data in words
    virtual double leftMargin(double width) const;       // of a plot `width` wide
    virtual double rightMargin(double width) const;

    QCustomPlot *plot() const { return m_plot; }
    const Theme &theme() const { return m_theme; }
    const QVector<ShownRun> &runs() const { return m_runs; }
    const ShownRun *currentRun() const;
    const ShownRun *findRun(int runId) const;
    static const Metrics &metricsFor(const ShownRun &run); // as of now

    // `shortName` stands beside the tick labels where there is no row for the name below them.
    void setXAxis(const QString &name, const QString &shortName, const AxisUnit &unit, double end, bool isCount,
                  double begin = 0);
    void setYAxis(const QString &name, const AxisUnit &unit, double end); // empty name: no y axis
    double x(double value) const { return m_plot->xAxis->coordToPixel(value); }
    double y(double value) const { return m_plot->yAxis->coordToPixel(value); }
    double valueAt(double pixelX) const { return m_plot->xAxis->pixelToCoord(pixelX); }

    QRectF area() const; // the plot inside its axes, pixels
    QFont smallFont() const;
    // Upright line at pixel `at` with `text` beside its top.
    void drawCursor(QCPPainter *painter, const QRectF &area, double at, const QString &text) const;
    // “ text” of the token and `detail`.
    QString readout(const ShownRun &run, TokenRef token, const QString &detail) const;
    // `phase` where one run is shown alone; beside others the current run has the colour of its style.
    QColor currentColor(const QColor &phase) const;
    std::vector<LegendEntry> runLegend(Swatch overlaySwatch) const; // markers and titles, when several runs are shown

    bool eventFilter(QObject *watched, QEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void setUpPlot();
    void replotLater();
    void catchUp();
    void prepare(const QSize &viewport);
    void applyThemeToPlot();
    void updateTexts();
    void followScreen();
    void showAll();
    void zoom(double factor);
    void keepZoom(const QCPRange &range);
    bool moveHighlight(int key);
    void drawStrip(QCPPainter *painter);
    void drawOverlay(QCPPainter *painter);
    void drawTitleLine(QCPPainter *painter, const QRectF &rect) const;
    QVector<HeadlinePart> fittingHeadline(double width) const;
    void drawXName(QCPPainter *painter) const;

    QString m_title;
    QCustomPlot *m_plot = nullptr;
    QLabel *m_titleLabel = nullptr;
    StillLabel *m_headline = nullptr;
    QLabel *m_emptyLabel = nullptr;
    QSharedPointer<UnitTicker> m_xTicker, m_yTicker;
    TokenSelection *m_selection = nullptr;
    TokenRef m_highlight;
    Theme m_theme;
    QVector<ShownRun> m_runs;
    QString m_xName, m_xShortName, m_yName;
    bool m_hasNameRow = true; // below the tick labels
    QCPRange m_xRange{0, 1};  // of all data
    std::optional<QCPRange> m_zoom;
    std::optional<QFont> m_exportFont; // while exporting
    bool m_isStale = false;            // changed since the last replot
    bool m_isSettingRange = false;
    bool m_hasKeyFocus = false;
};

} // namespace lectern
