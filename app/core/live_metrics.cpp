// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/live_metrics.h"

#include <map>

namespace lectern {

namespace {

constexpr std::size_t kExactTokens = 4096;

struct Derived
{
    std::weak_ptr<const RunRecord> record;
    Metrics metrics;
    std::size_t outputTokens = 0, promptTokens = 0, chunks = 0, kvSamples = 0;
    RunState state = RunState::Queued;
};

bool isCurrent(const Derived &derived, const RunRecord &record)
{
    if (derived.record.expired() || derived.state != record.state || derived.chunks != record.prefillChunks.size() ||
        derived.promptTokens != record.promptTokens.size())
        return false;
    if (record.outputTokens.size() > kExactTokens)
        return record.outputTokens.size() <= derived.outputTokens + derived.outputTokens / 50;
    return derived.outputTokens == record.outputTokens.size() && derived.kvSamples == record.kv.size();
}

} // namespace

const Metrics &liveMetrics(const std::shared_ptr<const RunRecord> &record)
{
    static std::map<const RunRecord *, Derived> all;
    const auto found = all.find(record.get());
    if (found != all.end() && isCurrent(found->second, *record))
        return found->second.metrics;
    if (found == all.end()) // a new run: those of runs that are gone go too
        std::erase_if(all, [](const auto &entry) { return entry.second.record.expired(); });
    return (all[record.get()] = {record, metricsOf(*record), record->outputTokens.size(), record->promptTokens.size(),
                                 record->prefillChunks.size(), record->kv.size(), record->state})
        .metrics;
}

} // namespace lectern
