// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/operation_totals.h"

#include <limits>

namespace lectern {

namespace {

double perNs(std::uint64_t amount, std::int64_t ns)
{
    return ns > 0 ? static_cast<double>(amount) / static_cast<double>(ns) : 0;
}

void add(const PassRecord &pass, PassTotals &totals)
{
    ++totals.passes;
    totals.ownTokens += pass.ownTokens;
    totals.tokens += pass.tokens;
    totals.ns += pass.endNs - pass.beginNs;
    for (const OperationRecord &entry : pass.operations) {
        OperationTotal &total = totals.operations[static_cast<std::size_t>(entry.operation)];
        ++total.count;
        total.ns += entry.ns;
        total.cost += entry.cost;
    }
}

} // namespace

double OperationTotal::gigabytesPerSecond() const
{
    return perNs(cost.weightBytes + cost.kvBytes, ns);
}

double OperationTotal::gigaflopsPerSecond() const
{
    return perNs(cost.flops, ns);
}

std::int64_t PassTotals::restNs() const
{
    std::int64_t rest = ns;
    for (const OperationTotal &total : operations)
        rest -= total.ns;
    return rest;
}

OperationTotals operationTotalsOf(const RunRecord &record)
{
    const std::int64_t firstTokenNs =
        record.outputTokens.empty() ? std::numeric_limits<std::int64_t>::max() : record.outputTokens.front().timeNs;
    OperationTotals totals;
    for (const PassRecord &pass : record.passes) {
        const bool isComputedAgain = record.request.cache == CacheMode::Kv && pass.ownTokens > 1;
        add(pass, pass.beginNs < firstTokenNs || isComputedAgain ? totals.prefill : totals.decode);
    }
    return totals;
}

} // namespace lectern
