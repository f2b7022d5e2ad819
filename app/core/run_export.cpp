// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run_export.h"

#include "app/core/csv.h"
#include "app/core/file_path.h"
#include "app/core/format.h"
#include "app/core/metric_definitions.h"
#include "engine/base/file.h"
#include "engine/base/utf8.h"
#include "engine/trace/metrics.h"
#include "engine/trace/names.h"
#include "engine/trace/run_json.h"

#include <algorithm>
#include <string_view>

namespace lectern {

namespace {

constexpr double kNsPerMs = 1e6;

CsvCell milliseconds(std::int64_t ns)
{
    return CsvCell::number(static_cast<double>(ns) / kNsPerMs);
}

// A character made of several tokens stands beside the token that completes it; the others have their bytes only.
class TextColumn
{
public:
    QByteArray next(const TokenRecord &token)
    {
        if (token.isSpecial) {
            m_gate.finish(); // what was open stays without text
            return QByteArray::fromStdString(replaceInvalidUtf8(token.bytes).text);
        }
        return QByteArray::fromStdString(m_gate.push(token.bytes));
    }

private:
    Utf8Gate m_gate;
};

QByteArray hexColumn(const TokenRecord &token)
{
    return hexBytes(token.bytes).toLatin1();
}

CsvCell yesNo(bool value)
{
    return value ? "1" : "0";
}

struct SeriesRow
{
    std::int64_t timeNs;
    QByteArray line;
};

} // namespace

QByteArray tokensCsv(const RunRecord &record)
{
    QByteArray csv = "part,index,id,bytes_hex,text,special,time_ms,step_ms,logprob,rank,kv_tokens,kv_bytes\r\n";
    TextColumn promptText;
    for (std::size_t i = 0; i < record.promptTokens.size(); ++i) {
        const TokenRecord &token = record.promptTokens[i];
        csv += csvRow({"prompt",
                       CsvCell::number(i),
                       CsvCell::number(token.id),
                       hexColumn(token),
                       promptText.next(token),
                       yesNo(token.isSpecial),
                       {},
                       {},
                       {},
                       {},
                       {},
                       {}});
    }
    TextColumn outputText;
    for (std::size_t i = 0; i < record.outputTokens.size(); ++i) {
        const TokenRecord &token = record.outputTokens[i];
        csv += csvRow({"output", CsvCell::number(i), CsvCell::number(token.id), hexColumn(token),
                       outputText.next(token), yesNo(token.isSpecial), milliseconds(token.timeNs),
                       milliseconds(token.stepNs), CsvCell::number(token.logprob), CsvCell::number(token.rank),
                       CsvCell::number(token.kvTokens), CsvCell::number(token.kvBytes)});
    }
    return csv;
}

QByteArray seriesCsv(const RunRecord &record)
{
    const std::size_t promptCount = record.promptTokens.size();
    std::vector<SeriesRow> rows;
    std::vector<bool> isTold(record.kv.size(), false);
    std::size_t search = 0; // samples and events both run forward in time
    const auto kvAt = [&](std::int64_t timeNs) -> const KvSample * {
        while (search < record.kv.size() && record.kv[search].timeNs < timeNs)
            ++search;
        for (std::size_t i = search; i < record.kv.size() && record.kv[i].timeNs == timeNs; ++i) {
            if (!isTold[i]) {
                isTold[i] = true;
                return &record.kv[i];
            }
        }
        return nullptr;
    };
    const auto add = [&](std::int64_t timeNs, const QByteArray &event, std::size_t from, std::size_t to,
                         std::int64_t stepNs, const KvSample *kv) {
        rows.push_back({timeNs, csvRow({milliseconds(timeNs), event, CsvCell::number(from), CsvCell::number(to),
                                        milliseconds(stepNs), kv ? CsvCell::number(kv->tokens) : CsvCell(),
                                        kv ? CsvCell::number(kv->usedBytes) : CsvCell(),
                                        kv ? CsvCell::number(kv->allocatedBytes) : CsvCell()})});
    };

    for (const PhaseRecord &phase : record.phases)
        if (phase.phase == Phase::Template || phase.phase == Phase::Tokenize)
            add(phase.endNs, QByteArray::fromStdString(std::string(nameOf(phase.phase))), 0, promptCount,
                phase.endNs - phase.beginNs, nullptr);
    for (const PrefillChunkRecord &chunk : record.prefillChunks)
        add(chunk.endNs, "prefill", static_cast<std::size_t>(chunk.from), static_cast<std::size_t>(chunk.to),
            chunk.endNs - chunk.beginNs, kvAt(chunk.endNs));
    for (std::size_t i = 0; i < record.outputTokens.size(); ++i) {
        const TokenRecord &token = record.outputTokens[i];
        add(token.timeNs, "token", promptCount + i, promptCount + i + 1, token.stepNs, kvAt(token.timeNs));
    }
    for (std::size_t i = 0; i < record.kv.size(); ++i) {
        const KvSample &kv = record.kv[i];
        if (!isTold[i])
            rows.push_back({kv.timeNs, csvRow({milliseconds(kv.timeNs),
                                               "kv",
                                               {},
                                               {},
                                               {},
                                               CsvCell::number(kv.tokens),
                                               CsvCell::number(kv.usedBytes),
                                               CsvCell::number(kv.allocatedBytes)})});
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const SeriesRow &a, const SeriesRow &b) { return a.timeNs < b.timeNs; });

