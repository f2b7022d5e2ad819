// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sampling/sampler.h"

#include "engine/sampling/softmax.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

namespace lectern {

namespace {

constexpr std::size_t kFirstNucleus = 256; // top-p rarely keeps more; each further try looks at eight times as many

std::string number(float value)
{
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value);
    return std::string(digits, end.ptr);
}

// Written so that NaN is out of range.
Result<void> checkRange(const char *field, float value, float low, float high)
{
    if (value >= low && value <= high)
        return {};
    return fail(ErrorCode::InvalidInput, std::string(field) + " is " + number(value) + "; it must be from " +
                                             number(low) + " to " + number(high));
}

std::uint64_t splitMix64(std::uint64_t &state) // Steele, Lea, Flood: OOPSLA 2014
{
    state += 0x9e3779b97f4a7c15;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

Result<void> checkLogits(std::span<const float> logits, const LogitScan &scan)
{
    const auto named = [&](auto isBad, const char *what) {
        const auto at = std::find_if(logits.begin(), logits.end(), isBad) - logits.begin();
        return fail(ErrorCode::Numerics, "The logit of token " + std::to_string(at) + " is " + what, {},
                    "The model file may be damaged");
    };
    if (scan.hasNan)
        return named([](float x) { return std::isnan(x); }, "not a number");
    if (scan.max == std::numeric_limits<float>::infinity())
        return named([](float x) { return std::isinf(x) && x > 0; }, "infinite");
    if (scan.max == -std::numeric_limits<float>::infinity())
        return fail(ErrorCode::Numerics, "All " + std::to_string(logits.size()) + " logits are minus infinity", {},
                    "The model file may be damaged");
    return {};
}

// Keskar et al. 2019 (CTRL): a token counts once, however often it occurs.
void penalise(std::span<float> logits, std::span<const TokenId> context, float penalty)
{
    const std::size_t count = std::min<std::size_t>(context.size(), kPenaltyWindowTokens);
    std::vector<TokenId> ids(context.end() - static_cast<std::ptrdiff_t>(count), context.end());
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (const TokenId id : ids) {
        if (id < 0 || static_cast<std::size_t>(id) >= logits.size())
            continue;
        float &logit = logits[static_cast<std::size_t>(id)];
        if (std::isinf(logit))
            continue;
        constexpr float kLargest = std::numeric_limits<float>::max();
        logit = std::clamp(logit > 0 ? logit / penalty : logit * penalty, -kLargest, kLargest);
    }
}

} // namespace

Result<void> validate(const SamplingParams &params)
{
    if (auto ok = checkRange("temperature", params.temperature, 0, kMaxTemperature); !ok)
        return ok;
    if (auto ok = checkRange("top-p", params.topP, 0, 1); !ok)
        return ok;
    if (auto ok = checkRange("min-p", params.minP, 0, 1); !ok)
        return ok;
    return checkRange("repetition penalty", params.repetitionPenalty, kMinRepetitionPenalty, kMaxRepetitionPenalty);
}

Sampler::Sampler(const SamplingParams &params, int idLimit)
    : m_params(params)
    , m_idLimit(std::max(idLimit, 0))
{
    if (m_params.temperature > 0) // a thread may run with denormal numbers off
        m_params.temperature = std::max(m_params.temperature, std::numeric_limits<float>::min());
    std::uint64_t seed = params.seed;
    for (std::uint64_t &word : m_state)
        word = splitMix64(seed);
}

// xoshiro256** 1.0 (Blackman, Vigna 2018).
double Sampler::uniform()
{
    const std::uint64_t bits = std::rotl(m_state[1] * 5, 7) * 9;
    const std::uint64_t shifted = m_state[1] << 17;
    m_state[2] ^= m_state[0];
    m_state[3] ^= m_state[1];
    m_state[1] ^= m_state[2];
    m_state[0] ^= m_state[3];
    m_state[2] ^= shifted;
    m_state[3] = std::rotl(m_state[3], 45);
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

// One draw from the whole distribution, in the order of the ids.
TokenId Sampler::drawFromAll(std::span<const float> logits, float max)
{
    const std::vector<double> sums = softmaxSums(logits, max, m_params.temperature);
    double target = uniform() * std::accumulate(sums.begin(), sums.end(), 0.0);
    TokenId last = 0; // a token of the distribution, should rounding carry the target past its end
    for (std::size_t block = 0; block < sums.size(); ++block) {
        if (sums[block] <= target && block + 1 < sums.size()) {
            target -= sums[block];
            continue;
        }
        const std::size_t end = std::min((block + 1) * kLogitBlock, logits.size());
        for (std::size_t i = block * kLogitBlock; i < end; ++i) {
            const auto weight = static_cast<double>(softmaxWeight(logits[i], max, m_params.temperature));
            if (weight > 0)
                last = static_cast<TokenId>(i);
            target -= weight;
            if (target < 0)
                return static_cast<TokenId>(i);
        }
    }
    return last;
}

// What top-k, top-p and min-p leave, best first.
std::vector<TokenId> Sampler::filtered(std::span<const float> logits, const LogitScan &scan) const
{
    const auto weight = [&](TokenId id) {
        return static_cast<double>(softmaxWeight(logits[static_cast<std::size_t>(id)], scan.max, m_params.temperature));
    };
    const bool hasTopK = isTopKOn(logits.size());
    std::vector<TokenId> ids;
    if (hasTopK)
        ids = bestIds(logits, scan.blockMax, static_cast<std::size_t>(m_params.topK));
    if (m_params.topP < 1) {
        double total = 0;
        if (hasTopK) {
            for (const TokenId id : ids)
                total += weight(id);
        } else {
            const std::vector<double> sums = softmaxSums(logits, scan.max, m_params.temperature);
            total = std::accumulate(sums.begin(), sums.end(), 0.0);
        }
        const double wanted = static_cast<double>(m_params.topP) * total;
        for (std::size_t look = kFirstNucleus;; look *= 8) {
            if (!hasTopK)
                ids = bestIds(logits, scan.blockMax, look);
            std::size_t kept = 0;
            double sum = 0;
            while (kept < ids.size() && (kept == 0 || sum < wanted))
                sum += weight(ids[kept++]);
            if (sum >= wanted || hasTopK || look >= logits.size()) {
                ids.resize(kept);
                break;
            }
        }
    }
    if (m_params.minP > 0) { // the best one has weight 1, so the limit on weights is one on logits
        const double minimum = static_cast<double>(scan.max) +
                               static_cast<double>(m_params.temperature) * std::log(static_cast<double>(m_params.minP));
        const auto isOut = [&](float logit) { return static_cast<double>(logit) < minimum; };
        if (ids.empty())
            ids = bestIds(logits, scan.blockMax,
                          logits.size() - static_cast<std::size_t>(std::count_if(logits.begin(), logits.end(), isOut)));
        else
            ids.erase(std::find_if(ids.begin() + 1, ids.end(),
                                   [&](TokenId id) { return isOut(logits[static_cast<std::size_t>(id)]); }),
                      ids.end());
    }
    return ids;
}

bool Sampler::isTopKOn(std::size_t vocabularySize) const
{
    return m_params.topK > 0 && static_cast<std::size_t>(m_params.topK) < vocabularySize;
}

TokenId Sampler::draw(std::span<const float> logits)
{
    const LogitScan scan = scanLogits(logits);
    if (!isTopKOn(logits.size()) && m_params.topP >= 1 && m_params.minP <= 0)
        return drawFromAll(logits, scan.max);

    const std::vector<TokenId> ids = filtered(logits, scan);
    std::vector<double> sums; // running
    double sum = 0;
    for (const TokenId id : ids)
        sums.push_back(sum += static_cast<double>(
                           softmaxWeight(logits[static_cast<std::size_t>(id)], scan.max, m_params.temperature)));
    const auto at = std::upper_bound(sums.begin(), sums.end(), uniform() * sum) - sums.begin();
    return ids[std::min(static_cast<std::size_t>(at), ids.size() - 1)];
}

Result<Sampled> Sampler::sample(std::span<float> logits, std::span<const TokenId> context, int topCount)
{
    logits = logits.first(std::min(logits.size(), static_cast<std::size_t>(m_idLimit)));
    const LogitScan scan = scanLogits(logits);
    if (auto ok = checkLogits(logits, scan); !ok)
        return tl::unexpected(ok.error());

    const std::vector<double> sums = softmaxSums(logits, scan.max, 1);
    const double logSum = std::log(std::accumulate(sums.begin(), sums.end(), 0.0));
    const auto logprob = [&](TokenId id) {
        return static_cast<float>(logits[static_cast<std::size_t>(id)] - static_cast<double>(scan.max) - logSum);
    };
    Sampled sampled;
    const std::vector<TokenId> best = bestIds(logits, scan.blockMax, static_cast<std::size_t>(std::max(topCount, 1)));
    for (std::size_t i = 0; i < best.size() && i < static_cast<std::size_t>(std::max(topCount, 0)); ++i)
        sampled.top.push_back({best[i], logprob(best[i])});

    const bool isPenalised = m_params.repetitionPenalty != 1 && !context.empty();
    if (m_params.temperature <= 0 && !isPenalised) {
        sampled.id = best.front();
        sampled.logprob = logprob(sampled.id);
        return sampled;
    }
    const std::vector<float> own =
        isPenalised ? std::vector<float>(logits.begin(), logits.end()) : std::vector<float>();
    if (isPenalised)
        penalise(logits, context, m_params.repetitionPenalty);
    if (m_params.temperature <= 0)
        sampled.id = bestIds(logits, scanLogits(logits).blockMax, 1).front();
    else
        sampled.id = draw(logits);
    if (isPenalised)
        std::copy(own.begin(), own.end(), logits.begin());
    sampled.logprob = logprob(sampled.id);
    sampled.rank = rankOf(logits, sampled.id);
    return sampled;
}

} // namespace lectern
