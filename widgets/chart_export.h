// SPDX-License-Identifier: GPL-3.0-or-later
// A chart as PNG, SVG or PDF file or on the clipboard, at a size that does not depend on the screen.
#pragma once

#include "engine/base/result.h"
#include "widgets/run_chart.h"

#include <QImage>
#include <QSize>

namespace lectern {

enum class ChartFormat
{
    Png,
    Svg,
    Pdf
};

struct ChartExportOptions
{
    ChartFormat format = ChartFormat::Png;
    QSize size{800, 450}; // logical pixels (PDF: 1/96 inch)
    double scale = 2;     // PNG only: file pixels = size · scale
};

QString suffixOf(ChartFormat format);
// Format by the file's suffix; PNG when there is none.
ChartFormat formatOfPath(const QString &path);

// Null image when memory does not suffice.
QImage renderChart(RunChart &chart, const ChartExportOptions &options, const Theme &theme);

// Exports are drawn with the light theme (for slides and paper) unless the caller gives another. Atomic.
Result<void> exportChart(RunChart &chart, const QString &path, const ChartExportOptions &options,
                         const Theme &theme = Theme::light());
Result<void> copyChart(RunChart &chart, const ChartExportOptions &options, const Theme &theme = Theme::light());

} // namespace lectern
