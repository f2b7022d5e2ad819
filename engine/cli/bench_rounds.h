// SPDX-License-Identifier: GPL-3.0-or-later
// The measuring half of lectern-cli bench. A round is: read-bandwidth probe, every prefill, every decode. Rounds are
// interleaved like that since the bandwidth of a shared machine moves from second to second.
#pragma once

#include "engine/backend/backend.h"
#include "engine/cli/bandwidth_probe.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lectern::cli {

// One thing that is measured, with the time of each of its rounds.
struct BenchSeries
{
    int tokens = 0;                                     // of each sequence
    int depth = -1;                                     // tokens held before decoding; -1: prefill
    std::uint64_t bytes = 0;                            // read in one round, as the backend states it
    std::vector<std::unique_ptr<KvSequence>> sequences; // that decode together; one in prefill
    std::vector<double> seconds;

    bool isPrefill() const { return depth < 0; }
    int tokensPerRound() const { return tokens * static_cast<int>(sequences.size()); }
    std::string name() const; // "prefill", "decode at 4096", "8 x decode at 0"
};

struct Spread
{
    double mean = 0;   // total amount over total time: never the mean of rates
    double stddev = 0; // of the single rounds
};
Spread rateOf(double amountPerRound, const std::vector<double> &seconds);

struct BenchPlan
{
    std::vector<int> prompts;
    std::vector<int> depths;
    std::vector<int> sequences; // that decode together, each at every depth
    int decodeTokens = 128;
    int rounds = 5;
    int probeThreads = 1;
};

// InvalidInput when the model's context has no room for the plan. Asked before anything is loaded.
Result<void> checkPlan(const BenchPlan &plan, const ModelSpec &spec);

class BenchRounds
{
public:
    // Model, backend and flag must outlive it.
    BenchRounds(const Model &model, Backend &backend, BenchPlan plan, const StopFlag &stop);

    // Fills the caches of all depths, warms up, measures. Cancelled when the flag is set. `say` hears what comes next.
    Result<void> run(const std::function<void(const std::string &)> &say);

    const std::vector<BenchSeries> &series() const { return m_series; }
    Spread readBandwidth() const { return rateOf(static_cast<double>(BandwidthProbe::kBytes), m_probeSeconds); }

private:
    Result<void> reserveMemory();
    Result<void> add(int tokens, int depth, int sequences);
    Result<void> warmUp(BenchSeries &series);
    Result<void> measure(BenchSeries &series);
    // Every sequence gets `tokens` more, up to `tokensPerPass` of each in a pass. Adds up what was read where asked.
    Result<void> forward(BenchSeries &series, int tokens, int tokensPerPass, bool wantsLogits,
                         std::uint64_t *bytes = nullptr);

    const Model &m_model;
    Backend &m_backend;
    BenchPlan m_plan;
    const StopFlag &m_stop;
    std::unique_ptr<KvPool> m_pool;
    std::vector<BenchSeries> m_series; // after the pool: they give their blocks back to it
    std::vector<double> m_probeSeconds;
};

} // namespace lectern::cli
