// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sampling/softmax.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>

namespace lectern {

namespace {

// Four lanes, written out: compilers do not vectorise loops with float comparisons or sums by themselves. GCC and Clang
// turn these types into SSE or NEON instructions.
using Floats = float __attribute__((vector_size(16)));
using Ints = std::int32_t __attribute__((vector_size(16)));
constexpr std::size_t kLanes = 4;
constexpr std::size_t kChains = 4; // independent accumulators hide the latency of an addition
static_assert(kLogitBlock % (kLanes * kChains) == 0);

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr float kSmallestExponent = -87; // exp of it is just above the smallest normal float

Floats load(const float *from)
{
    Floats lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

// exp for x in [-87, 0]: 2^n * exp(r), |r| <= ln(2)/2, with the Taylor polynomial of degree 6.
Floats expNegative(Floats x)
{
    constexpr float kLog2e = 1.44269504f;
    constexpr float kLn2High = 0.693359375f; // few bits: n * kLn2High is exact
    constexpr float kLn2Low = -2.12194440e-4f;
    constexpr float kRound = 12582912.f; // 1.5 * 2^23: adding it rounds to an integer
    const Floats n = (x * kLog2e + kRound) - kRound;
    const Floats r = (x - n * kLn2High) - n * kLn2Low;
    Floats p = r * (1.f / 720) + 1.f / 120;
    p = p * r + 1.f / 24;
    p = p * r + 1.f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.f;
    p = p * r + 1.f;
    const Ints exponent = (__builtin_convertvector(n, Ints) + 127) << 23;
    return p * std::bit_cast<Floats>(exponent);
}

Floats weights(Floats logits, float max, float temperature)
{
    Floats x = logits - max;
    if (temperature != 1) // a division takes a quarter of the time
        x /= temperature;
    const Floats floor = Floats{} + kSmallestExponent;
    const Floats e = expNegative(x > floor ? x : floor);
    return std::bit_cast<Floats>(std::bit_cast<Ints>(e) & (x > floor));
}

} // namespace

float softmaxWeight(float logit, float max, float temperature)
{
    return weights(Floats{logit, kMinusInfinity, kMinusInfinity, kMinusInfinity}, max, temperature)[0];
}

LogitScan scanLogits(std::span<const float> logits)
{
    LogitScan scan{{}, kMinusInfinity, false};
    scan.blockMax.reserve(logits.size() / kLogitBlock + 1);
    Ints nans = {};
    for (std::size_t begin = 0; begin < logits.size(); begin += kLogitBlock) {
        const float *block = logits.data() + begin;
        const std::size_t size = std::min(kLogitBlock, logits.size() - begin);
        float best = kMinusInfinity;
        std::size_t i = 0;
        if (size == kLogitBlock) {
            Floats maxima[kChains];
            std::fill(maxima, maxima + kChains, Floats{} + kMinusInfinity);
            for (; i < kLogitBlock; i += kLanes) {
                const Floats x = load(block + i);
                Floats &max = maxima[i / kLanes % kChains];
                max = x > max ? x : max;
                nans |= x != x;
            }
            for (const Floats &max : maxima)
                for (std::size_t lane = 0; lane < kLanes; ++lane)
                    best = std::max(best, max[lane]);
        }
        for (; i < size; ++i) {
            best = block[i] > best ? block[i] : best;
            scan.hasNan |= block[i] != block[i];
        }
        scan.blockMax.push_back(best);
        scan.max = std::max(scan.max, best);
    }
    scan.hasNan |= (nans[0] | nans[1] | nans[2] | nans[3]) != 0;
    return scan;
}

std::vector<double> softmaxSums(std::span<const float> logits, float max, float temperature)
{
    std::vector<double> sums;
    sums.reserve(logits.size() / kLogitBlock + 1);
    for (std::size_t begin = 0; begin < logits.size(); begin += kLogitBlock) {
        const float *block = logits.data() + begin;
        const std::size_t size = std::min(kLogitBlock, logits.size() - begin);
        double sum = 0;
        std::size_t i = 0;
        if (size == kLogitBlock) {
            Floats partial[kChains] = {};
            for (; i < kLogitBlock; i += kLanes)
                partial[i / kLanes % kChains] += weights(load(block + i), max, temperature);
            const Floats lanes = (partial[0] + partial[1]) + (partial[2] + partial[3]);
            sum = static_cast<double>((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
        }
        for (; i < size; ++i)
            sum += static_cast<double>(softmaxWeight(block[i], max, temperature));
        sums.push_back(sum);
    }
    return sums;
}

std::vector<TokenId> bestIds(std::span<const float> logits, std::span<const float> blockMax, std::size_t count)
{
    count = std::min(count, logits.size());
    std::vector<TokenId> ids;
    if (count == 0)
        return ids;

    // The count-th best block maximum bounds the count-th best logit from below: only blocks that reach it need a look.
    float bound = kMinusInfinity;
    if (count <= blockMax.size()) {
        std::vector<float> maxima(blockMax.begin(), blockMax.end());
        const auto nth = maxima.begin() + static_cast<std::ptrdiff_t>(count - 1);
        std::nth_element(maxima.begin(), nth, maxima.end(), std::greater<>());
        bound = *nth;
    }
    for (std::size_t block = 0; block < blockMax.size(); ++block) {
        if (blockMax[block] < bound)
            continue;
        const std::size_t end = std::min((block + 1) * kLogitBlock, logits.size());
        for (std::size_t i = block * kLogitBlock; i < end; ++i)
            if (logits[i] >= bound && logits[i] > kMinusInfinity)
                ids.push_back(static_cast<TokenId>(i));
    }

    const auto better = [&](TokenId a, TokenId b) {
        const float x = logits[static_cast<std::size_t>(a)];
        const float y = logits[static_cast<std::size_t>(b)];
        return x != y ? x > y : a < b;
    };
    if (ids.size() > count) {
        std::nth_element(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count - 1), ids.end(), better);
        ids.resize(count);
    }
    std::sort(ids.begin(), ids.end(), better);
    return ids;
}

int rankOf(std::span<const float> logits, TokenId id)
{
    const auto own = static_cast<std::size_t>(id);
    const float logit = logits[own];
    int rank = 0;
    for (std::size_t i = 0; i < own; ++i)
        rank += logits[i] >= logit;
    for (std::size_t i = own + 1; i < logits.size(); ++i)
        rank += logits[i] > logit;
    return rank;
}

} // namespace lectern
