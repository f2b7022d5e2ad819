// SPDX-License-Identifier: GPL-3.0-or-later
// What the charts draw themselves inside QCustomPlot, which gives axes, grid, layers and export: a layerable that calls
// back, run markers, legend entries and patterns. Everything is plain lines and areas, so SVG and PDF files show the
// same.
#pragma once

#include "widgets/theme.h"

#include <qcustomplot.h>

#include <functional>
#include <vector>

namespace lectern {

// A piece of a plot drawn by a function. Owned by the plot. The painter is not clipped and its coordinates are not
// moved by QCustomPlot's half-pixel fix, so that edges can be put on whole pixels.
class ChartCanvas : public QCPLayerable
{
    Q_OBJECT

public:
    ChartCanvas(QCustomPlot *plot, const QString &layer, std::function<void(QCPPainter *)> paint);

protected:
    void applyDefaultAntialiasingHint(QCPPainter *painter) const override;
    void draw(QCPPainter *painter) override;

private:
    std::function<void(QCPPainter *)> m_paint;
};

enum class Swatch
{
    Fill,
    Bars,
    Hatch,
    Dashes,
    Dots,
    Line,
    None
};

struct LegendEntry
{
    QString text;
    Swatch swatch = Swatch::Fill;
    QColor color;
    int style = -1;            // run style whose marker is drawn, -1: none
    bool isEmphasised = false; // bold
    QString shortText = {};    // where `text` does not fit
};

void drawMarker(QPainter *painter, const QPointF &center, double size, Marker marker, const QColor &color);
// Width of the swatch and the text together.
double legendWidth(const LegendEntry &entry, const QFont &font);
// Draws swatch and text (elided to `width`) from the left edge of `rect`; returns the width used.
double drawLegendEntry(QPainter *painter, const QRectF &rect, const LegendEntry &entry, const QFont &font,
                       const Theme &theme);

// Upright strokes every `pitch` pixels over `rect`: the second cue of merged decode steps and reused prefixes.
void drawStrokes(QPainter *painter, const QRectF &rect, double pitch, const QColor &color, double width);

QPen runPen(const Theme &theme, int style);
const RunStyle &runStyle(const Theme &theme, int style);

// Text that can stand on one line of any picture: line breaks and tabs become spaces; control characters, lone
// surrogates and the non-characters that XML 1.0 forbids become U+FFFD.
QString singleLine(const QString &text);

} // namespace lectern