    QByteArray csv = "time_ms,event,from_token,to_token,step_ms,kv_tokens,kv_used_bytes,kv_allocated_bytes\r\n";
    for (const SeriesRow &entry : rows)
        csv += entry.line;
    return csv;
}

namespace {

CsvCell metricValue(std::string_view key, const Metrics &m, const RunRecord &record)
{
    const auto ms = [](std::optional<double> ns) { return ns ? CsvCell::number(*ns / kNsPerMs) : CsvCell(); };
    const auto plain = [](std::optional<double> value) { return value ? CsvCell::number(*value) : CsvCell(); };
    const auto bytes = [](std::optional<std::uint64_t> value) { return value ? CsvCell::number(*value) : CsvCell(); };
    const std::pair<std::string_view, CsvCell> values[] = {
        {"prompt_tokens", CsvCell::number(m.promptTokens)},
        {"reused_tokens", CsvCell::number(m.reusedTokens)},
        {"evaluated_tokens", CsvCell::number(m.evaluatedTokens)},
        {"output_tokens", CsvCell::number(m.outputTokens)},
        {"context_tokens", CsvCell::number(m.contextTokens)},
        {"passes", CsvCell::number(m.passes)},
        {"ttft_ms", ms(m.ttftNs)},
        {"template_ms", ms(m.templateNs)},
        {"tokenize_ms", ms(m.tokenizeNs)},
        {"prefill_ms", ms(m.prefillNs)},
        {"prefill_tokens_per_second", plain(m.prefillTokensPerSecond)},
        {"tpot_ms", ms(m.tpotNs)},
        {"decode_tokens_per_second", plain(m.decodeTokensPerSecond)},
        {"itl_p50_ms", ms(m.itlP50Ns)},
        {"itl_p90_ms", ms(m.itlP90Ns)},
        {"itl_p99_ms", ms(m.itlP99Ns)},
        {"end_to_end_ms", ms(m.endToEndNs)},
        {"step_slope_ns_per_token", plain(m.stepSlopeNsPerToken)},
        {"step_slope_error_ns_per_token", plain(m.stepSlopeErrorNsPerToken)},
        {"kv_used_bytes", bytes(m.kvUsedBytes)},
        {"kv_allocated_bytes", bytes(m.kvAllocatedBytes)},
        {"paused_ms", milliseconds(record.pausedNs)},
    };
    for (const auto &[name, value] : values)
        if (name == key)
            return value;
    return {};
}

} // namespace

QByteArray metricsCsv(const RunRecord &record)
{
    const Metrics metrics = metricsOf(record);
    QByteArray csv = "name,value,unit,definition\r\n";
    for (const MetricDefinition &definition : metricDefinitions())
        csv += csvRow(
            {definition.key, metricValue(definition.key, metrics, record), definition.unit, definition.definition});
    return csv;
}

Result<void> saveRunAs(const RunRecord &record, const QString &title, const QString &path)
{
    RunRecord named = record;
    named.request.title = title.toStdString();
    return saveRun(named, toFilePath(path));
}

Result<void> writeBytes(const QString &path, const QByteArray &bytes)
{
    return writeFileAtomically(toFilePath(path),
                               std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
}

QString fileNameFor(const QString &title)
{
    constexpr qsizetype kLongest = 60;
    QString name;
    bool isGapOpen = false;
    for (const char32_t c : title.toUcs4()) {
        if (!QChar::isLetterOrNumber(c) && !QChar::isMark(c)) {
            isGapOpen = !name.isEmpty();
            continue;
        }
        const QString next = (isGapOpen ? QStringLiteral("-") : QString()) + QString::fromUcs4(&c, 1);
        if (name.size() + next.size() > kLongest)
            break;
        name += next;
        isGapOpen = false;
    }
    return name.isEmpty() ? QStringLiteral("run") : name;
}

} // namespace lectern
