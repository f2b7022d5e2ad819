// SPDX-License-Identifier: GPL-3.0-or-later
// KV cache: bytes used (area, prefill and decode part), allocated (stairs of 16 tokens) and the formula (dotted),
// against tokens held.
#pragma once

#include "widgets/run_chart.h"

namespace lectern {

class KvChart : public RunChart
{
    Q_OBJECT

public:
    explicit KvChart(QWidget *parent = nullptr);
    ~KvChart() override;

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
    static QString notRecorded(const ShownRun &run); // why there are no numbers of the cache
    double usedAt(const Series &series, double tokens) const;
    QPolygonF line(const Series &series, const std::vector<double> &values, double toTokens) const;
    void drawUsed(QCPPainter *painter, const QRectF &area, const ShownRun &run) const;
    void drawAllocated(QCPPainter *painter, const QRectF &area, const ShownRun &run) const;
    void drawFormula(QCPPainter *painter, const QRectF &area, const ShownRun &run) const;
    void drawOverlaidRun(QCPPainter *painter, const QRectF &area, const ShownRun &run) const;
    void drawNoCache(QCPPainter *painter, const QRectF &area, const ShownRun &run) const;
    std::unique_ptr<Private> d;
};

} // namespace lectern
