// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/sample_record.h"

#include <algorithm>
#include <cmath>

namespace lectern {

namespace {

constexpr std::uint64_t kBytesPerToken = 23'040;
constexpr int kBlock = 16;

std::int64_t nsOf(double ms)
{
    return std::llround(ms * 1e6);
}

KvSample kvSample(const RunRecord &record, std::int64_t timeNs, int tokens)
{
    if (record.request.cache == CacheMode::None)
        return {timeNs, 0, 0, 0};
    const auto blocks = static_cast<std::uint64_t>((tokens + kBlock - 1) / kBlock);
    return {timeNs, tokens, kBytesPerToken * static_cast<std::uint64_t>(tokens), kBytesPerToken * kBlock * blocks};
}

TokenRecord token(int index)
{
    TokenRecord record;
    record.id = 100 + index;
    record.bytes = " w" + std::to_string(index);
    record.text = record.bytes;
    return record;
}

// Repeatable unevenness between -1 and 1.
double wobble(int index)
{
    return std::sin(index * 12.9898) * std::cos(index * 4.1414);
}

} // namespace

RunRecord sampleRecord(const SampleRun &run)
{
    RunRecord record;
    record.programVersion = "0.1.0";
    record.createdUtc = "2025-01-01T10:00:00Z";
    record.model.name = "SmolLM2-135M-Instruct";
    record.model.quantisation = "Q4_1";
    record.model.layers = 30;
    record.engine.backend = "cpu";
    record.engine.threads = 2;
    record.engine.kvBytesPerToken = kBytesPerToken;
    record.engine.kvBlockTokens = kBlock;
    record.engine.contextTokens = 8192;
    record.request.cache = run.cache;
    record.request.maxTokens = std::max(128, run.outputTokens);
    for (int i = 0; i < run.promptTokens; ++i) {
        TokenRecord &next = record.promptTokens.emplace_back(token(i));
        next.begin = record.promptText.size();
        record.promptText += next.bytes;
        next.end = record.promptText.size();
    }
    record.reusedTokens = run.reusedTokens;
    record.phases = {{Phase::Template, 0, nsOf(0.1)}, {Phase::Tokenize, nsOf(0.1), nsOf(0.7)}};
    record.state = RunState::Prefill;
    double ms = 0.7;
    for (int from = run.reusedTokens; from < run.promptTokens; from += run.chunkTokens) {
        const int to = std::min(run.promptTokens, from + run.chunkTokens);
        const double end = ms + (to - from) * run.prefillMsPerToken * (1 + from * 0.00002);
        record.prefillChunks.push_back({from, to, nsOf(ms), nsOf(end)});
        record.kv.push_back(kvSample(record, nsOf(end), to));
        ms = end;
    }
    record.phases.push_back({Phase::Prefill, nsOf(0.7), nsOf(ms)});
    appendOutput(record, run, run.outputTokens);
    if (run.isFinished)
        finish(record);
    return record;
}

void appendOutput(RunRecord &record, const SampleRun &run, int count)
{
    const int prompt = static_cast<int>(record.promptTokens.size());
    for (int added = 0; added < count; ++added) {
        const int i = static_cast<int>(record.outputTokens.size());
        const std::int64_t before = i > 0 ? record.outputTokens.back().timeNs : record.prefillChunks.back().endNs;
        const double context = prompt + i;
        const std::int64_t step =
            i == 0 ? nsOf(0.05) : nsOf(run.stepMs * (1 + 0.06 * wobble(i)) + context * run.stepMsPerToken);
        TokenRecord next = token(i);
        next.timeNs = before + step;
        next.stepNs = step;
        next.logprob = -0.5F;
        const KvSample sample = kvSample(record, next.timeNs, prompt + i);
        next.kvTokens = sample.tokens;
        next.kvBytes = sample.usedBytes;
        record.outputTokens.push_back(std::move(next));
        record.kv.push_back(sample);
        record.state = RunState::Decode;
    }
}

void finish(RunRecord &record, FinishReason reason)
{
    record.state = RunState::Finished;
    record.finishReason = reason;
    if (record.outputTokens.empty()) {
        record.endNs = record.prefillChunks.empty() ? 0 : record.prefillChunks.back().endNs;
        return;
    }
    record.endNs = record.outputTokens.back().timeNs;
    if (record.outputTokens.size() > 1)
        record.phases.push_back({Phase::Decode, record.outputTokens.front().timeNs, record.endNs});
}

} // namespace lectern
