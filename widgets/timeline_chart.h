// SPDX-License-Identifier: GPL-3.0-or-later
// Prefill / decode: one bar a run, to scale, with template, tokenize, prefill chunks and every decode step.
#pragma once

#include "widgets/run_chart.h"

namespace lectern
{

class TimelineChart : public RunChart
{
    Q_OBJECT

public:
    explicit TimelineChart(QWidget *parent = nullptr);
    ~TimelineChart() override;

protected:
    void rebuild() override;
    void append(int runId) override;
    void highlight(TokenRef token) override;
    TokenRef tokenAt(const QPointF &position) const override;
    QString headline() const override;

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace lectern
