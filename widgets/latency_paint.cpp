// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/format.h"
#include "widgets/chart_series.h"
#include "widgets/latency_series.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace lectern {

namespace {

constexpr double kSmallestBar = 2.5; // pixels a token; below, bars become an envelope
constexpr double kMarkerGap = 60;    // pixels between the markers on a line

// Bar of one token, on whole pixels, from the base line up to `top`.
QRectF barAt(const QRectF &area, double center, double pitch, double top)
{
    const double width = std::max(1.0, pitch >= 6 ? std::round(pitch * 0.72) : std::round(pitch - 1));
    const double left = std::clamp(std::round(center - width / 2), area.left(), area.right());
    const double right = std::min(left + width, area.right() + 1);
    top = std::clamp(top, area.top(), area.bottom());
    return {left, top, right - left, area.bottom() - top};
}

} // namespace

void LatencyChart::drawData(QCPPainter *painter, const QRectF &area)
{
    const ShownRun *current = currentRun();
    if (!current || d->series.find(current->id) == d->series.end()) {
        return;
    }
    const Series &series = d->series.at(current->id);
    if (series.ms.empty() && runs().size() < 2) {
        painter->setFont(smallFont());
        painter->setPen(theme().mutedText);
        painter->drawText(area, Qt::AlignCenter | Qt::TextWordWrap, tr("The prompt is being read: no token yet."));
        return;
    }
    const double pitch = x(2) - x(1);
    if (pitch >= kSmallestBar) {
        drawBars(painter, area, series);
    } else {
        drawEnvelope(painter, area, series);
    }
    drawFirst(painter, area, series);
    if (runs().size() < 2) {
        drawFit(painter, area, *current);
    }
    for (const ShownRun &run : runs()) {
        if (run.id != current->id) {
            drawLine(painter, area, run);
        }
    }
    if (runs().size() > 1 && series.ms.size() > 1 && std::isfinite(series.ms.back())) {
        const RunStyle &style = runStyle(theme(), current->style);
        const QPointF end(x(static_cast<double>(series.ms.size())), y(std::min(series.ms.back(), d->axisTop)) - 7);
        if (area.adjusted(0, -8, 0, 0).contains(end)) {
            drawMarker(painter, end, theme().isProjector ? 13 : 10, style.marker, style.color);
        }
    }
    drawCutSteps(painter, area);
}

void LatencyChart::drawBars(QCPPainter *painter, const QRectF &area, const Series &series) const
{
    const auto [from, to] = visible(series);
    const double pitch = x(2) - x(1);
    const QColor color = currentColor(theme().decodeColor);
    for (std::size_t i = std::max<std::size_t>(1, from); i < to; ++i) {
        if (std::isfinite(series.ms[i])) {
            const double top = y(std::min(series.ms[i], d->axisTop));
            painter->fillRect(barAt(area, x(static_cast<double>(i + 1)), pitch, top), color);
        }
    }
}

// Too many tokens for bars: in each pixel column the range from the quickest to the slowest step, with the area below
// shaded.
void LatencyChart::drawEnvelope(QCPPainter *painter, const QRectF &area, const Series &series) const
{
    const auto [from, to] = visible(series);
    const auto columns = pixelColumns(series.ms, std::max<std::size_t>(1, from), to,
                                      [this](std::size_t i) { return x(static_cast<double>(i + 1)); });
    const QColor color = currentColor(theme().decodeColor);
    const QColor shade = mixed(theme().card, color, 0.3);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const double left = std::floor(columns[i].x);
        const double right = i + 1 < columns.size() ? std::floor(columns[i + 1].x) : left + 1;
        if (left < area.left() || right > area.right() + 1) {
            continue;
        }
        const double high = y(std::min(columns[i].highest, d->axisTop)),
                     low = y(std::min(columns[i].lowest, d->axisTop));
        painter->fillRect(QRectF(left, low, right - left, area.bottom() - low), shade);
        painter->fillRect(QRectF(left, high - 1, right - left, std::max(2.0, low - high)), color);
    }
}

