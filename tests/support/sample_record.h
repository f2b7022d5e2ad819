// SPDX-License-Identifier: GPL-3.0-or-later
// Run records made up from a few numbers, for tests of charts and tables: no model, no clock, the same every time.
#pragma once

#include "engine/trace/run_record.h"

namespace lectern {

struct SampleRun
{
    int promptTokens = 11;
    int outputTokens = 46;
    int reusedTokens = 0;
    int chunkTokens = 512;
    double prefillMsPerToken = 2.1;
    double stepMs = 2.1;
    double stepMsPerToken = 0.0009; // added for each token of context
    CacheMode cache = CacheMode::Kv;
    bool isFinished = true;
    bool isTraced = false; // with a pass of 244 operations for each chunk and each step
};

// The lesson's shape: tokenize 0.6 ms, prefill in chunks, then one step a token; 23,040 KV bytes a token in blocks
// of 16.
RunRecord sampleRecord(const SampleRun &run = {});

// What one more decode step adds: an output token and a KV sample.
void appendOutput(RunRecord &record, const SampleRun &run, int count);
void finish(RunRecord &record, FinishReason reason = FinishReason::EndToken);

} // namespace lectern
