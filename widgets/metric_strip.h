// SPDX-License-Identifier: GPL-3.0-or-later
// Headline metrics of a run: name above, value below in tabular figures, definition in the tooltip and for screen
// readers.
#pragma once

#include "engine/trace/metrics.h"

#include <QWidget>

namespace lectern {

class MetricStrip : public QWidget
{
    Q_OBJECT

public:
    explicit MetricStrip(QWidget *parent = nullptr);
    void setMetrics(const Metrics &metrics); // cells keep their widths while numbers change
    void clear();                            // every value "—"

    QSize minimumSizeHint() const override;

protected:
    // Wide strips show large values; narrow ones smaller values, then fewer cells, the last ones first.
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void fit();
    struct Private;
    Private *d; // child object
};

} // namespace lectern
