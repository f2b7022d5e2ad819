// SPDX-License-Identifier: GPL-3.0-or-later
// One definition of each metric, derived from the record and nowhere else. Missing is nullopt, never zero.
#pragma once

#include "engine/trace/run_record.h"

#include <cstdint>
#include <optional>

namespace lectern {

struct Metrics
{
    int promptTokens = 0;
    int reusedTokens = 0;
    int evaluatedTokens = 0; // prompt − reused: what prefill has to compute
    int computedTokens = 0;  // what it computed: fewer in a run that was stopped
    int outputTokens = 0;
    int passes = 0; // forward passes: prefill counts as one

    std::optional<double> ttftNs; // first output token available − submitted
    std::optional<double> templateNs, tokenizeNs;
    std::optional<double> prefillNs;                    // forward passes over the prompt only
    std::optional<double> prefillTokensPerSecond;       // computed ÷ prefill time
    std::optional<double> tpotNs;                       // (last token − first token) ÷ (output tokens − 1)
    std::optional<double> decodeTokensPerSecond;        // 1 ÷ TPOT
    std::optional<double> itlP50Ns, itlP90Ns, itlP99Ns; // gaps between consecutive tokens, nearest rank
    std::optional<double> endToEndNs;                   // last token − submitted
    // Least-squares slope of step time against context length over the decode steps; needs 8 steps or more.
    std::optional<double> stepSlopeNsPerToken;
    std::optional<double> stepSlopeErrorNsPerToken; // its standard error, of the same fit; neighbours may be correlated
    // Largest seen; 0 without a cache, nullopt where no sample of the cache was recorded.
    std::optional<std::uint64_t> kvUsedBytes, kvAllocatedBytes;
    int contextTokens = 0; // prompt + output at the end
};

Metrics metricsOf(const RunRecord &record);

// |slope| > 3 · its standard error. Below that it is noise and not to be shown as a finding.
bool hasClearSlope(const Metrics &metrics);

} // namespace lectern
