// SPDX-License-Identifier: GPL-3.0-or-later
// Series of many points drawn at no more than a few points a pixel column, so that a redraw costs what the screen is
// wide and not what was received (public report: QCustomPlot forum 1714). The full data stay where they are.
#pragma once

#include <QPolygonF>
#include <QRectF>

#include <functional>
#include <vector>

namespace lectern {

// Smallest and largest value that fall into one pixel column.
struct Column
{
    double x = 0; // pixel
    double first = 0, last = 0, lowest = 0, highest = 0;
};

// Columns of values[from..to) where value i lies at pixel toPixel(i), ascending. Values that are not finite are left
// out.
std::vector<Column> pixelColumns(const std::vector<double> &values, std::size_t from, std::size_t to,
                                 const std::function<double(std::size_t)> &toPixel);

// Parts of an open polyline inside `rect`. SVG files have no clipping, so what is outside must not be drawn at all.
std::vector<QPolygonF> clipped(const QPolygonF &line, const QRectF &rect);

} // namespace lectern
