// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/metrics.h"

#include <algorithm>
#include <cmath>

namespace lectern {

namespace {

constexpr double kNsPerSecond = 1e9;
constexpr std::size_t kMinSlopeSteps = 8; // below that one slow step decides the slope

// A clock that did not advance has measured nothing.
std::optional<double> measured(std::int64_t ns)
{
    if (ns <= 0)
        return std::nullopt;
    return static_cast<double>(ns);
}

std::optional<double> phaseNs(const RunRecord &record, Phase phase)
{
    for (const PhaseRecord &entry : record.phases)
        if (entry.phase == phase)
            return measured(entry.endNs - entry.beginNs);
    return std::nullopt;
}

// Nearest rank: the smallest value with at least `percent` % of all values at or below it. Sorts as far as needed: long
// runs are looked at while they grow.
std::optional<double> percentile(std::vector<std::int64_t> &values, std::size_t percent)
{
    if (values.empty())
        return std::nullopt;
    const std::size_t rank = std::max<std::size_t>((values.size() * percent + 99) / 100, 1);
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(values.begin(), place, values.end());
    return measured(*place);
}

void setGaps(const RunRecord &record, Metrics &metrics)
{
    std::vector<std::int64_t> gaps;
    gaps.reserve(record.outputTokens.size());
    for (std::size_t i = 1; i < record.outputTokens.size(); ++i)
        gaps.push_back(record.outputTokens[i].timeNs - record.outputTokens[i - 1].timeNs);
    metrics.itlP50Ns = percentile(gaps, 50);
    metrics.itlP90Ns = percentile(gaps, 90);
    metrics.itlP99Ns = percentile(gaps, 99);
}

// x: tokens in the context when the step ran, y: its time. The first token belongs to prefill.
void setSlope(const RunRecord &record, Metrics &metrics)
{
    const std::size_t count = record.outputTokens.size();
    if (count < kMinSlopeSteps + 1)
        return;
    const auto steps = static_cast<double>(count - 1);
    double meanX = 0;
    double meanY = 0;
    for (std::size_t i = 1; i < count; ++i) {
        meanX += static_cast<double>(record.promptTokens.size() + i) / steps;
        meanY += static_cast<double>(record.outputTokens[i].stepNs) / steps;
    }
    if (meanY <= 0)
        return;
    double xx = 0;
    double xy = 0;
    double yy = 0;
    for (std::size_t i = 1; i < count; ++i) {
        const double x = static_cast<double>(record.promptTokens.size() + i) - meanX;
        xx += x * x;
        const double y = static_cast<double>(record.outputTokens[i].stepNs) - meanY;
        xy += x * y;
        yy += y * y;
    }
    const double slope = xy / xx;
    // Rounding leaves up to about 1e-15 of yy where every step lies on the line.
    const double residues = yy - slope * xy > yy * 1e-12 ? yy - slope * xy : 0;
    metrics.stepSlopeNsPerToken = slope;
    metrics.stepSlopeErrorNsPerToken = std::sqrt(residues / (steps - 2) / xx);
    if (residues == 0)
        return;
    // A busy machine slows several steps in a row, which count as fewer than they are: (1 − ρ) ÷ (1 + ρ) of them, with
    // the correlation ρ of neighbours. Without it three of six runs of 60 tokens had a slope that was noise.
    double neighbours = 0;
    const auto residue = [&](std::size_t i) {
        const double x = static_cast<double>(record.promptTokens.size() + i) - meanX;
        return static_cast<double>(record.outputTokens[i].stepNs) - meanY - slope * x;
    };
    for (std::size_t i = 1; i + 1 < count; ++i)
        neighbours += residue(i) * residue(i + 1);
    const double correlation = std::clamp(neighbours / residues, 0.0, 0.99);
    *metrics.stepSlopeErrorNsPerToken *= std::sqrt((1 + correlation) / (1 - correlation));
}

// Span from the first to the last output token.
std::int64_t decodeNs(const RunRecord &record)
{
    return record.outputTokens.empty() ? 0 : record.outputTokens.back().timeNs - record.outputTokens.front().timeNs;
}

} // namespace

Metrics metricsOf(const RunRecord &record)
{
    Metrics metrics;
    metrics.promptTokens = static_cast<int>(record.promptTokens.size());
    metrics.reusedTokens = record.reusedTokens;
    metrics.evaluatedTokens = metrics.promptTokens - metrics.reusedTokens;
    metrics.outputTokens = static_cast<int>(record.outputTokens.size());
    metrics.contextTokens = metrics.promptTokens + metrics.outputTokens;
    metrics.passes = std::max(metrics.outputTokens, record.prefillChunks.empty() ? 0 : 1);
    metrics.templateNs = phaseNs(record, Phase::Template);
    metrics.tokenizeNs = phaseNs(record, Phase::Tokenize);

    std::int64_t prefillNs = 0;
    for (const PrefillChunkRecord &chunk : record.prefillChunks) {
        prefillNs += chunk.endNs - chunk.beginNs;
        metrics.computedTokens += chunk.to - chunk.from;
    }
    metrics.prefillNs = measured(prefillNs);
    if (metrics.prefillNs && metrics.computedTokens > 0)
        metrics.prefillTokensPerSecond = metrics.computedTokens * kNsPerSecond / *metrics.prefillNs;

    if (!record.outputTokens.empty()) {
        metrics.ttftNs = measured(record.outputTokens.front().timeNs);
        metrics.endToEndNs = measured(record.outputTokens.back().timeNs);
    }
    if (const auto span = measured(decodeNs(record)); span && metrics.outputTokens >= 2) {
        metrics.tpotNs = *span / (metrics.outputTokens - 1);
        metrics.decodeTokensPerSecond = kNsPerSecond / *metrics.tpotNs;
    }
    setGaps(record, metrics);
    setSlope(record, metrics);

    for (const KvSample &sample : record.kv) {
        metrics.kvUsedBytes = std::max(metrics.kvUsedBytes.value_or(0), sample.usedBytes);
        metrics.kvAllocatedBytes = std::max(metrics.kvAllocatedBytes.value_or(0), sample.allocatedBytes);
    }
    return metrics;
}

bool hasClearSlope(const Metrics &metrics)
{
    return metrics.stepSlopeNsPerToken &&
           std::abs(*metrics.stepSlopeNsPerToken) > 3 * metrics.stepSlopeErrorNsPerToken.value_or(0);
}

} // namespace lectern
