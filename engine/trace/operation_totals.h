// SPDX-License-Identifier: GPL-3.0-or-later
// What the traced passes of a run add up to, operation by operation: where the time went, what was read and computed.
#pragma once

#include "engine/trace/run_record.h"

#include <array>

namespace lectern {

struct OperationTotal
{
    int count = 0; // how often it ran
    std::int64_t ns = 0;
    OperationCost cost;

    double gigabytesPerSecond() const; // weights, keys and values; 0 where no time was measured
    double gigaflopsPerSecond() const;
};

struct PassTotals
{
    int passes = 0;
    std::int64_t ownTokens = 0; // of the run
    std::int64_t tokens = 0;    // of all sequences
    std::int64_t ns = 0;        // of the passes: what lies between operations included
    std::array<OperationTotal, kOperationCount> operations;

    const OperationTotal &of(Operation operation) const { return operations[static_cast<std::size_t>(operation)]; }
    std::int64_t restNs() const; // in no operation
};

// Prefill: until the first token is there, and what is computed again after a preemption. Decode: what follows, a token
// of this run a pass; without a cache the whole context a pass. Where other sequences took part, all of a pass is
// counted: it is done once for all of them.
struct OperationTotals
{
    PassTotals prefill;
    PassTotals decode;
};

OperationTotals operationTotalsOf(const RunRecord &record);

} // namespace lectern
