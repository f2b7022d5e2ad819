// SPDX-License-Identifier: GPL-3.0-or-later
// Latency per token: the prefill pause (bar cut by the axis, with its value), then every decode step, against the output token.
#pragma once

#include "widgets/run_chart.h"

namespace lectern
{

class LatencyChart : public RunChart
{
    Q_OBJECT

public:
    explicit LatencyChart(QWidget *parent = nullptr);
    ~LatencyChart() override;

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
