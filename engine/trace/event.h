// SPDX-License-Identifier: GPL-3.0-or-later
// What the engine says while it works. Small, movable; emitted on the engine thread; times as in RunRecord.
#pragma once

#include "engine/trace/run_record.h"

#include <variant>

namespace lectern {

using RequestId = std::int64_t;

enum class LoadPhase
{
    Open,
    Validate,
    Tokenizer,
    Weights,
    Ready
};

struct LoadProgress
{
    LoadPhase phase = LoadPhase::Open;
    std::uint64_t doneBytes = 0;
    std::uint64_t totalBytes = 0;
};

struct Queued
{
    RunRecord record; // program, machine, model, engine and request are filled in
};

struct Tokenized
{
    std::string promptText;
    std::vector<TextRange> userRanges;
    std::vector<TokenRecord> tokens;
    int reusedTokens = 0;
    std::vector<PhaseRecord> phases;        // template, tokenize
    std::vector<std::string> warnings = {}; // what is odd about the prompt; English
};

struct PrefillChunk
{
    PrefillChunkRecord chunk;
    KvSample kv;
};

struct TokenProduced
{
    TokenRecord token;
    KvSample kv;
};

struct Finished
{
    FinishReason reason = FinishReason::EndToken;
    std::string stopString;
    std::string tailText;
    bool endedInsideCharacter = false;
    std::int64_t timeNs = 0;
    std::int64_t pausedNs = 0;
};

struct Failed
{
    Error error;
    std::int64_t timeNs = 0;
    std::int64_t pausedNs = 0;
    std::string tailText; // text that was held back when it failed
};

struct KvGrew // blocks were taken from the pool
{
    KvSample kv;
};

struct PassTraced // right before what came out of the pass
{
    PassRecord pass;
};

struct Preempted
{
    PreemptionRecord preemption;
    KvSample kv;
};

using EventBody = std::variant<LoadProgress, Queued, Tokenized, PrefillChunk, TokenProduced, KvGrew, PassTraced,
                               Preempted, Finished, Failed>;

struct Event
{
    RequestId request = 0; // 0: loading
    EventBody body;
};

// Called on the engine thread; must not block and must not call back into the engine.
class EventSink
{
public:
    virtual ~EventSink() = default;
    virtual void emitEvent(Event event) = 0;
};

// Adds an event of a run to its record. The only place where events become records.
void apply(const Event &event, RunRecord &record);

} // namespace lectern
