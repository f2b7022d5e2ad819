// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/format.h"
#include "widgets/timeline_series.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace lectern {

namespace {

constexpr double kSmallestPitch = 3; // pixels a step; below, steps merge into one striped bar

// The part of [from, to] inside the bar's width; at least `least` wide where it is not outside.
QRectF span(const QRectF &bar, double from, double to, double least)
{
    const double left = std::clamp(from, bar.left(), bar.right());
    const double right = std::clamp(std::max(to, from + least), bar.left(), bar.right());
    return {left, bar.top(), right - left, bar.height()};
}

} // namespace

void TimelineChart::drawData(QCPPainter *painter, const QRectF &area)
{
    for (const ShownRun &run : runs()) {
        if (d->series.find(run.id) == d->series.end()) {
            continue;
        }
        const QRectF bar = barRect(area, run.id);
        if (bar.isNull()) {
            continue;
        }
        drawBar(painter, bar, run);
        if (runs().size() < 2) {
            drawNames(painter, area, bar, run);
            drawBrackets(painter, area, bar, run);
        } else {
            drawRowTexts(painter, area, bar, run);
        }
    }
    const int shown = shownRows(area), rest = static_cast<int>(runs().size()) - shown;
    if (rest > 0 && shown > 1) {
        QRectF line = rowRect(area, shown);
        line.setLeft(0);
        painter->setFont(smallFont());
        painter->setPen(theme().mutedText);
        painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip,
                          tr("+ %n more run(s)", "that have no room in the chart", rest));
    }
}

void TimelineChart::drawBar(QCPPainter *painter, const QRectF &bar, const ShownRun &run) const
{
    const RunRecord &record = *run.record;
    const auto at = [this](std::int64_t ns) { return x(static_cast<double>(ns) / 1e6); };
    for (const PhaseRecord &phase : record.phases) {
        if (phase.phase == Phase::Template || phase.phase == Phase::Tokenize) {
            painter->fillRect(span(bar, at(phase.beginNs), at(phase.endNs), 1), theme().tokenizeColor);
        }
    }
    for (const PrefillChunkRecord &chunk : record.prefillChunks) {
        const QRectF part = span(bar, at(chunk.beginNs), at(chunk.endNs), 1);
        painter->fillRect(part, theme().prefillColor);
        if (chunk.from > record.reusedTokens && part.width() > 4) {
            painter->fillRect(QRectF(std::round(part.left()), bar.top(), 1, bar.height()), theme().card);
        }
    }
    drawSteps(painter, bar, d->series.at(run.id));
}

void TimelineChart::drawSteps(QCPPainter *painter, const QRectF &bar, const Series &series) const
{
    if (series.endMs.size() < 2) {
        return;
    }
    const double firstMs = valueAt(bar.left()), lastMs = valueAt(bar.right());
    const auto from = std::max<std::ptrdiff_t>(1, std::lower_bound(series.endMs.begin(), series.endMs.end(), firstMs) -
                                                      series.endMs.begin());
    const auto to = std::upper_bound(series.beginMs.begin(), series.beginMs.end(), lastMs) - series.beginMs.begin();
    if (from >= to) {
        return;
    }
    const double origin = x(0), scale = x(1) - origin; // pixels a millisecond
    const auto beginAt = [&](std::ptrdiff_t i) { return origin + scale * series.beginMs[static_cast<std::size_t>(i)]; };
    const auto endAt = [&](std::ptrdiff_t i) { return origin + scale * series.endMs[static_cast<std::size_t>(i)]; };
    const double pitch = (endAt(to - 1) - beginAt(from)) / static_cast<double>(to - from);
    if (pitch >= kSmallestPitch) {
        for (std::ptrdiff_t i = from; i < to; ++i) {
            const QRectF step = span(bar, beginAt(i), endAt(i), 1);
            painter->fillRect(step.adjusted(step.width() > 2 ? 1 : 0, 0, 0, 0), theme().decodeColor);
        }
        return;
    }
    const QColor stripe = mixed(theme().decodeColor, theme().card, 0.45);
    std::ptrdiff_t begin = from;
    for (std::ptrdiff_t i = from; i < to; ++i) {
        if (i + 1 < to && beginAt(i + 1) - endAt(i) < 1) {
            continue;
        }
        const QRectF merged = span(bar, beginAt(begin), endAt(i), 1);
        painter->fillRect(merged, theme().decodeColor);
        drawStrokes(painter, merged, 4, stripe, 1);
        begin = i + 1;
    }
}

