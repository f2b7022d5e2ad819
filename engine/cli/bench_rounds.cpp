// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/bench_rounds.h"

#include "engine/base/clock.h"
#include "engine/schedule/step_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lectern::cli {

namespace {

constexpr int kWarmUpDecodeTokens = 8;

} // namespace

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
    return isPrefill() ? "prefill" : "decode at " + std::to_string(depth);
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
Result<void> BenchRounds::forward(KvSequence &kv, int tokens, int tokensPerPass, bool wantsLogits)
{
    std::vector<TokenId> ids;
    for (int done = 0; done < tokens; done += static_cast<int>(ids.size())) {
        ids.resize(static_cast<std::size_t>(std::min(tokensPerPass, tokens - done)));
        for (std::size_t i = 0; i < ids.size(); ++i)
            ids[i] = static_cast<TokenId>((static_cast<std::size_t>(kv.tokens()) + i) * 7) % m_model.spec.vocabulary;
        const bool isLast = done + static_cast<int>(ids.size()) == tokens;
        if (Result<void> room = kv.reserve(static_cast<int>(ids.size())); !room)
            return room;
        const auto logits = m_backend.forward(kv, ids, wantsLogits && (isLast || tokensPerPass == 1), m_stop);
        if (!logits)
            return tl::unexpected(logits.error());
    }
    return {};
}

Result<void> BenchRounds::reserveMemory()
{
    std::uint64_t tokens = 0; // of all sequences, each rounded up to whole blocks
    const auto addTokens = [&](int count) {
        tokens += static_cast<std::uint64_t>((count + kKvBlockTokens - 1) / kKvBlockTokens) * kKvBlockTokens;
    };
    for (const int count : m_plan.prompts)
        addTokens(count);
    for (const int depth : m_plan.depths)
        addTokens(depth + m_plan.decodeTokens);
    const KvElement element = m_backend.kvElement();
    Result<KvPool> pool =
        KvPool::create(m_model.spec, element, tokens * m_model.spec.kvBytesPerToken(kvElementBytes(element)));
    if (!pool)
        return tl::unexpected(std::move(pool.error()));
    m_pool = std::make_unique<KvPool>(std::move(*pool));
    return {};
}

Result<void> BenchRounds::add(int tokens, int depth)
{
    BenchSeries series;
    series.tokens = tokens;
    series.depth = depth;
    const int begin = std::max(depth, 0);
    const int end = begin + tokens;
    series.kv = std::make_unique<KvSequence>(*m_pool);
    const int tokensPerPass = series.isPrefill() ? kPassTokens : 1;
    for (int at = begin; at < end; at += tokensPerPass) {
        const int count = std::min(tokensPerPass, end - at);
        const PassCost cost = m_backend.cost(at, count, !series.isPrefill() || at + count == end);
        series.bytes += cost.weightBytes + cost.kvBytes;
    }
    if (Result<void> filled = forward(*series.kv, begin, kPassTokens, false); !filled)
        return filled;
    m_series.push_back(std::move(series));
    return {};
}

Result<void> BenchRounds::measure(BenchSeries &series, int tokens, bool counts)
{
    const std::int64_t beginNs = nowNs();
    if (Result<void> done = forward(*series.kv, tokens, series.isPrefill() ? kPassTokens : 1, true); !done)
        return done;
    if (counts)
        series.seconds.push_back(static_cast<double>(nowNs() - beginNs) / 1e9);
    series.kv->truncate(std::max(series.depth, 0));
    return {};
}

Result<void> BenchRounds::run(const std::function<void(const std::string &)> &say)
{
    if (Result<void> ready = reserveMemory(); !ready)
        return ready;
    say("preparing");
    for (const int count : m_plan.prompts)
        if (Result<void> added = add(count, -1); !added)
            return added;
    for (const int depth : m_plan.depths)
        if (Result<void> added = add(m_plan.decodeTokens, depth); !added)
            return added;
    Result<BandwidthProbe> probe = BandwidthProbe::create(m_plan.probeThreads);
    if (!probe)
        return tl::unexpected(std::move(probe.error()));

    probe->measure(); // warm-up: pages, clock rates, caches
    for (BenchSeries &series : m_series) {
        const int tokens = series.isPrefill() ? series.tokens : std::min(series.tokens, kWarmUpDecodeTokens);
        if (Result<void> done = measure(series, tokens, false); !done)
            return done;
    }
    for (int round = 0; round < m_plan.rounds; ++round) {
        const std::string turn = "round " + std::to_string(round + 1) + " of " + std::to_string(m_plan.rounds) + ": ";
        say(turn + "read bandwidth");
        m_probeSeconds.push_back(static_cast<double>(BandwidthProbe::kBytes) / probe->measure());
        for (BenchSeries &series : m_series) {
            say(turn + series.name() + ", " + countOf(static_cast<std::uint64_t>(series.tokens), "token"));
            if (Result<void> done = measure(series, series.tokens, true); !done)
                return done;
        }
    }
    return {};
}

} // namespace lectern::cli
