// SPDX-License-Identifier: GPL-3.0-or-later
// Everything about one run. The live window, a saved run, an overlay and an export all read this structure.
// Times are nanoseconds since submission on the run's clock (time the user paused it is left out).
#pragma once

#include "engine/trace/operation.h"
#include "engine/trace/request.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lectern {

inline constexpr int kRunSchemaVersion = 2; // 2: passes, preemptions, request.tracesOperations

struct MachineInfo
{
    std::string cpu;
    int cores = 0;
    std::string instructionSet;
    std::uint64_t memoryBytes = 0;
    std::string gpu;    // "" if none
    std::string system; // "Linux x86_64"
};

struct ModelInfo
{
    std::string name;
    std::string fileName; // without folder
    std::string architecture;
    std::string quantisation;
    std::string tokenizer; // "gpt2 / smollm"
    std::string sha256;    // "" until known
    std::uint64_t fileBytes = 0;
    std::uint64_t parameters = 0;
    int layers = 0, width = 0, heads = 0, kvHeads = 0, headSize = 0, feedForward = 0, vocabulary = 0, contextLength = 0;
};

struct EngineInfo
{
    std::string backend; // "cpu"
    std::string instructionSet;
    int threads = 0;
    std::uint64_t weightBytes = 0;
    std::uint64_t kvBytesPerToken = 0;
    std::uint64_t kvBudgetBytes = 0;
    int kvBlockTokens = 0;
    int contextTokens = 0; // limit in force
};

struct TokenRecord
{
    TokenId id = 0;
    std::string bytes; // what the token stands for; not always whole characters
    bool isSpecial = false;
    std::size_t begin = 0; // prompt tokens: bytes of RunRecord::promptText
    std::size_t end = 0;
    // Output tokens only:
    std::string text;        // text that became showable with it: whole characters, may be empty
    std::int64_t timeNs = 0; // when it was available
    // Forward pass + sampling of this token. The first one comes out of the last prefill chunk: from that chunk's
    // begin.
    std::int64_t stepNs = 0;
    float logprob = 0;
    int rank = 0;
    std::vector<Candidate> top;
    int kvTokens = 0; // held after it (the token itself is not yet among them); 0 without a cache
    std::uint64_t kvBytes = 0;
};

enum class Phase
{
    Template,
    Tokenize,
    Prefill,
    Decode
};
struct PhaseRecord
{
    Phase phase = Phase::Prefill;
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
};

// One chunk of prefill: prompt tokens [from, to).
struct PrefillChunkRecord
{
    int from = 0, to = 0;
    std::int64_t beginNs = 0, endNs = 0;
};

// KV cache after something changed: a prefill chunk, a token, a block.
struct KvSample
{
    std::int64_t timeNs = 0;
    int tokens = 0;
    std::uint64_t usedBytes = 0;
    std::uint64_t allocatedBytes = 0;
};

// A forward pass that this run took part in, alone or with others; recorded where operations are traced.
struct PassRecord
{
    std::int64_t beginNs = 0, endNs = 0; // sampling of this run's token included
    int sequences = 1;                   // in the pass
    int tokens = 0;                      // of all sequences
    int ownTokens = 0;                   // of this run
    std::vector<OperationRecord> operations;

    bool operator==(const PassRecord &) const = default;
};

// The run lost its blocks to an older one: what they held is computed again later.
struct PreemptionRecord
{
    std::int64_t timeNs = 0;
    int tokens = 0; // held until then

    bool operator==(const PreemptionRecord &) const = default;
};

enum class FinishReason
{
    EndToken,
    StopString,
    MaxTokens,
    ContextFull,
    MemoryFull,
    Cancelled
};

enum class RunState
{
    Queued,
    Prefill,
    Decode,
    Finished,
    Failed
};

struct RunRecord
{
    std::string programVersion;
    std::string createdUtc; // ISO 8601
    MachineInfo machine;
    ModelInfo model;
    EngineInfo engine;
    Request request;
    std::string promptText;            // what was tokenized, after the chat template
    std::vector<TextRange> userRanges; // of promptText, chat only
    std::vector<TokenRecord> promptTokens;
    std::vector<TokenRecord> outputTokens;
    int reusedTokens = 0; // prompt tokens taken from the last run's cache
    std::vector<PhaseRecord> phases;
    std::vector<PrefillChunkRecord> prefillChunks;
    std::vector<KvSample> kv;
    std::vector<PassRecord> passes; // empty without Request::tracesOperations
    std::vector<PreemptionRecord> preemptions;
    std::string tailText; // text released only at the end
    bool endedInsideCharacter = false;
    RunState state = RunState::Queued;
    std::optional<FinishReason> finishReason;
    std::string stopString;     // which one, for StopString
    std::optional<Error> error; // Failed
    std::int64_t endNs = 0;
    std::int64_t pausedNs = 0;

    // The shown answer: all output texts and the tail.
    std::string answer() const;
};

} // namespace lectern