// Names of the parts above the bar, each where its part begins or right of the name before.
void TimelineChart::drawNames(QCPPainter *painter, const QRectF &area, const QRectF &bar, const ShownRun &run) const
{
    const RunRecord &record = *run.record;
    const Metrics &metrics = metricsFor(run);
    const QFont font = smallFont();
    const QFontMetricsF fontMetrics(font);
    struct Name
    {
        double at;
        LegendEntry entry;
    };
    std::vector<Name> names;
    if (metrics.tokenizeNs) {
        const double both = *metrics.tokenizeNs + metrics.templateNs.value_or(0);
        names.push_back({bar.left(),
                         {tr("tokenize %1").arg(formatDuration(both)), Swatch::Fill, theme().tokenizeColor, -1, false,
                          tr("tokenize")}});
    }
    if (!record.promptTokens.empty() || !record.prefillChunks.empty()) {
        const double at = record.prefillChunks.empty()
                              ? bar.left()
                              : x(static_cast<double>(record.prefillChunks.front().beginNs) / 1e6);
        names.push_back({at,
                         {prefillText(run), Swatch::Fill, theme().prefillColor, -1, true,
                          tr("prefill %1").arg(formatDuration(metrics.prefillNs))}});
    }
    if (metrics.tpotNs) {
        const QString text = tr("decode %1 × %2", "time per token, number of steps")
                                 .arg(formatDuration(metrics.tpotNs), formatCount(metrics.outputTokens - 1));
        names.push_back({x(*metrics.ttftNs / 1e6), {text, Swatch::Bars, theme().decodeColor, -1, true}});
    }
    const double gap = fontMetrics.averageCharWidth() * 2.5;
    const auto widthOfAll = [&] {
        double sum = 0;
        for (const Name &name : names) {
            sum += legendWidth(name.entry, font) + gap;
        }
        return sum;
    };
    if (widthOfAll() - gap > area.right()) {
        for (Name &name : names) {
            name.entry.text = name.entry.shortText.isEmpty() ? name.entry.text : name.entry.shortText;
        }
    }
    double room = widthOfAll();
    double left = 0;
    for (const Name &name : names) {
        // What follows must fit too, so a name gives way to the left.
        const double width = legendWidth(name.entry, font);
        const double most = std::max(left, area.right() - room + gap);
        left = std::clamp(name.at, left, most);
        const double top = bar.top() - fontMetrics.height() * 1.25;
        const QRectF rect(left, top, std::min(width, area.right() - left), fontMetrics.height());
        drawLegendEntry(painter, rect, name.entry, font, theme());
        left += width + gap;
        room -= width + gap;
    }
}

