// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/metric_text.h"

#include "app/core/format.h"
#include "app/core/metric_definitions.h"

#include <QCoreApplication>

namespace lectern {

namespace {

class MetricTexts // translation context only
{
    Q_DECLARE_TR_FUNCTIONS(lectern::MetricTexts)

public:
    static MetricText text(MetricId id, const Metrics &metrics);
    static QString ttftNumbers(const Metrics &m);
    static QString prefillNumbers(const Metrics &m);
    static QString tpotNumbers(const Metrics &m);
    static QString decodeNumbers(const Metrics &m);
    static QString itlNumbers(const Metrics &m);
    static QString totalNumbers(const Metrics &m);
    static QString kvNumbers(const Metrics &m);
    static QString finished(const RunRecord &record);
};

QString MetricTexts::ttftNumbers(const Metrics &m)
{
    if (!m.ttftNs)
        return tr("Not measured: no token yet.");
    return tr("Here: template %1, tokenizing %2, prefill %3; the rest is queueing and sampling.")
        .arg(formatDuration(m.templateNs), formatDuration(m.tokenizeNs), formatDuration(m.prefillNs));
}

QString MetricTexts::prefillNumbers(const Metrics &m)
{
    if (!m.prefillTokensPerSecond)
        return tr("Not measured: nothing has been computed.");
    return tr("Here: %1 ÷ %2; prompt tokens: %3, from the cache: %4.")
        .arg(formatCount(m.computedTokens), formatDuration(m.prefillNs), formatCount(m.promptTokens),
             formatCount(m.reusedTokens));
}

QString MetricTexts::tpotNumbers(const Metrics &m)
{
    if (!m.tpotNs)
        return tr("Not measured: there are fewer than two tokens.");
    return tr("Here: (%1 − %2) ÷ (%3 − 1).")
        .arg(formatDuration(m.endToEndNs), formatDuration(m.ttftNs), formatCount(m.outputTokens));
}

QString MetricTexts::decodeNumbers(const Metrics &m)
{
    if (!m.decodeTokensPerSecond)
        return tr("Not measured: there are fewer than two tokens.");
    return tr("Here: 1 ÷ %1.").arg(formatDuration(m.tpotNs));
}

QString MetricTexts::itlNumbers(const Metrics &m)
{
    if (!m.itlP99Ns)
        return tr("Not measured: there are fewer than two tokens.");
    return tr("Here: p50 %1, p90 %2, p99 %3.")
        .arg(formatDuration(m.itlP50Ns), formatDuration(m.itlP90Ns), formatDuration(m.itlP99Ns));
}

QString MetricTexts::totalNumbers(const Metrics &m)
{
    if (!m.endToEndNs)
        return tr("Not measured: no token yet.");
    if (!m.tpotNs)
        return tr("Here: %1 until the first token, the only one.").arg(formatDuration(m.ttftNs));
    return tr("Here: %1 until the first token, then %2 · %3.")
        .arg(formatDuration(m.ttftNs), formatCount(m.outputTokens - 1), formatDuration(m.tpotNs));
}

QString MetricTexts::kvNumbers(const Metrics &m)
{
    if (!m.kvUsedBytes)
        return tr("Not measured: the run has no sample of the cache.");
    return tr("Here: %1 used and %2 allocated; tokens in the context: %3.")
        .arg(formatBytes(*m.kvUsedBytes), formatBytes(m.kvAllocatedBytes.value_or(0)), formatCount(m.contextTokens));
}

struct Parts
{
    QString name, longName, value, numbers;
    const char *key;
};

QString kvValue(const Metrics &metrics)
{
    return metrics.kvUsedBytes ? formatBytes(*metrics.kvUsedBytes) : formatNumber(std::nullopt);
}

MetricText MetricTexts::text(MetricId id, const Metrics &m)
{
    const Parts parts = [&]() -> Parts {
        switch (id) {
        case MetricId::Ttft:
            return {tr("TTFT"), tr("Time to first token"), formatDuration(m.ttftNs), ttftNumbers(m), "ttft_ms"};
        case MetricId::Prefill:
            return {tr("Prefill"), tr("Prefill speed"), formatRate(m.prefillTokensPerSecond), prefillNumbers(m),
                    "prefill_tokens_per_second"};
        case MetricId::Tpot:
            return {tr("TPOT"), tr("Time per output token"), formatDuration(m.tpotNs), tpotNumbers(m), "tpot_ms"};
        case MetricId::Decode:
            return {tr("Decode"), tr("Decode speed"), formatRate(m.decodeTokensPerSecond), decodeNumbers(m),
                    "decode_tokens_per_second"};
        case MetricId::ItlP99:
            return {tr("ITL p99"), tr("Inter-token latency, 99th percentile"), formatDuration(m.itlP99Ns),
                    itlNumbers(m), "itl_p99_ms"};
        case MetricId::Total:
            return {tr("Total"), tr("End-to-end time"), formatDuration(m.endToEndNs), totalNumbers(m), "end_to_end_ms"};
        case MetricId::Kv:
            break;
        }
        return {tr("KV"), tr("KV cache used"), kvValue(m), kvNumbers(m), "kv_used_bytes"};
    }();

    MetricText text{id, parts.name, parts.longName, parts.value, translatedDefinition(parts.key), {}};
    text.toolTip = QStringLiteral("<p><b>%1: %2</b></p><p>%3</p><p>%4</p>")
                       .arg(text.longName.toHtmlEscaped(), text.value.toHtmlEscaped(), text.definition.toHtmlEscaped(),
                            parts.numbers.toHtmlEscaped());
    if (const QString others = translatedOtherTools(parts.key); !others.isEmpty())
        text.toolTip += QStringLiteral("<p><i>%1</i></p>").arg(others.toHtmlEscaped());
    text.definition += u' ' + parts.numbers;
    return text;
}

QString MetricTexts::finished(const RunRecord &record)
{
    if (!record.finishReason)
        return tr("ended");
    switch (*record.finishReason) {
    case FinishReason::EndToken:
        return tr("end of answer");
    case FinishReason::StopString:
        return tr("stop text “%1”").arg(visibleTokenText(record.stopString));
    case FinishReason::MaxTokens:
        return tr("limit reached", "of the answer's length");
    case FinishReason::ContextFull:
        return tr("context full (%1 tokens)").arg(formatCount(record.engine.contextTokens));
    case FinishReason::MemoryFull:
        return tr("KV memory full (%1)").arg(formatBytes(record.engine.kvBudgetBytes));
    case FinishReason::Cancelled:
        return tr("stopped by you");
    }
    return tr("ended");
}

} // namespace

MetricText metricText(MetricId id, const Metrics &metrics)
{
    return MetricTexts::text(id, metrics);
}

std::vector<MetricText> metricTexts(const Metrics &metrics)
{
    std::vector<MetricText> texts;
    for (MetricId id : {MetricId::Ttft, MetricId::Prefill, MetricId::Tpot, MetricId::Decode, MetricId::ItlP99,
                        MetricId::Total, MetricId::Kv})
        texts.push_back(metricText(id, metrics));
    return texts;
}

QString outcomeText(const RunRecord &record)
{
    switch (record.state) {
    case RunState::Queued:
        return MetricTexts::tr("waiting");
    case RunState::Prefill:
        return MetricTexts::tr("prefill");
    case RunState::Decode:
        return MetricTexts::tr("decode");
    case RunState::Failed:
        return MetricTexts::tr("failed");
    case RunState::Finished:
        break;
    }
    const QString text = MetricTexts::finished(record);
    return record.endedInsideCharacter ? MetricTexts::tr("%1, inside a character").arg(text) : text;
}

QString modelTitle(const ModelInfo &model)
{
    const QString file = QString::fromStdString(model.fileName);
    return (file.isEmpty() ? QString::fromStdString(model.name) : file.section(QLatin1Char('.'), 0, 0)).simplified();
}

} // namespace lectern
