// SPDX-License-Identifier: GPL-3.0-or-later
// Prefill / decode: one bar a run, to scale, with template, tokenize, prefill chunks and every decode step. One run is
// drawn large with its parts named; several runs are rows on one time axis, as many as have room for a line of text.
#pragma once

#include "widgets/run_chart.h"

namespace lectern {

class TimelineChart : public RunChart
{
    Q_OBJECT

public:
    explicit TimelineChart(QWidget *parent = nullptr);
    ~TimelineChart() override;

protected:
    void rebuild() override;
    void append(const ShownRun &run) override;
    void updateAxes(const QSizeF &area) override;
    void drawData(QCPPainter *painter, const QRectF &area) override;
    void drawHighlight(QCPPainter *painter, const QRectF &area, const ShownRun &run, TokenRef token) override;
    TokenRef tokenAt(const QPointF &position) const override;
    QVector<HeadlinePart> headline() const override;
    std::vector<LegendEntry> legend() const override;
    QString describe() const override;
    double leftMargin(double width) const override;
    double rightMargin(double width) const override;

private:
    struct Series;
    struct Private;
    QString prefillText(const ShownRun &run) const;
    QString totalText(const ShownRun &run, bool isLong) const;
    int shownRows(const QRectF &area) const; // runs that have one; the others are counted in a last line
    QRectF rowRect(const QRectF &area, int row) const;
    QRectF barRect(const QRectF &area, int runId) const; // null: there is no room for this run
    void drawBar(QCPPainter *painter, const QRectF &bar, const ShownRun &run) const;
    void drawSteps(QCPPainter *painter, const QRectF &bar, const Series &series) const;
    void drawNames(QCPPainter *painter, const QRectF &area, const QRectF &bar, const ShownRun &run) const;
    void drawBrackets(QCPPainter *painter, const QRectF &area, const QRectF &bar, const ShownRun &run) const;
    void drawRowTexts(QCPPainter *painter, const QRectF &area, const QRectF &bar, const ShownRun &run) const;
    std::unique_ptr<Private> d;
};

} // namespace lectern
