// SPDX-License-Identifier: GPL-3.0-or-later
// Data and axes of the KV chart; drawing is in kv_paint.cpp.
#include "widgets/kv_chart.h"

#include "app/core/format.h"
#include "widgets/kv_series.h"

#include <algorithm>
#include <cmath>

namespace lectern {

KvChart::KvChart(QWidget *parent)
    : RunChart(tr("KV cache"),
               tr("The memory of the KV cache appears here, growing with every token: bytes used, bytes allocated in "
                  "blocks, and the "
                  "formula's line. Press Run."),
               parent)
    , d(std::make_unique<Private>())
{
}

KvChart::~KvChart() = default;

void KvChart::rebuild()
{
    d->series.clear();
    d->liveTokens = d->liveBytes = 0;
}

void KvChart::append(const ShownRun &run)
{
    const std::vector<KvSample> &samples = run.record->kv;
    Series &series = d->series[run.id];
    for (; series.taken < samples.size(); ++series.taken) {
        const KvSample &sample = samples[series.taken];
        if (sample.tokens < series.lastTokens()) {
            continue;
        }
        if (series.taken == 0 && sample.tokens > 0) {
            series.allocated.back() =
                static_cast<double>(sample.allocatedBytes); // blocks that a reused prefix brought along
        }
        series.tokens.push_back(sample.tokens);
        series.used.push_back(static_cast<double>(sample.usedBytes));
        series.allocated.push_back(static_cast<double>(sample.allocatedBytes));
    }
}

void KvChart::updateAxes(const QSizeF &)
{
    double tokens = 8, bytes = 1000;
    bool isLive = false;
    const ShownRun *current = currentRun();
    for (const ShownRun &run : runs()) {
        const Series &series = d->series[run.id];
        const double context = static_cast<double>(run.record->promptTokens.size() + run.record->outputTokens.size());
        tokens = std::max({tokens, series.lastTokens(), context});
        bytes = std::max({bytes, series.used.back(), series.allocated.back()});
        isLive = isLive || run.isLive();
    }
    double end = tokens * 1.2;
    if (isLive) {
        if (current && hasNoCache(*current)) {
            // The formula is all it has.
            bytes = std::max(bytes, static_cast<double>(current->record->engine.kvBytesPerToken) * tokens);
        }
        d->liveTokens = end = liveEnd(tokens * 1.05, d->liveTokens, 20);
        d->liveBytes = bytes = liveEnd(bytes * 1.05, d->liveBytes, 1000);
    } else {
        if (current) {
            bytes = std::max(bytes, static_cast<double>(current->record->engine.kvBytesPerToken) * end);
        }
        bytes *= 1.04;
    }
    setXAxis(tr("tokens held"), tr("tokens"), {}, end, true);
    setYAxis(tr("memory"), byteUnit(bytes), bytes);
}

QString KvChart::notRecorded(const ShownRun &run)
{
    return run.isLive() ? tr("nothing measured yet") : tr("use of the cache not recorded");
}

QVector<HeadlinePart> KvChart::headline() const
{
    const ShownRun *run = currentRun();
    if (!run) {
        return {};
    }
    const std::uint64_t perToken = run->record->engine.kvBytesPerToken;
    const QString formula = tr("formula %1 per token").arg(formatBytes(perToken));
    if (hasNoCache(*run)) {
        const auto context = static_cast<std::uint64_t>(metricsFor(*run).contextTokens);
        return {{tr("KV cache off: 0 bytes held"), true},
                {tr("a cache would hold %1").arg(formatBytes(perToken * context)), false},
                {formula, false}};
    }
    if (run->record->kv.empty()) {
        return {{notRecorded(*run), true}, {formula, false}};
    }
    const KvSample &now = run->record->kv.back();
    return {{tr("%Ln tokens", "held in the cache", now.tokens), true},
            {tr("%1 used", "bytes").arg(formatBytes(now.usedBytes)), true},
            {tr("%1 allocated", "bytes").arg(formatBytes(now.allocatedBytes)), false},
            {formula, false}};
}

std::vector<LegendEntry> KvChart::legend() const
{
    if (runs().size() > 1) {
        std::vector<LegendEntry> entries = runLegend(Swatch::Line);
        entries.insert(entries.begin(), {tr("formula"), Swatch::Dots, theme().text, -1, false});
        return entries;
    }
    const ShownRun *run = currentRun();
    std::vector<LegendEntry> entries;
    if (run && hasNoCache(*run)) {
        return {{tr("what a cache would hold"), Swatch::Dots, theme().text}};
    }
    if (run && !run->record->kv.empty()) {
        if (run->record->reusedTokens > 0) {
            entries.push_back({tr("reused", "part of the KV cache"), Swatch::Hatch, theme().prefillColor});
        }
        entries.push_back({tr("written in prefill"), Swatch::Fill, theme().prefillColor, -1, false, tr("prefill")});
        entries.push_back({tr("written in decode"), Swatch::Fill, theme().kvColor, -1, false, tr("decode")});
        const int block = run->record->engine.kvBlockTokens;
        entries.push_back({block > 0 ? tr("allocated in blocks of %1").arg(block) : tr("allocated"), Swatch::Dashes,
                           theme().mutedText, -1, false, tr("allocated")});
    }
    entries.push_back({tr("formula"), Swatch::Dots, theme().text});
    return entries;
}

QString KvChart::describe() const
{
    QStringList sentences;
    for (const ShownRun &run : runs()) {
        const Metrics &metrics = metricsFor(run);
        if (hasNoCache(run)) {
            sentences.append(tr("%1: KV cache off, 0 bytes held; tokens in the context: %2.")
                                 .arg(run.title, formatCount(metrics.contextTokens)));
            continue;
        }
        if (run.record->kv.empty()) {
            sentences.append(tr("%1: %2.", "run, what is known of its cache").arg(run.title, notRecorded(run)));
            continue;
        }
        const KvSample &now = run.record->kv.back();
        sentences.append(tr("%1: tokens held: %2, in %3, %4 allocated; %5 per token.")
                             .arg(run.title, formatCount(now.tokens), formatBytes(now.usedBytes),
                                  formatBytes(now.allocatedBytes), formatBytes(run.record->engine.kvBytesPerToken)));
    }
    return sentences.join(u' ');
}

double KvChart::usedAt(const Series &series, double tokens) const
{
    const auto next = std::lower_bound(series.tokens.begin(), series.tokens.end(), tokens);
    if (next == series.tokens.end()) {
        return series.used.back();
    }
    const auto i = static_cast<std::size_t>(next - series.tokens.begin());
    if (i == 0 || series.tokens[i] == series.tokens[i - 1]) {
        return series.used[i];
    }
    const double part = (tokens - series.tokens[i - 1]) / (series.tokens[i] - series.tokens[i - 1]);
    return series.used[i - 1] + part * (series.used[i] - series.used[i - 1]);
}

TokenRef KvChart::tokenAt(const QPointF &position) const
{
    const ShownRun *run = currentRun();
    if (!run || !area().contains(position)) {
        return {};
    }
    // Output token k is there while the prompt and the k tokens before it are held.
    const double tokens = valueAt(position.x());
    const auto prompt = static_cast<double>(run->record->promptTokens.size());
    const double output = std::round(tokens) - prompt;
    if (output >= 0) {
        return output < static_cast<double>(run->record->outputTokens.size())
                   ? TokenRef{run->id, TokenPart::Output, static_cast<int>(output)}
                   : TokenRef{};
    }
    return tokens >= 0 && prompt > 0
               ? TokenRef{run->id, TokenPart::Prompt, static_cast<int>(std::min(tokens, prompt - 1))}
               : TokenRef{};
}

} // namespace lectern
