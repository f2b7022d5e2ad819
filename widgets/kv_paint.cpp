// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/format.h"
#include "widgets/chart_series.h"
#include "widgets/kv_series.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace lectern {

namespace {

constexpr double kMarkerGap = 90; // pixels between the markers on a line

double markerSize(const Theme &theme)
{
    return theme.isProjector ? 13 : 9;
}

} // namespace

// Visible samples as pixels, about two points a pixel column, up to `toTokens`.
QPolygonF KvChart::line(const Series &series, const std::vector<double> &values, double toTokens) const
{
    const QCPRange range = plot()->xAxis->range();
    const auto begin = series.tokens.begin();
    auto from = std::lower_bound(begin, series.tokens.end(), range.lower) - begin;
    from = std::max<std::ptrdiff_t>(0, from - 1);
    auto to = std::upper_bound(begin, series.tokens.end(), std::min(toTokens, range.upper)) - begin;
    to = std::min<std::ptrdiff_t>(to + (toTokens > range.upper ? 1 : 0),
                                  static_cast<std::ptrdiff_t>(series.tokens.size()));
    const double originX = x(0), scaleX = x(1) - originX, originY = y(0), scaleY = y(1) - originY;
    // Both series never fall, so single samples can be left out where many share a pixel; the last one is always drawn.
    const auto stride = std::max<std::ptrdiff_t>(1, (to - from) / (2 * std::max(1, plot()->axisRect()->width())));
    QPolygonF points;
    for (auto i = from; i < to; i = i + stride < to || i == to - 1 ? i + stride : to - 1) {
        const auto index = static_cast<std::size_t>(i);
        points.append({originX + scaleX * series.tokens[index], originY + scaleY * values[index]});
    }
    return points;
}

void KvChart::drawData(QCPPainter *painter, const QRectF &area)
{
    const ShownRun *current = currentRun();
    if (!current || d->series.find(current->id) == d->series.end()) {
        return;
    }
    if (!hasNoCache(*current)) {
        drawUsed(painter, area, *current);
        drawAllocated(painter, area, *current);
    }
    drawFormula(painter, area, *current);
    for (const ShownRun &run : runs()) {
        if (hasNoCache(run)) {
            drawNoCache(painter, area, run);
        } else if (!run.isCurrent && &run != current && !run.record->kv.empty()) {
            drawOverlaidRun(painter, area, run);
        }
    }
    if (runs().size() > 1 && !hasNoCache(*current) && !current->record->kv.empty()) {
        const Series &series = d->series.at(current->id);
        const RunStyle &style = runStyle(theme(), current->style);
        const QPointF end(x(series.lastTokens()), y(series.used.back()));
        if (area.adjusted(-1, -1, 1, 1).contains(end)) {
            drawMarker(painter, end, markerSize(theme()) + 2, style.marker, style.color);
        }
    }
}

void KvChart::drawUsed(QCPPainter *painter, const QRectF &area, const ShownRun &run) const
{
    const Series &series = d->series.at(run.id);
    const double prompt = static_cast<double>(run.record->promptTokens.size());
    const double reused = run.record->reusedTokens;
    const auto fillTo = [&](double from, double to, const QColor &color) {
        to = std::min(to, series.lastTokens());
        if (to <= from) {
            return;
        }
        QPolygonF shape;
        for (const QPointF &point : line(series, series.used, to)) {
            if (point.x() > x(from)) {
                shape.append(point);
            }
        }
        shape.prepend({x(from), y(usedAt(series, from))});
        shape.append({x(to), y(usedAt(series, to))});
        QPolygonF inside;
        for (const QPolygonF &part : clipped(shape, area)) {
            inside += part;
        }
        if (inside.size() < 2) {
            return;
        }
        inside.append({inside.last().x(), area.bottom()});
        inside.append({inside.first().x(), area.bottom()});
        painter->setPen(Qt::NoPen);
        painter->setBrush(color);
        painter->drawPolygon(inside);
    };
    // Beside other runs the parts differ by lightness.
    const QColor decode = currentColor(theme().kvColor);
    const QColor prefill = runs().size() > 1 ? mixed(theme().card, decode, 0.6) : theme().prefillColor;
    fillTo(0, reused, mixed(theme().card, prefill, 0.35));
    for (double at = std::ceil(std::max(x(0), area.left())); at < std::min(x(reused), area.right()); at += 4) {
        painter->setPen(QPen(prefill, 1));
        painter->drawLine(QPointF(at + 0.5, std::max(area.top(), y(usedAt(series, valueAt(at))))),
                          QPointF(at + 0.5, area.bottom()));
    }
    fillTo(reused, prompt, prefill);
    fillTo(prompt, series.lastTokens(), decode);
    // A fine line between the two parts: colour alone would not do.
    if (prompt > 0 && series.lastTokens() > prompt && x(prompt) > area.left() && x(prompt) < area.right()) {
        const double at = std::floor(x(prompt)) + 0.5;
        painter->setPen(QPen(theme().card, 1));
        painter->drawLine(QPointF(at, y(usedAt(series, prompt))), QPointF(at, area.bottom()));
    }
}

