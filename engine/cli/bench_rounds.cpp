// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/bench_rounds.h"

#include "engine/base/clock.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lectern::cli {

Spread rateOf(double amountPerRound, const std::vector<double> &seconds)
{
    double total = 0;
    for (const double s : seconds)
        total += s;
    const auto count = static_cast<double>(seconds.size());
    Spread spread{amountPerRound * count / total, 0};
    if (seconds.size() < 2)
        return spread;
    double squares = 0;
    for (const double s : seconds)
        squares += std::pow(amountPerRound / s - spread.mean, 2);
    spread.stddev = std::sqrt(squares / (count - 1));
    return spread;
}

std::string BenchSeries::name() const
{
    const std::string together = sequences.size() > 1 ? std::to_string(sequences.size()) + " x " : "";
    return isPrefill() ? "prefill" : together + "decode at " + std::to_string(depth);
}

Result<void> checkPlan(const BenchPlan &plan, const ModelSpec &spec)
{
    std::int64_t most = 0;
    for (const int count : plan.prompts)
        most = std::max<std::int64_t>(most, count);
    for (const int depth : plan.depths)
        most = std::max(most, std::int64_t{depth} + plan.decodeTokens);
    if (most > spec.contextLength)
        return fail(ErrorCode::InvalidInput, countOf(static_cast<std::uint64_t>(most), "token") +
                                                 " are asked for, the model's context holds " +
                                                 std::to_string(spec.contextLength));
    return {};
}

BenchRounds::BenchRounds(const Model &model, Backend &backend, BenchPlan plan, const StopFlag &stop)
    : m_model(model)
    , m_backend(backend)
    , m_plan(std::move(plan))
    , m_stop(stop)
{
}

// Any ids will do: the work does not depend on them. Decoding wants logits at every token, prefill at the last.
Result<void> BenchRounds::forward(BenchSeries &series, int tokens, int tokensPerPass, bool wantsLogits,
                                  std::uint64_t *bytes)
{
    for (int done = 0; done < tokens; done += tokensPerPass) {
        std::vector<TokenId> ids(static_cast<std::size_t>(std::min(tokensPerPass, tokens - done)));
        for (std::size_t i = 0; i < ids.size(); ++i)
            ids[i] = (done + static_cast<TokenId>(i)) * 7 % m_model.spec.vocabulary;
        const bool isLast = done + static_cast<int>(ids.size()) == tokens;
        const int logits = wantsLogits && (isLast || tokensPerPass == 1) ? 1 : 0;
        std::vector<BatchSlice> batch;
        for (const auto &kv : series.sequences)
            batch.push_back({kv.get(), ids, logits, &m_stop});
        PassTrace trace;
        const auto result = m_backend.forward(batch, bytes ? &trace : nullptr);
        if (!result)
            return tl::unexpected(result.error());
        if (bytes)
            *bytes += trace.total().weightBytes + trace.total().kvBytes;
    }
    return {};
}

Result<void> BenchRounds::reserveMemory()
{
    const KvLayout layout = KvLayout::of(m_model.spec, m_backend.kvElement());
    std::uint64_t bytes = 0;
    for (const int count : m_plan.prompts)
        bytes += layout.budgetFor(count, 1);
    for (const int depth : m_plan.depths)
        for (const int count : m_plan.sequences)
            bytes += layout.budgetFor(depth + m_plan.decodeTokens, count);
    Result<std::unique_ptr<KvPool>> pool = createKvPool(m_backend, m_model.spec, bytes, 1);
    if (!pool)
        return tl::unexpected(std::move(pool.error()));
    m_pool = std::move(*pool);
    return {};
}

Result<void> BenchRounds::add(int tokens, int depth, int sequences)
{
    BenchSeries series;
    series.tokens = tokens;
    series.depth = depth;
    for (int i = 0; i < sequences; ++i) {
        BenchSeries one; // filled alone: passes are full then
        one.sequences.push_back(std::make_unique<KvSequence>(*m_pool));
        if (Result<void> filled = forward(one, std::max(depth, 0), kPassTokens, false); !filled)
            return filled;
        series.sequences.push_back(std::move(one.sequences.front()));
    }
    m_series.push_back(std::move(series));
    return {};
}

// A whole round that is not counted tells what a round reads.
Result<void> BenchRounds::warmUp(BenchSeries &series)
{
    return forward(series, series.tokens, series.isPrefill() ? kPassTokens : 1, true, &series.bytes);
}

Result<void> BenchRounds::measure(BenchSeries &series)
{
    for (const auto &kv : series.sequences)
        kv->truncate(std::max(series.depth, 0));
    const std::int64_t beginNs = nowNs();
    if (Result<void> done = forward(series, series.tokens, series.isPrefill() ? kPassTokens : 1, true); !done)
        return done;
    series.seconds.push_back(static_cast<double>(nowNs() - beginNs) / 1e9);
    return {};
}

Result<void> BenchRounds::run(const std::function<void(const std::string &)> &say)
{
    if (Result<void> ready = reserveMemory(); !ready)
        return ready;
    say("preparing");
    for (const int count : m_plan.prompts)
        if (Result<void> added = add(count, -1, 1); !added)
            return added;
    for (const int depth : m_plan.depths)
        for (const int count : m_plan.sequences)
            if (Result<void> added = add(m_plan.decodeTokens, depth, count); !added)
                return added;
    Result<BandwidthProbe> probe = BandwidthProbe::create(m_plan.probeThreads);
    if (!probe)
        return tl::unexpected(std::move(probe.error()));

    probe->measure(); // warm-up: pages, clock rates, caches
    for (BenchSeries &series : m_series)
        if (Result<void> done = warmUp(series); !done)
            return done;
    for (int round = 0; round < m_plan.rounds; ++round) {
        const std::string turn = "round " + std::to_string(round + 1) + " of " + std::to_string(m_plan.rounds) + ": ";
        say(turn + "read bandwidth");
        m_probeSeconds.push_back(static_cast<double>(BandwidthProbe::kBytes) / probe->measure());
        for (BenchSeries &series : m_series) {
            say(turn + series.name() + ", " + countOf(static_cast<std::uint64_t>(series.tokens), "token"));
            if (Result<void> done = measure(series); !done)
                return done;
        }
    }
    return {};
}

} // namespace lectern::cli
