// SPDX-License-Identifier: GPL-3.0-or-later
// A chart of runs: title line with the pane's one important number, plot, and the same data for screen readers.
// Subclasses: TimelineChart, KvChart, LatencyChart. Updates append and ask for one queued replot; hidden charts wait until
// they are shown. Traps of QCustomPlot 2.1 (fast polylines, pixel ratio, export) are handled here once.
#pragma once

#include "app/core/run_store.h"
#include "app/core/token_selection.h"
#include "widgets/theme.h"

#include <QFrame>
#include <QLabel>
#include <QVector>

#include <memory>

class QCustomPlot;
class QCPPainter;

namespace lectern
{

struct ShownRun
{
    int id = 0;
    QString title;
    std::shared_ptr<const RunRecord> record;
    int style = 0;
    bool isCurrent = false;
};

class RunChart : public QFrame
{
    Q_OBJECT

public:
    RunChart(const QString &title, const QString &emptyText, QWidget *parent = nullptr);
    ~RunChart() override;

    QString title() const;
    void setTheme(const Theme &theme);
    void setSelection(TokenSelection *selection); // hover here ↔ highlight everywhere
    void setRuns(const QVector<ShownRun> &runs);  // which runs are shown; current one first in drawing order last
    void updateRun(int runId);                    // its record grew
    bool isEmpty() const;                         // no run with data

    // Draws title, key numbers, legend and plot in `theme` into `size` logical pixels: what exports write. Independent of the
    // screen's scale.
    void paintTo(QCPPainter *painter, const QSize &size, const Theme &theme);
    QString dataSummary() const; // the chart in one or two sentences

protected:
    // Everything below works on plot() with theme() applied.
    virtual void rebuild() = 0;              // runs() changed or the theme did
    virtual void append(int runId) = 0;      // that run grew
    virtual void highlight(TokenRef token) = 0;
    virtual TokenRef tokenAt(const QPointF &position) const = 0;
    virtual QString headline() const = 0;    // rich text for the title line, from the current run

    QCustomPlot *plot() const { return m_plot; }
    const Theme &theme() const { return m_theme; }
    const QVector<ShownRun> &runs() const { return m_runs; }
    const ShownRun *currentRun() const;
    void replotLater();

    bool eventFilter(QObject *watched, QEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void refresh();
    QCustomPlot *m_plot = nullptr;
    QLabel *m_titleLabel = nullptr;
    QLabel *m_headlineLabel = nullptr;
    QLabel *m_emptyLabel = nullptr;
    TokenSelection *m_selection = nullptr;
    Theme m_theme;
    QVector<ShownRun> m_runs;
    bool m_isStale = false; // changed while hidden
};

} // namespace lectern
