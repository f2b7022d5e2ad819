// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/sample_record.h"

#include <algorithm>
#include <array>
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

// What SmolLM2-135M in Q4_1 does in one layer for one token, and its share of the time in per mille.
struct LayerOperation
{
    Operation operation;
    int perMille;
    std::uint64_t weightBytes;
    std::uint64_t flops;
};
constexpr int kLayers = 30;
constexpr std::array<LayerOperation, 8> kLayerOperations{{{Operation::AttentionNorm, 20, 2'304, 2'304},
                                                          {Operation::Qkv, 120, 345'600, 1'105'920},
                                                          {Operation::RopeStore, 20, 0, 2'304},
                                                          {Operation::Attention, 140, 0, 0},
                                                          {Operation::AttentionOutput, 80, 207'360, 663'552},
                                                          {Operation::FfnNorm, 20, 2'304, 2'304},
                                                          {Operation::GateUp, 320, 1'105'920, 3'538'944},
                                                          {Operation::Down, 180, 552'960, 1'769'472}}};

// A tenth of the time is spent before and after the layers.
PassRecord tracedPass(std::int64_t beginNs, std::int64_t endNs, int tokens, int contextTokens)
{
    PassRecord pass{beginNs, endNs, 1, tokens, tokens, {}};
    const std::int64_t passNs = endNs - beginNs;
    std::int64_t offsetNs = 0;
    const auto add = [&](Operation operation, int layer, std::int64_t ns, OperationCost cost) {
        cost.flops *= static_cast<std::uint64_t>(tokens);
        pass.operations.push_back({operation, layer, offsetNs, ns, cost});
        offsetNs += ns;
    };
    add(Operation::Embed, -1, passNs / 1000, {360, 0, 576});
    for (int layer = 0; layer < kLayers; ++layer)
        for (const auto &[operation, perMille, weightBytes, flops] : kLayerOperations) {
            const auto context = static_cast<std::uint64_t>(operation == Operation::Attention ? contextTokens : 0);
            add(operation, layer, passNs * perMille / 1000 / kLayers,
                {weightBytes, context * kBytesPerToken / kLayers, flops + context * 4 * 576});
        }
    add(Operation::OutputNorm, -1, passNs / 1000, {2'304, 0, 2'304});
    add(Operation::Logits, -1, passNs * 90 / 1000, {17'694'720, 0, 56'623'104});
    add(Operation::Sample, -1, passNs / 1000, {0, 0, 49'152});
    return pass;
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
    record.model.layers = kLayers;
    record.engine.backend = "cpu";
    record.engine.threads = 2;
    record.engine.kvBytesPerToken = kBytesPerToken;
    record.engine.kvBlockTokens = kBlock;
    record.engine.contextTokens = 8192;
    record.request.cache = run.cache;
    record.request.tracesOperations = run.isTraced;
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
        if (run.isTraced)
            record.passes.push_back(tracedPass(nsOf(ms), nsOf(end), to - from, to));
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
        if (run.isTraced && i > 0) // the first one comes out of the prompt's last pass
            record.passes.push_back(tracedPass(before, next.timeNs, 1, prompt + i));
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