void KvChart::drawAllocated(QCPPainter *painter, const QRectF &area, const ShownRun &run) const
{
    const Series &series = d->series.at(run.id);
    // A block is taken before the token that needs it is written: the step is at the sample before.
    QPolygonF stairs;
    for (const QPointF &point : line(series, series.allocated, series.lastTokens())) {
        if (!stairs.isEmpty() && stairs.last().y() != point.y()) {
            stairs.append({stairs.last().x(), point.y()});
        } else if (stairs.size() > 1 && stairs.last().y() == stairs[stairs.size() - 2].y()) {
            stairs.removeLast(); // one point for each corner, so that dashes keep their rhythm
        }
        stairs.append(point);
    }
    QPen pen(theme().mutedText, theme().lineWidth());
    pen.setDashPattern({3, 2});
    pen.setCapStyle(Qt::FlatCap);
    painter->setPen(pen);
    for (const QPolygonF &part : clipped(stairs, area)) {
        painter->drawPolyline(part);
    }
}

void KvChart::drawFormula(QCPPainter *painter, const QRectF &area, const ShownRun &run) const
{
    const double end = plot()->xAxis->range().upper;
    const double perToken = static_cast<double>(run.record->engine.kvBytesPerToken);
    QPen pen(theme().text, theme().lineWidth());
    pen.setDashPattern({1, 2});
    pen.setCapStyle(Qt::FlatCap);
    painter->setPen(pen);
    for (const QPolygonF &part : clipped(QPolygonF{{x(0), y(0)}, {x(end), y(perToken * end)}}, area)) {
        painter->drawPolyline(part);
    }
}

void KvChart::drawOverlaidRun(QCPPainter *painter, const QRectF &area, const ShownRun &run) const
{
    const Series &series = d->series.at(run.id);
    const QPolygonF points = line(series, series.used, series.lastTokens());
    painter->setBrush(Qt::NoBrush);
    painter->setPen(runPen(theme(), run.style));
    for (const QPolygonF &part : clipped(points, area)) {
        painter->drawPolyline(part);
    }
    const RunStyle &style = runStyle(theme(), run.style);
    double next = points.isEmpty() ? 0 : points.last().x();
    for (qsizetype i = points.size() - 1; i >= 0; --i) {
        if (points[i].x() <= next && area.contains(points[i])) {
            drawMarker(painter, points[i], markerSize(theme()), style.marker, style.color);
            next = points[i].x() - kMarkerGap;
        }
    }
}

void KvChart::drawNoCache(QCPPainter *painter, const QRectF &area, const ShownRun &run) const
{
    const double context = static_cast<double>(run.record->promptTokens.size() + run.record->outputTokens.size());
    const RunStyle &style = runStyle(theme(), run.style);
    const double end = std::min(x(context), area.right()), base = std::round(area.bottom());
    if (end > area.left()) {
        QPen pen = runPen(theme(), run.style);
        pen.setWidthF(pen.widthF() * 1.6);
        painter->setPen(pen);
        painter->drawLine(QPointF(area.left(), base), QPointF(end, base));
        drawMarker(painter, QPointF(end, base), markerSize(theme()), style.marker, style.color);
    }
    if (runs().size() > 1) {
        return; // the headline and the flat line say it; words would lie on the other runs
    }
    const QString words = tr("No KV cache in this run: nothing is kept, each step computes all tokens again.");
    painter->setFont(smallFont());
    painter->setPen(theme().mutedText);
    painter->drawText(area.adjusted(10, 2, -area.width() * 0.48, 0), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
                      words);
}

void KvChart::drawHighlight(QCPPainter *painter, const QRectF &area, const ShownRun &run, TokenRef token)
{
    const auto found = d->series.find(run.id);
    if (found == d->series.end()) {
        return;
    }
    const int prompt = static_cast<int>(run.record->promptTokens.size());
    const bool isPrompt = token.part == TokenPart::Prompt;
    const double held = isPrompt ? token.index + 0.5 : prompt + token.index;
    if (run.record->kv.empty()) {
        return; // nothing is known of the cache
    }
    const double bytes = hasNoCache(run) ? 0 : usedAt(found->second, isPrompt ? token.index + 1 : held);
    const QString detail = tr("KV %1", "bytes in the cache").arg(formatBytes(static_cast<std::uint64_t>(bytes)));
    drawCursor(painter, area, x(held), readout(run, token, detail));
    const QPointF dot(x(held), y(bytes));
    if (area.adjusted(-1, -1, 1, 1).contains(dot)) {
        drawMarker(painter, dot, 8, Marker::Circle, theme().text);
    }
}

} // namespace lectern