void LatencyChart::drawFirst(QCPPainter *painter, const QRectF &area, const Series &series) const
{
    if (series.ms.empty() || !std::isfinite(series.ms[0]) || x(1) < area.left() - 1 || x(1) > area.right()) {
        return;
    }
    const bool isCut = series.ms[0] > d->axisTop * 1.0001;
    const double pitch = std::max(x(2) - x(1), 5.0);
    QRectF bar = barAt(area, std::max(x(1), area.left() + pitch * 0.4), std::min(pitch, area.width() / 3),
                       isCut ? area.top() : y(series.ms[0]));
    painter->fillRect(bar, currentColor(theme().prefillColor));
    if (runs().size() > 1 && bar.width() > 4 && bar.height() > 4) {
        painter->fillRect(bar.adjusted(1, 1, -1, -1), mixed(theme().card, currentColor({}), 0.35)); // not a decode step
    }
    if (!isCut) {
        return;
    }
    const double notch = std::round(area.top() + area.height() * 0.2);
    painter->fillRect(QRectF(bar.left() - 1, notch, bar.width() + 2, 2), theme().card); // the break of a cut bar
    painter->fillRect(QRectF(bar.left() - 1, notch + 5, bar.width() + 2, 2), theme().card);
    if (!d->hasTextLine) {
        return;
    }
    QFont font = smallFont();
    font.setBold(true);
    painter->setFont(font);
    painter->setPen(theme().text);
    const QString text =
        tr("↑ %1 (axis cut)", "value of a bar that is longer than the axis").arg(formatDuration(series.ms[0] * 1e6));
    painter->drawText(QPointF(bar.right() + 6, area.top() + QFontMetricsF(font).ascent()), text);
}

void LatencyChart::drawCutSteps(QCPPainter *painter, const QRectF &area) const
{
    double longest = 0;
    for (const auto &[id, series] : d->series) {
        longest = series.largestStep > d->axisTop * 1.0001 ? std::max(longest, series.largestStep) : longest;
    }
    if (longest > 0 && d->hasTextLine) {
        painter->setFont(smallFont());
        painter->setPen(theme().mutedText);
        painter->drawText(area, Qt::AlignRight | Qt::AlignTop,
                          tr("↑ longest step %1").arg(formatDuration(longest * 1e6)));
    }
}

// Least-squares line of the decode steps: the slope is a metric, the line goes through the mean of the steps.
void LatencyChart::drawFit(QCPPainter *painter, const QRectF &area, const ShownRun &run) const
{
    const Series &series = d->series.at(run.id);
    const Metrics &metrics = metricsFor(run);
    if (!hasClearSlope(metrics) || series.steps == 0) {
        return;
    }
    const double slope = *metrics.stepSlopeNsPerToken;
    const double steps = static_cast<double>(series.steps);
    const double meanMs = series.stepSum / steps, meanToken = series.indexSum / steps + 1;
    const auto point = [&](double token) { return QPointF(x(token), y(meanMs + (token - meanToken) * slope / 1e6)); };
    QPen pen(theme().text, theme().lineWidth());
    pen.setDashPattern({4, 3});
    pen.setCapStyle(Qt::FlatCap);
    painter->setPen(pen);
    for (const QPolygonF &part : clipped(QPolygonF{point(2), point(static_cast<double>(series.ms.size()))}, area)) {
        painter->drawPolyline(part);
    }
}

void LatencyChart::drawLine(QCPPainter *painter, const QRectF &area, const ShownRun &run) const
{
    const auto found = d->series.find(run.id);
    if (found == d->series.end()) {
        return;
    }
    const auto [from, to] = visible(found->second);
    const auto columns = pixelColumns(found->second.ms, std::max<std::size_t>(1, from), to,
                                      [this](std::size_t i) { return x(static_cast<double>(i + 1)); });
    QPolygonF points;
    for (const Column &column : columns) {
        points.append({column.x, y(column.first)});
        if (column.highest != column.lowest) {
            points.append({column.x, y(column.lowest)});
            points.append({column.x, y(column.highest)});
            points.append({column.x, y(column.last)});
        }
    }
    const QRectF inside = area.adjusted(0, 0, 1, 0);
    painter->setBrush(Qt::NoBrush);
    painter->setPen(runPen(theme(), run.style));
    for (const QPolygonF &part : clipped(points, inside)) {
        painter->drawPolyline(part);
    }
    const RunStyle &style = runStyle(theme(), run.style);
    double next = points.isEmpty() ? 0 : points.last().x();
    for (qsizetype i = points.size() - 1; i >= 0; --i) {
        if (points[i].x() <= next && inside.contains(points[i])) {
            drawMarker(painter, points[i], theme().isProjector ? 13 : 9, style.marker, style.color);
            next = points[i].x() - kMarkerGap;
        }
    }
}

void LatencyChart::drawHighlight(QCPPainter *painter, const QRectF &area, const ShownRun &run, TokenRef token)
{
    const auto found = d->series.find(run.id);
    // A prompt token has no step of its own: the prefill pause is the first bar.
    const std::size_t index = token.part == TokenPart::Prompt ? 0 : static_cast<std::size_t>(token.index);
    if (found == d->series.end() || index >= found->second.ms.size()) {
        return;
    }
    const double ms = found->second.ms[index];
    const QString detail = token.part == TokenPart::Prompt ? tr("part of the prefill pause")
                           : std::isfinite(ms)             ? formatDuration(ms * 1e6)
                                                           : formatDuration(std::nullopt);
    drawCursor(painter, area, x(static_cast<double>(index + 1)), readout(run, token, detail));
}

} // namespace lectern
