// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/event.h"

#include <algorithm>

namespace lectern {

namespace {

// The phase grows with what arrives, so that a live timeline always ends at the newest event.
void extendPhase(RunRecord &record, Phase phase, std::int64_t beginNs, std::int64_t endNs)
{
    const auto found = std::find_if(record.phases.begin(), record.phases.end(),
                                    [phase](const PhaseRecord &entry) { return entry.phase == phase; });
    if (found == record.phases.end())
        record.phases.push_back({phase, beginNs, endNs});
    else
        found->endNs = std::max(found->endNs, endNs);
}

struct Apply
{
    RunRecord &record;

    void operator()(const LoadProgress &) const {} // belongs to no run

    void operator()(const Queued &queued) const
    {
        record = queued.record;
        record.state = RunState::Queued;
    }

    void operator()(const Tokenized &event) const
    {
        record.promptText = event.promptText;
        record.userRanges = event.userRanges;
        record.promptTokens = event.tokens;
        record.reusedTokens = event.reusedTokens;
        record.phases = event.phases;
        record.state = RunState::Prefill;
    }

    void operator()(const PrefillChunk &event) const
    {
        record.prefillChunks.push_back(event.chunk);
        record.kv.push_back(event.kv);
        extendPhase(record, Phase::Prefill, event.chunk.beginNs, event.chunk.endNs);
        record.state = RunState::Prefill;
    }

    void operator()(const TokenProduced &event) const
    {
        extendPhase(record, Phase::Decode, event.token.timeNs, event.token.timeNs);
        record.outputTokens.push_back(event.token);
        record.kv.push_back(event.kv);
        record.state = RunState::Decode;
    }

    void operator()(const KvGrew &event) const { record.kv.push_back(event.kv); }

    void operator()(const PassTraced &event) const { record.passes.push_back(event.pass); }

    // The state stays: what was produced is kept, and the run goes on where it was once its blocks are filled again.
    void operator()(const Preempted &event) const
    {
        record.preemptions.push_back(event.preemption);
        record.kv.push_back(event.kv);
    }

    void operator()(const Finished &event) const
    {
        record.finishReason = event.reason;
        record.stopString = event.stopString;
        record.tailText = event.tailText;
        record.endedInsideCharacter = event.endedInsideCharacter;
        record.endNs = event.timeNs;
        record.pausedNs = event.pausedNs;
        record.state = RunState::Finished;
    }

    void operator()(const Failed &event) const
    {
        record.error = event.error;
        record.tailText = event.tailText;
        record.endNs = event.timeNs;
        record.pausedNs = event.pausedNs;
        record.state = RunState::Failed;
    }
};

} // namespace

void apply(const Event &event, RunRecord &record)
{
    std::visit(Apply{record}, event.body);
}

std::string RunRecord::answer() const
{
    std::string text;
    for (const TokenRecord &token : outputTokens)
        text += token.text;
    return text + tailText;
}

} // namespace lectern
