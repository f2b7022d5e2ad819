// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/chart_series.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace lectern {

namespace {

// Liang and Barsky's line clipping: the part of the segment inside the rectangle.
std::optional<QLineF> clippedSegment(const QPointF &a, const QPointF &b, const QRectF &rect)
{
    double enter = 0, leave = 1;
    const auto cut = [&](double direction, double distance) {
        if (direction == 0) {
            return distance >= 0;
        }
        const double t = distance / direction;
        if (direction < 0) {
            enter = std::max(enter, t);
        } else {
            leave = std::min(leave, t);
        }
        return enter <= leave;
    };
    const double dx = b.x() - a.x(), dy = b.y() - a.y();
    if (!cut(-dx, a.x() - rect.left()) || !cut(dx, rect.right() - a.x()) || !cut(-dy, a.y() - rect.top()) ||
        !cut(dy, rect.bottom() - a.y())) {
        return std::nullopt;
    }
    return QLineF(a.x() + enter * dx, a.y() + enter * dy, a.x() + leave * dx, a.y() + leave * dy);
}

} // namespace

std::vector<Column> pixelColumns(const std::vector<double> &values, std::size_t from, std::size_t to,
                                 const std::function<double(std::size_t)> &toPixel)
{
    std::vector<Column> columns;
    to = std::min(to, values.size());
    if (from >= to) {
        return columns;
    }
    // Pixels are linear in the index: two calls give the whole mapping.
    const double begin = toPixel(from);
    const double pitch = to - from > 1 ? (toPixel(to - 1) - begin) / static_cast<double>(to - 1 - from) : 1;
    double column = std::nan("");
    for (std::size_t i = from; i < to; ++i) {
        const double value = values[i];
        if (!std::isfinite(value)) {
            continue;
        }
        const double x = begin + pitch * static_cast<double>(i - from);
        if (columns.empty() || pitch >= 1 || std::floor(x) != column) {
            columns.push_back({x, value, value, value, value});
            column = std::floor(x);
            continue;
        }
        Column &open = columns.back();
        open.last = value;
        open.lowest = std::min(open.lowest, value);
        open.highest = std::max(open.highest, value);
    }
    return columns;
}

std::vector<QPolygonF> clipped(const QPolygonF &line, const QRectF &rect)
{
    std::vector<QPolygonF> parts;
    for (qsizetype i = 1; i < line.size(); ++i) {
        const auto segment = clippedSegment(line[i - 1], line[i], rect);
        if (!segment) {
            continue;
        }
        if (parts.empty() || parts.back().last() != segment->p1()) {
            parts.push_back(QPolygonF{segment->p1()});
        }
        parts.back().append(segment->p2());
    }
    return parts;
}

} // namespace lectern
