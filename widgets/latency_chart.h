// SPDX-License-Identifier: GPL-3.0-or-later
// Latency per token: the prefill pause (bar cut by the axis, with its value), then every decode step, against the
// output token.
#pragma once

#include "widgets/run_chart.h"

namespace lectern {

class LatencyChart : public RunChart
{
    Q_OBJECT

public:
    explicit LatencyChart(QWidget *parent = nullptr);
    ~LatencyChart() override;

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

private:
    struct Series;
    struct Private;
    // Tokens of a series that are in view, [first, second).
    std::pair<std::size_t, std::size_t> visible(const Series &series) const;
    void drawBars(QCPPainter *painter, const QRectF &area, const Series &series) const;
    void drawEnvelope(QCPPainter *painter, const QRectF &area, const Series &series) const;
    void drawFirst(QCPPainter *painter, const QRectF &area, const Series &series) const;
    void drawCutSteps(QCPPainter *painter, const QRectF &area) const;
    void drawFit(QCPPainter *painter, const QRectF &area, const ShownRun &run) const;
    void drawLine(QCPPainter *painter, const QRectF &area, const ShownRun &run) const;
    std::unique_ptr<Private> d;
};

} // namespace lectern
