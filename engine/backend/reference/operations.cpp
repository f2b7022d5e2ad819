// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/reference/operations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace lectern::reference {

namespace {

// Eight partial sums: the compiler may then use vector registers without changing the order of additions.
template <class A, class B>
double dot(const A *a, const B *b, std::size_t count)
{
    constexpr std::size_t kLanes = 8;
    double sums[kLanes] = {};
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            sums[lane] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
    for (; i < count; ++i)
        sums[i % kLanes] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

double silu(double x)
{
    return x / (1.0 + std::exp(-x));
}

double geluTanh(double x)
{
    return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

// Numbers to probabilities. The maximum is taken off first: exp of large scores would overflow.
void softmax(std::vector<double> &scores)
{
    double highest = -std::numeric_limits<double>::infinity();
    for (const double score : scores)
        highest = std::max(highest, score);
    double sum = 0;
    for (double &score : scores) {
        score = std::exp(score - highest);
        sum += score;
    }
    for (double &score : scores)
        score /= sum;
}

} // namespace

void matmul(std::span<float> y, std::span<const float> w, std::span<const float> x, int tokens, ThreadPool &pool)
{
    const std::size_t count = static_cast<std::size_t>(tokens);
    const std::size_t columns = x.size() / count;
    const std::size_t rows = y.size() / count;
    // Widened once, not at every use.
    const std::vector<double> wideX(x.begin(), x.end());
    constexpr std::int64_t kRowsAtOnce = 32;
    pool.forEach(static_cast<std::int64_t>(rows), kRowsAtOnce, [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> row(columns);
        for (auto r = static_cast<std::size_t>(begin); r < static_cast<std::size_t>(end); ++r) {
            const float *weights = w.data() + r * columns;
            if (count == 1) {
                y[r] = static_cast<float>(dot(weights, wideX.data(), columns));
                continue;
            }
            std::copy(weights, weights + columns, row.begin());
            for (std::size_t t = 0; t < count; ++t)
                y[t * rows + r] = static_cast<float>(dot(row.data(), wideX.data() + t * columns, columns));
        }
    });
}

void rmsNorm(std::span<float> y, std::span<const float> x, std::span<const float> weight, float epsilon)
{
    const std::size_t width = weight.size();
    for (std::size_t start = 0; start < x.size(); start += width) {
        const float *token = x.data() + start;
        const double meanSquare = dot(token, token, width) / static_cast<double>(width);
        const double scale = 1.0 / std::sqrt(meanSquare + static_cast<double>(epsilon));
        for (std::size_t i = 0; i < width; ++i)
            y[start + i] = static_cast<float>(static_cast<double>(token[i]) * scale * static_cast<double>(weight[i]));
    }
}

std::vector<Rotation> rotations(int first, int tokens, int dims, float base, std::span<const float> factors)
{
    const int pairs = dims / 2;
    std::vector<Rotation> turns;
    turns.reserve(static_cast<std::size_t>(tokens) * static_cast<std::size_t>(pairs));
    for (int t = 0; t < tokens; ++t) {
        for (int i = 0; i < pairs; ++i) {
            double angle = (first + t) * std::pow(static_cast<double>(base), -2.0 * i / dims);
            if (!factors.empty())
                angle /= static_cast<double>(factors[static_cast<std::size_t>(i)]);
            turns.push_back({std::cos(angle), std::sin(angle)});
        }
    }
    return turns;
}

void rope(std::span<float> x, std::span<const Rotation> turns, int tokens, int heads, int headSize, RopePairing pairing)
{
    const std::size_t pairs = turns.size() / static_cast<std::size_t>(tokens);
    // Where the two values of a pair lie: next to each other, or half of the turned part apart.
    const std::size_t step = pairing == RopePairing::Neighbours ? 2 : 1;
    const std::size_t distance = pairing == RopePairing::Neighbours ? 1 : pairs;
    for (std::size_t head = 0; head < static_cast<std::size_t>(tokens) * static_cast<std::size_t>(heads); ++head) {
        float *values = x.data() + head * static_cast<std::size_t>(headSize);
        const Rotation *turn = turns.data() + head / static_cast<std::size_t>(heads) * pairs;
        for (std::size_t i = 0; i < pairs; ++i) {
            const double a = values[i * step];
            const double b = values[i * step + distance];
            values[i * step] = static_cast<float>(a * turn[i].cosine - b * turn[i].sine);
            values[i * step + distance] = static_cast<float>(a * turn[i].sine + b * turn[i].cosine);
        }
    }
}

namespace {

BlockId blockOf(const LayerCache &cache, int position)
{
    const int group = cache.memory.layout().groupOf[static_cast<std::size_t>(cache.layer)];
    return cache.kv.blocks(group)[static_cast<std::size_t>(position / kKvBlockTokens)];
}

float *rowOf(std::byte *headOfBlock, int position, int size)
{
    return reinterpret_cast<float *>(headOfBlock) + position % kKvBlockTokens * size;
}

} // namespace

const float *LayerCache::key(int position, int kvHead, int keySize) const
{
    return rowOf(memory.keys(blockOf(*this, position), layer, kvHead), position, keySize);
}

const float *LayerCache::value(int position, int kvHead, int valueSize) const
{
    return rowOf(memory.values(blockOf(*this, position), layer, kvHead), position, valueSize);
}

void storeKv(const LayerCache &cache, int first, std::span<const float> k, std::span<const float> v,
             const LayerSpec &layer)
{
    const int tokens = static_cast<int>(k.size()) / layer.kWidth();
    const float *fromK = k.data();
    const float *fromV = v.data();
    for (int position = first; position < first + tokens; ++position) {
        const BlockId block = blockOf(cache, position);
        for (int head = 0; head < layer.kvHeads; ++head) {
            std::copy_n(fromK, layer.keySize,
                        rowOf(cache.memory.keys(block, cache.layer, head), position, layer.keySize));
            std::copy_n(fromV, layer.valueSize,
                        rowOf(cache.memory.values(block, cache.layer, head), position, layer.valueSize));
            fromK += layer.keySize;
            fromV += layer.valueSize;
        }
    }
}

void attention(std::span<float> y, std::span<const float> q, const LayerCache &cache, int first, const LayerSpec &layer,
               ThreadPool &pool)
{
    const auto keySize = static_cast<std::size_t>(layer.keySize);
    const auto valueSize = static_cast<std::size_t>(layer.valueSize);
    const int queriesPerKvHead = layer.heads / layer.kvHeads;
    const double scale = 1.0 / std::sqrt(static_cast<double>(layer.keySize));
    pool.forEach(static_cast<std::int64_t>(q.size() / keySize), 1, [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> scores;
        std::vector<double> mix(valueSize);
        for (std::int64_t i = begin; i < end; ++i) {
            const int kvHead = static_cast<int>(i % layer.heads) / queriesPerKvHead;
            const int own = first + static_cast<int>(i / layer.heads); // causal: sees itself and the past
            const int oldest = layer.window > 0 ? std::max(0, own - layer.window + 1) : 0;
            const float *query = q.data() + static_cast<std::size_t>(i) * keySize;

            scores.clear();
            for (int p = oldest; p <= own; ++p)
                scores.push_back(scale * dot(query, cache.key(p, kvHead, layer.keySize), keySize));
            softmax(scores);
            std::fill(mix.begin(), mix.end(), 0.0);
            for (int p = oldest; p <= own; ++p) {
                const float *value = cache.value(p, kvHead, layer.valueSize);
                const double weight = scores[static_cast<std::size_t>(p - oldest)];
                for (std::size_t d = 0; d < valueSize; ++d)
                    mix[d] += weight * static_cast<double>(value[d]);
            }
            std::copy(mix.begin(), mix.end(), y.begin() + i * layer.valueSize);
        }
    });
}

void gatedActivation(std::span<float> gate, std::span<const float> up, Activation activation)
{
    for (std::size_t i = 0; i < gate.size(); ++i) {
        const double x = gate[i];
        const double active = activation == Activation::Silu ? silu(x) : geluTanh(x);
        gate[i] = static_cast<float>(active * static_cast<double>(up[i]));
    }
}

void add(std::span<float> x, std::span<const float> y)
{
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] += y[i];
}

} // namespace lectern::reference