// Brackets below the bar: the wait for the first token, then all the others.
void TimelineChart::drawBrackets(QCPPainter *painter, const QRectF &area, const QRectF &bar, const ShownRun &run) const
{
    const Metrics &metrics = metricsFor(run);
    QFont font = smallFont();
    const QFontMetricsF fontMetrics(font);
    if (!metrics.ttftNs || area.bottom() - bar.bottom() < fontMetrics.height() + 11) {
        return;
    }
    const double top = std::round(bar.bottom()) + 4.5;
    const auto bracket = [&](double from, double to, const QColor &color) {
        const double left = std::clamp(from, bar.left(), bar.right()), right = std::clamp(to, bar.left(), bar.right());
        if (right - left < 2) {
            return;
        }
        painter->setPen(QPen(color, 1));
        painter->drawPolyline(QPolygonF{{left, top}, {left, top + 4}, {right, top + 4}, {right, top}});
    };
    const double first = x(*metrics.ttftNs / 1e6);
    const double textTop = top + 6;
    bracket(x(0), first - 1, theme().text);
    font.setBold(true);
    const QString wait = tr("first token after %1").arg(formatDuration(metrics.ttftNs));
    const double waitWidth = QFontMetricsF(font).horizontalAdvance(wait);
    painter->setFont(font);
    painter->setPen(theme().text);
    painter->drawText(QRectF(bar.left(), textTop, waitWidth + 2, fontMetrics.height()), Qt::AlignLeft | Qt::AlignTop,
                      wait);
    if (!metrics.tpotNs) {
        return;
    }
    bracket(first + 1, x(d->series.at(run.id).lastMs), theme().mutedText);
    const double restNs = *metrics.tpotNs * (metrics.outputTokens - 1);
    const QString rest = tr("then %1 more, one pass each: %2", "tokens, time")
                             .arg(formatCount(metrics.outputTokens - 1), formatDuration(restNs));
    font.setBold(false);
    const double restWidth = QFontMetricsF(font).horizontalAdvance(rest);
    const double restLeft =
        std::max(std::min(first + 1, area.right() - restWidth), bar.left() + waitWidth + fontMetrics.height());
    if (restLeft + restWidth <= area.right() + 1) {
        painter->setFont(font);
        painter->setPen(theme().mutedText);
        painter->drawText(QRectF(restLeft, textTop, restWidth + 2, fontMetrics.height()), Qt::AlignLeft | Qt::AlignTop,
                          rest);
    }
}

void TimelineChart::drawRowTexts(QCPPainter *painter, const QRectF &area, const QRectF &bar, const ShownRun &run) const
{
    const QFont font = smallFont();
    const LegendEntry title{run.title, Swatch::None, {}, run.style, run.isCurrent};
    drawLegendEntry(painter, QRectF(0, bar.top(), area.left() - 8, bar.height()), title, font, theme());
    painter->setFont(font);
    painter->setPen(run.isCurrent ? theme().text : theme().mutedText);
    const QRectF right(area.right() + 8, bar.top(), plot()->viewport().width() - area.right() - 8, bar.height());
    const bool isLong = plot()->viewport().width() > 560;
    painter->drawText(right, Qt::AlignRight | Qt::AlignVCenter | Qt::TextDontClip,
                      run.record->outputTokens.empty() && run.isLive() ? tr("prefill …") : totalText(run, isLong));
}

void TimelineChart::drawHighlight(QCPPainter *painter, const QRectF &area, const ShownRun &run, TokenRef token)
{
    const auto found = d->series.find(run.id);
    if (found == d->series.end()) {
        return;
    }
    const QRectF bar = barRect(area, run.id);
    if (bar.isNull()) {
        return;
    }
    double from = 0, to = 0;
    QString detail;
    if (token.part == TokenPart::Output) {
        const auto i = static_cast<std::size_t>(token.index);
        if (i >= found->second.endMs.size()) {
            return;
        }
        from = i == 0 ? 0 : found->second.beginMs[i];
        to = found->second.endMs[i];
        detail = i == 0 ? tr("first token after %1").arg(formatDuration(to * 1e6)) : formatDuration((to - from) * 1e6);
    } else {
        for (const PrefillChunkRecord &chunk : run.record->prefillChunks) {
            if (token.index >= chunk.from && token.index < chunk.to) {
                from = static_cast<double>(chunk.beginNs) / 1e6;
                to = static_cast<double>(chunk.endNs) / 1e6;
                detail =
                    tr("read in one pass, tokens %1 to %2").arg(formatCount(chunk.from + 1), formatCount(chunk.to));
            }
        }
        if (to <= from) {
            return; // reused from the last run: no pass of this one
        }
    }
    const QRectF part = span(bar, x(from), x(to), 2);
    if (part.width() > 0) {
        painter->setBrush(Qt::NoBrush);
        painter->setPen(QPen(theme().text, 2));
        painter->drawRect(part.adjusted(-1, -1, 1, 1));
        drawCursor(painter, QRectF(area.left(), bar.bottom() + 2, area.width(), area.bottom() - bar.bottom() - 2),
                   part.center().x(), readout(run, token, detail));
    }
}

} // namespace lectern
