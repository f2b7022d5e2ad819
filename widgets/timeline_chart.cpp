// SPDX-License-Identifier: GPL-3.0-or-later
// Data and axes of the timeline; drawing is in timeline_paint.cpp.
#include "widgets/timeline_chart.h"

#include "app/core/format.h"
#include "widgets/timeline_series.h"

#include <QFontMetricsF>

#include <algorithm>

namespace lectern {

TimelineChart::TimelineChart(QWidget *parent)
    : RunChart(
          tr("Prefill / decode"),
          tr("One run to scale appears here: how long the prompt took (prefill), then every single token (decode). "
             "Type a prompt and press Run."),
          parent)
    , d(std::make_unique<Private>())
{
}

TimelineChart::~TimelineChart() = default;

void TimelineChart::rebuild()
{
    d->series.clear();
    d->liveEndMs = 0;
}

void TimelineChart::append(const ShownRun &run)
{
    const RunRecord &record = *run.record;
    Series &series = d->series[run.id];
    for (std::size_t i = series.beginMs.size(); i < record.outputTokens.size(); ++i) {
        const TokenRecord &token = record.outputTokens[i];
        const double end = static_cast<double>(token.timeNs) / 1e6;
        const double before = i > 0 ? series.endMs.back() : 0;
        // The first token comes out of the prefill pass: it takes no room of its own.
        const double begin = i > 0 ? std::max(before, end - static_cast<double>(token.stepNs) / 1e6) : end;
        series.beginMs.push_back(std::min(begin, end));
        series.endMs.push_back(end);
    }
    series.lastMs = series.endMs.empty() ? 0 : series.endMs.back();
    for (const PhaseRecord &phase : record.phases) {
        series.lastMs = std::max(series.lastMs, static_cast<double>(phase.endNs) / 1e6);
    }
    if (!record.prefillChunks.empty()) {
        series.lastMs = std::max(series.lastMs, static_cast<double>(record.prefillChunks.back().endNs) / 1e6);
    }
}

void TimelineChart::updateAxes(const QSizeF &)
{
    double last = 0;
    bool isLive = false;
    for (const ShownRun &run : runs()) {
        last = std::max(last, d->series[run.id].lastMs);
        isLive = isLive || run.isLive();
    }
    double end = std::max(last, 0.001) * 1.01;
    if (isLive) {
        d->liveEndMs = liveEnd(last * 1.02, d->liveEndMs, 10);
        end = d->liveEndMs;
    }
    const AxisUnit unit = timeUnit(end);
    setXAxis(tr("time since submitting"), unit.name, unit, end, false);
    setYAxis({}, {}, 1);
}

double TimelineChart::leftMargin(double width) const
{
    if (runs().size() < 2) {
        return QFontMetricsF(smallFont()).averageCharWidth(); // half of the label "0"
    }
    double longest = 0;
    for (const LegendEntry &entry : runLegend(Swatch::None)) {
        longest = std::max(longest, legendWidth(entry, smallFont()));
    }
    return std::min(longest, width * 0.28) + 8;
}

double TimelineChart::rightMargin(double width) const
{
    if (runs().size() < 2) {
        return RunChart::rightMargin(width);
    }
    double longest = 0;
    for (const ShownRun &run : runs()) {
        longest = std::max(longest, QFontMetricsF(smallFont()).horizontalAdvance(totalText(run, width > 560)));
    }
    return longest + 12;
}

QString TimelineChart::prefillText(const ShownRun &run) const
{
    const RunRecord &record = *run.record;
    const int total = static_cast<int>(record.promptTokens.size()) - record.reusedTokens;
    const int done = record.prefillChunks.empty() ? 0 : record.prefillChunks.back().to - record.reusedTokens;
    if (record.outputTokens.empty() && run.isLive()) {
        const QString percent = formatPercent(total > 0 ? static_cast<double>(done) / total : 0);
        return tr("prefill %1 / %2 tokens · %3", "done, total, percent")
            .arg(formatCount(done), formatCount(total), percent);
    }
    const QString time = formatDuration(metricsFor(run).prefillNs);
    const QString tokens = tr("%Ln tokens", nullptr, done);
    return record.reusedTokens > 0
               ? tr("prefill %1 · %2, %3 reused").arg(time, tokens, formatCount(record.reusedTokens))
               : tr("prefill %1 · %2", "time, tokens").arg(time, tokens);
}

QString TimelineChart::totalText(const ShownRun &run, bool isLong) const
{
    const Metrics &metrics = metricsFor(run);
    const QString total = formatDuration(metrics.endToEndNs);
    return isLong ? tr("TTFT %1 · total %2").arg(formatDuration(metrics.ttftNs), total) : total;
}

QVector<HeadlinePart> TimelineChart::headline() const
{
    const ShownRun *run = currentRun();
    if (!run) {
        return {};
    }
    if (run->record->outputTokens.empty()) {
        return {{prefillText(*run), true}};
    }
    const Metrics &metrics = metricsFor(*run);
    QVector<HeadlinePart> parts{{tr("TTFT %1").arg(formatDuration(metrics.ttftNs)), true}};
    if (metrics.tpotNs) {
        parts.append({tr("TPOT %1").arg(formatDuration(metrics.tpotNs)), false});
    }
    if (runs().size() == 1 && metrics.endToEndNs) {
        parts.append({tr("total %1").arg(formatDuration(metrics.endToEndNs)), false});
    }
    return parts;
}

std::vector<LegendEntry> TimelineChart::legend() const
{
    if (runs().size() < 2) {
        return {}; // the parts are named where they are
    }
    // The last gives way where there is little room: the smallest part.
    return {{tr("prefill"), Swatch::Fill, theme().prefillColor},
            {tr("decode, one bar a token"), Swatch::Bars, theme().decodeColor, -1, false, tr("decode")},
            {tr("tokenize"), Swatch::Fill, theme().tokenizeColor}};
}

QString TimelineChart::describe() const
{
    QStringList sentences;
    for (const ShownRun &run : runs()) {
        const Metrics &metrics = metricsFor(run);
        sentences.append(
            tr("%1: time to first token %2; prompt tokens: %3, prefill %4; output tokens: %5, %6 each; total %7.")
                .arg(run.title, formatDuration(metrics.ttftNs), formatCount(metrics.evaluatedTokens),
                     formatDuration(metrics.prefillNs), formatCount(metrics.outputTokens),
                     formatDuration(metrics.tpotNs), formatDuration(metrics.endToEndNs)));
    }
    return sentences.join(u' ');
}

int TimelineChart::shownRows(const QRectF &area) const
{
    const int count = static_cast<int>(runs().size());
    const int room = static_cast<int>(area.height() / QFontMetricsF(smallFont()).height());
    return count <= room ? count : std::max(1, room - 1);
}

QRectF TimelineChart::rowRect(const QRectF &area, int row) const
{
    const int shown = shownRows(area), lines = shown + (shown < runs().size() && shown > 1 ? 1 : 0);
    const double pitch = area.height() / lines;
    return {area.left(), area.top() + pitch * row, area.width(), pitch};
}

QRectF TimelineChart::barRect(const QRectF &area, int runId) const
{
    if (runs().size() < 2) {
        // Names above, brackets below.
        const double line = QFontMetricsF(smallFont()).height(), around = line * 2.6 + 14;
        return {area.left(), std::round(line * 1.4), area.width(), std::round(std::max(area.bottom() - around, 10.0))};
    }
    // The current run is the first row, as in the legends.
    qsizetype row = 0;
    for (const ShownRun &run : runs()) {
        if (run.id == runId) {
            break;
        }
        ++row;
    }
    const ShownRun *current = currentRun();
    const qsizetype currentRow = current - runs().constData();
    row = row == currentRow ? 0 : row < currentRow ? row + 1 : row;
    if (row >= shownRows(area)) {
        return {};
    }
    const QRectF whole = rowRect(area, static_cast<int>(row));
    const double height = std::max(whole.height() * 0.62, 2.0);
    return {area.left(), std::round(whole.top() + (whole.height() - height) / 2), area.width(), std::round(height)};
}

TokenRef TimelineChart::tokenAt(const QPointF &position) const
{
    const QRectF area = this->area();
    if (!area.contains(position)) {
        return {};
    }
    for (const ShownRun &run : runs()) {
        const QRectF bar = barRect(area, run.id);
        const auto found = d->series.find(run.id);
        if (bar.isNull() || found == d->series.end() || found->second.endMs.empty() || position.y() < bar.top() ||
            position.y() > bar.bottom()) {
            continue;
        }
        const std::vector<double> &ends = found->second.endMs;
        const double ms = valueAt(position.x());
        const auto step =
            std::lower_bound(ends.begin(), ends.end(), ms); // everything before the first token belongs to it
        if (step != ends.end()) {
            return {run.id, TokenPart::Output, static_cast<int>(step - ends.begin())};
        }
    }
    return {};
}

} // namespace lectern
