// SPDX-License-Identifier: GPL-3.0-or-later
// Data and axes of the latency chart; drawing is in latency_paint.cpp.
#include "widgets/latency_chart.h"

#include "app/core/format.h"
#include "widgets/latency_series.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lectern {

namespace {

// A first token that takes longer than this many decode steps is cut by the axis: it would flatten all the others.
constexpr double kCutRatio = 1.6;
// Single steps (the system was busy) that are this much above nearly all others are cut as well.
constexpr double kOutlierRatio = 3;

QString slopeText(double nsPerToken)
{
    const QString sign = nsPerToken < 0 ? QStringLiteral("−") : QStringLiteral("+");
    return sign + formatDuration(std::abs(nsPerToken));
}

} // namespace

LatencyChart::LatencyChart(QWidget *parent)
    : RunChart(tr("Latency per token"),
               tr("The wait for each token appears here: first the prefill pause, then one bar for every decode step. "
                  "Press Run."),
               parent)
    , d(std::make_unique<Private>())
{
}

LatencyChart::~LatencyChart() = default;

void LatencyChart::rebuild()
{
    d->series.clear();
    d->liveTokens = d->liveMs = 0;
}

void LatencyChart::append(const ShownRun &run)
{
    const std::vector<TokenRecord> &tokens = run.record->outputTokens;
    Series &series = d->series[run.id];
    for (std::size_t i = series.ms.size(); i < tokens.size(); ++i) {
        const double ms = static_cast<double>(i == 0 ? tokens[i].timeNs : tokens[i].stepNs) / 1e6;
        series.ms.push_back(ms > 0 ? ms : std::numeric_limits<double>::quiet_NaN());
        if (i > 0 && ms > 0) {
            series.largestStep = std::max(series.largestStep, ms);
            series.stepSum += ms;
            series.indexSum += static_cast<double>(i);
            ++series.steps;
        }
    }
    series.top = series.largestStep;
    const double usual = metricsFor(run).itlP99Ns.value_or(0) / 1e6;
    if (usual > 0 && series.largestStep > kOutlierRatio * usual) {
        series.top = 1.5 * usual;
    }
}

void LatencyChart::updateAxes(const QSizeF &area)
{
    double tokens = 1, top = 0, first = 0;
    bool isLive = false;
    int limit = 0;
    for (const ShownRun &run : runs()) {
        const Series &series = d->series[run.id];
        tokens = std::max(tokens, static_cast<double>(series.ms.size()));
        top = std::max(top, series.top);
        if (!series.ms.empty() && std::isfinite(series.ms[0])) {
            first = std::max(first, series.ms[0]);
        }
        isLive = isLive || run.isLive();
        limit = std::max(limit, run.record->request.maxTokens);
    }
    if (top <= 0) {
        top = first > 0 ? first : 1;
    } else if (first <= kCutRatio * top) {
        top = std::max(top, first);
    }
    double end = tokens;
    if (isLive) {
        d->liveTokens =
            std::max(d->liveTokens, std::min(stepUp(std::max(tokens, 20.0)), std::max<double>(limit, tokens)));
        end = d->liveTokens;
        if (tokens > 1) {
            d->liveMs = top = liveEnd(top, d->liveMs, 0.001);
        }
    }
    d->axisTop = top;
    // Room for the line that tells the value of a cut bar, unless it would take half of the plot.
    const double text = QFontMetricsF(smallFont()).height() * 1.25;
    d->hasTextLine = area.height() >= 2 * text;
    const double share = d->hasTextLine ? 1 - text / area.height() : 1;
    setXAxis(tr("output token"), tr("tokens"), {}, end + 0.5, true, 0.5);
    setYAxis(tr("time per token"), timeUnit(top), top / share);
}

std::pair<std::size_t, std::size_t> LatencyChart::visible(const Series &series) const
{
    const QCPRange range = plot()->xAxis->range();
    const double count = static_cast<double>(series.ms.size());
    const double from = std::clamp(std::floor(range.lower - 0.5), 0.0, count);
    const double to = std::clamp(std::ceil(range.upper + 0.5), from, count);
    return {static_cast<std::size_t>(from), static_cast<std::size_t>(to)};
}

TokenRef LatencyChart::tokenAt(const QPointF &position) const
{
    const ShownRun *run = currentRun();
    if (!run || !area().contains(position)) {
        return {};
    }
    const double index = std::round(valueAt(position.x())) - 1;
    return index >= 0 && index < static_cast<double>(run->record->outputTokens.size())
               ? TokenRef{run->id, TokenPart::Output, static_cast<int>(index)}
               : TokenRef{};
}

QVector<HeadlinePart> LatencyChart::headline() const
{
    const ShownRun *run = currentRun();
    if (!run || run->record->outputTokens.empty()) {
        return {};
    }
    const Metrics &metrics = metricsFor(*run);
    QVector<HeadlinePart> parts{{tr("first token %1").arg(formatDuration(metrics.ttftNs)), false}};
    if (metrics.tpotNs) {
        parts.append({tr("then %1 each", "time per token").arg(formatDuration(metrics.tpotNs)), true});
    }
    if (hasClearSlope(metrics)) {
        parts.append({tr("slope %1 per token of context").arg(slopeText(*metrics.stepSlopeNsPerToken)), false});
    } else if (metrics.stepSlopeNsPerToken) {
        parts.append({tr("no clear slope"), false});
    }
    return parts;
}

std::vector<LegendEntry> LatencyChart::legend() const
{
    if (runs().size() > 1) {
        return runLegend(Swatch::Line);
    }
    std::vector<LegendEntry> entries{
        {tr("first token, with prefill"), Swatch::Fill, theme().prefillColor, -1, false, tr("first token")},
        {tr("decode step"), Swatch::Bars, theme().decodeColor}};
    const ShownRun *run = currentRun();
    if (run && hasClearSlope(metricsFor(*run))) {
        entries.push_back({tr("fitted slope"), Swatch::Dashes, theme().text, -1, false});
    }
    return entries;
}

QString LatencyChart::describe() const
{
    QStringList sentences;
    for (const ShownRun &run : runs()) {
        const Metrics &metrics = metricsFor(run);
        QString sentence = tr("%1: first token after %2, further tokens: %4, %3 each")
                               .arg(run.title, formatDuration(metrics.ttftNs), formatDuration(metrics.tpotNs),
                                    formatCount(std::max(0, metrics.outputTokens - 1)));
        if (hasClearSlope(metrics)) {
            sentence += tr(", %1 more for each token of context").arg(slopeText(*metrics.stepSlopeNsPerToken));
        } else if (metrics.stepSlopeNsPerToken) {
            sentence += tr(", no clear slope");
        }
        sentences.append(sentence + u'.');
    }
    return sentences.join(u' ');
}

} // namespace lectern
