// SPDX-License-Identifier: GPL-3.0-or-later
// A chart as PNG, SVG or PDF, at a size that does not depend on the screen. One way for all formats: the chart is
// recorded on the GUI thread (about 1 ms, also with thousands of tokens), everything else can happen on any thread.
#pragma once

#include "engine/base/result.h"
#include "widgets/paint_recorder.h"
#include "widgets/run_chart.h"

#include <QByteArray>
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
// Format by the file's suffix; `otherwise` when it has none of ours.
ChartFormat formatOfPath(const QString &path, ChartFormat otherwise = ChartFormat::Png);

// What a chart looked like at one moment.
struct ChartDrawing
{
    ChartExportOptions options;
    QColor background;
    QString title, description; // plain text, for the file
    PaintRecording commands;
};

// GUI thread. Drawn with the light theme (for slides and paper) unless the caller gives another. Sizes that no picture
// can have are refused.
Result<ChartDrawing> recordChart(RunChart &chart, const ChartExportOptions &options,
                                 const Theme &theme = Theme::light());

// The following on any thread.
Result<QImage> renderDrawing(const ChartDrawing &drawing);
Result<QByteArray> pngBytes(const QImage &image);
Result<QByteArray> drawingBytes(const ChartDrawing &drawing);                // a file in the format of its options
Result<void> writeDrawing(const QString &path, const ChartDrawing &drawing); // atomic

} // namespace lectern
