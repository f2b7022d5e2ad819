// SPDX-License-Identifier: GPL-3.0-or-later
// The flat parts of a run record as lists of fields, one list for writing and for reading: what is saved is what is
// loaded. `visit(name, field)` or, for what has other limits than its type's usual ones, `visit(name, field, limits)`.
#pragma once

#include "engine/trace/run_record.h"

#include <cstdint>
#include <limits>

namespace lectern {

// What a whole number read from a file may be.
struct Limits
{
    std::int64_t min = 0;
    std::int64_t max = std::numeric_limits<std::int64_t>::max();
};
inline constexpr Limits kCounts{0, std::numeric_limits<int>::max()};
inline constexpr Limits kAnyInt{std::numeric_limits<int>::min(), std::numeric_limits<int>::max()};
// Amounts that no real run reaches; sums and products of values below them do not overflow.
inline constexpr Limits kByteCounts{0, std::int64_t{1} << 50};
inline constexpr Limits kOperationCosts = kByteCounts; // bytes and flops of one operation
inline constexpr Limits kTokenByteCounts{0, std::int64_t{1} << 36};
inline constexpr Limits kRunNs{0, 366LL * 24 * 3600 * 1'000'000'000};

// `Record` is the structure, const for writing.
template <class Record, class Visit>
void visitMachine(Record &machine, Visit visit)
{
    visit("cpu", machine.cpu);
    visit("cores", machine.cores);
    visit("instructionSet", machine.instructionSet);
    visit("memoryBytes", machine.memoryBytes);
    visit("gpu", machine.gpu);
    visit("system", machine.system);
}

template <class Record, class Visit>
void visitModel(Record &model, Visit visit)
{
    visit("name", model.name);
    visit("fileName", model.fileName);
    visit("architecture", model.architecture);
    visit("quantisation", model.quantisation);
    visit("tokenizer", model.tokenizer);
    visit("sha256", model.sha256);
    visit("fileBytes", model.fileBytes);
    visit("parameters", model.parameters);
    visit("layers", model.layers);
    visit("width", model.width);
    visit("heads", model.heads);
    visit("kvHeads", model.kvHeads);
    visit("headSize", model.headSize);
    visit("feedForward", model.feedForward);
    visit("vocabulary", model.vocabulary);
    visit("contextLength", model.contextLength);
}

template <class Record, class Visit>
void visitEngine(Record &engine, Visit visit)
{
    visit("backend", engine.backend);
    // A request that was refused since no model was loaded has no engine; else these are at least 1.
    const auto atLeastOne = [&engine](std::int64_t max) { return Limits{engine.backend.empty() ? 0 : 1, max}; };
    visit("instructionSet", engine.instructionSet);
    visit("threads", engine.threads, atLeastOne(1 << 20));
    visit("weightBytes", engine.weightBytes);
    visit("kvBytesPerToken", engine.kvBytesPerToken, kTokenByteCounts);
    visit("kvBudgetBytes", engine.kvBudgetBytes);
    visit("kvBlockTokens", engine.kvBlockTokens, atLeastOne(1 << 20));
    visit("contextTokens", engine.contextTokens, atLeastOne(kCounts.max));
}

template <class Record, class Visit>
void visitChunk(Record &chunk, Visit visit)
{
    visit("from", chunk.from);
    visit("to", chunk.to);
    visit("beginNs", chunk.beginNs);
    visit("endNs", chunk.endNs);
}

template <class Record, class Visit>
void visitKvSample(Record &sample, Visit visit)
{
    visit("timeNs", sample.timeNs);
    visit("tokens", sample.tokens);
    visit("usedBytes", sample.usedBytes);
    visit("allocatedBytes", sample.allocatedBytes);
}

template <class Record, class Visit>
void visitPass(Record &pass, Visit visit)
{
    visit("beginNs", pass.beginNs);
    visit("endNs", pass.endNs);
    visit("sequences", pass.sequences, Limits{1, kCounts.max});
    visit("tokens", pass.tokens);
    visit("ownTokens", pass.ownTokens);
}

template <class Record, class Visit>
void visitPreemption(Record &preemption, Visit visit)
{
    visit("timeNs", preemption.timeNs);
    visit("tokens", preemption.tokens);
}

template <class Record, class Visit>
void visitTokenBase(Record &token, Visit visit)
{
    visit("id", token.id);
    visit("bytes", token.bytes);
    visit("special", token.isSpecial);
}

template <class Record, class Visit>
void visitOutputToken(Record &token, Visit visit)
{
    visitTokenBase(token, visit);
    visit("text", token.text);
    visit("timeNs", token.timeNs);
    visit("stepNs", token.stepNs);
    visit("logprob", token.logprob);
    visit("rank", token.rank);
    visit("kvTokens", token.kvTokens);
    visit("kvBytes", token.kvBytes);
}

} // namespace lectern
