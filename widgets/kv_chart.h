// SPDX-License-Identifier: GPL-3.0-or-later
// KV cache: bytes used (area, prefill and decode part), allocated (stairs of 16 tokens) and the formula (dotted), against tokens held.
#pragma once

#include "widgets/run_chart.h"

namespace lectern
{

class KvChart : public RunChart
{
    Q_OBJECT

public:
    explicit KvChart(QWidget *parent = nullptr);
    ~KvChart() override;

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
