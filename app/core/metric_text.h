// SPDX-License-Identifier: GPL-3.0-or-later
// Names, values and definitions of the metrics as people read them: one table for the strip, the tables and the
// exports.
#pragma once

#include "engine/trace/metrics.h"

#include <QString>

#include <vector>

namespace lectern {

enum class MetricId
{
    Ttft,
    Prefill,
    Tpot,
    Decode,
    ItlP99,
    Total,
    Kv
};

struct MetricText
{
    MetricId id;
    QString name;       // "TTFT"
    QString longName;   // "Time to first token"
    QString value;      // "24.6 ms", "—" when not measured
    QString definition; // one or two sentences, with this run's numbers put in where it helps; plain text
    QString toolTip;    // rich text: names, value, definition, and which other tools mean something else by the name
};

std::vector<MetricText> metricTexts(const Metrics &metrics);
MetricText metricText(MetricId id, const Metrics &metrics);

// Why a run ended, for people: "end of answer", "stopped by you", "context full (8,192 tokens)".
QString outcomeText(const RunRecord &record);

// "SmolLM2-135M-Instruct": from the file's name, which says more than general.name, often a note of the training
// ("Smollm2 135M 8k Lc100K Mix1 Ep2").
QString modelTitle(const ModelInfo &model);

} // namespace lectern
