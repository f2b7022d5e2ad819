// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of the cpu backend against the formula in float64 on the same F16 keys and values.
//
// Bound: scores round once per dimension, probabilities and sums once per position: (headSize + positions) · 2^-24 of
// values of at most 1, times a small factor for the exponential.
#include "engine/backend/cpu/attention.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <random>

using namespace lectern;
using namespace lectern::cpu;

namespace {

struct Case
{
    int heads, kvHeads, headSize, tokens;
    int window = 0;
};

ModelSpec specOf(const Case &shape)
{
    ModelSpec spec;
    LayerSpec layer;
    layer.heads = shape.heads;
    layer.kvHeads = shape.kvHeads;
    layer.keySize = layer.valueSize = shape.headSize;
    layer.window = shape.window;
    spec.layers.assign(2, layer);
    return spec;
}

std::vector<IsaLevel> levels()
{
    std::vector<IsaLevel> found;
    for (IsaLevel level : {IsaLevel::Scalar, IsaLevel::Avx2, IsaLevel::Avx512}) {
        if (level <= bestIsaLevel())
            found.push_back(level);
    }
    return found;
}

// Queries, keys and values of a whole sequence, dense rows.
struct Inputs
{
    std::vector<float> q, k, v;

    explicit Inputs(const Case &shape)
    {
        std::mt19937 random(1);
        const auto fill = [&](std::vector<float> &values, int heads, float size) {
            values.resize(static_cast<std::size_t>(shape.tokens * heads * shape.headSize));
            for (float &value : values)
                value = size * (static_cast<float>(random() >> 8) / 8388608.0f - 1.0f);
        };
        fill(q, shape.heads, 4);
        fill(k, shape.kvHeads, 1);
        fill(v, shape.kvHeads, 1);
    }
};

// Runs the sequence in chunks through layer 1 and returns what attention gives, [tokens][heads · headSize].
std::vector<float> attend(const Case &shape, IsaLevel level, int threads, int chunk)
{
    Inputs inputs(shape);
    ThreadPool pool(threads);
    const ModelSpec spec = specOf(shape);
    const KvCapacity capacity{{kvBlocksFor(shape.tokens)}, 0};
    KvPool kvPool(std::move(HostKvMemory::create(spec, KvLayout::of(spec, KvElement::F16), capacity).value()));
    KvSequence kv(kvPool);
    Attention attention = std::move(Attention::create(spec, threads, 1).value());
    const int qWidth = shape.heads * shape.headSize, kvWidth = shape.kvHeads * shape.headSize;
    std::vector<float> out(inputs.q.size());
    const auto rows = [](std::vector<float> &values, int width) {
        return Rows{values.data(), static_cast<std::size_t>(width)};
    };
    for (int first = 0; first < shape.tokens; first += chunk) {
        const int count = std::min(chunk, shape.tokens - first);
        if (!kv.reserve(count))
            qFatal("the pool of the test is too small");
        attention.store(kernelsFor(level), kv, 1, first, count, rows(inputs.k, kvWidth).from(first),
                        rows(inputs.v, kvWidth).from(first));
        const AttentionSlice slice{&kv, first, first, count};
        attention.run(pool, kernelsFor(level), std::span(&slice, 1), 1, rows(inputs.q, qWidth), rows(out, qWidth));
        kv.commit(count);
    }
    return out;
}

std::vector<double> expectedOutput(const Case &shape)
{
    const Inputs inputs(shape);
    const auto half = [](float value) { return static_cast<double>(halfToFloat(floatToHalf(value))); };
    std::vector<double> out;
    for (int t = 0; t < shape.tokens; ++t) {
        for (int head = 0; head < shape.heads; ++head) {
            const int kvHead = head / (shape.heads / shape.kvHeads);
            const auto at = [&](int token, int heads, int h, int d) {
                return static_cast<std::size_t>((token * heads + h) * shape.headSize + d);
            };
            std::vector<double> weights;
            double sum = 0;
            const int oldest = shape.window > 0 ? std::max(0, t - shape.window + 1) : 0;
            for (int p = oldest; p <= t; ++p) {
                double score = 0;
                for (int d = 0; d < shape.headSize; ++d)
                    score += static_cast<double>(inputs.q[at(t, shape.heads, head, d)]) *
                             half(inputs.k[at(p, shape.kvHeads, kvHead, d)]);
                weights.push_back(std::exp(score / std::sqrt(static_cast<double>(shape.headSize))));
                sum += weights.back();
            }
            for (int d = 0; d < shape.headSize; ++d) {
                double mixed = 0;
                for (int p = 0; p <= t; ++p)
                    mixed +=
                        weights[static_cast<std::size_t>(p)] / sum * half(inputs.v[at(p, shape.kvHeads, kvHead, d)]);
                out.push_back(mixed);
            }
        }
    }
    return out;
}

bool hasSameBits(const std::vector<float> &a, const std::vector<float> &b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

} // namespace

Q_DECLARE_METATYPE(Case)

class TestCpuAttention : public QObject
{
    Q_OBJECT

    static void shapes()
    {
        QTest::addColumn<Case>("shape");
        QTest::newRow("one token") << Case{2, 1, 16, 1};
        QTest::newRow("three heads a group, several spans") << Case{6, 2, 32, 280};
        QTest::newRow("no groups, head of 8") << Case{3, 3, 8, 40};
        QTest::newRow("head of 20: no multiple of a register") << Case{4, 2, 20, 130};
        QTest::newRow("head of 80") << Case{4, 4, 80, 33};
        QTest::newRow("head of 100, five heads a group") << Case{5, 1, 100, 50};
        QTest::newRow("more heads a group than a tile has rows") << Case{50, 1, 8, 20};
        QTest::newRow("exactly one span") << Case{2, 2, 16, kSpanTokens};
        QTest::newRow("one more than a span") << Case{2, 2, 16, kSpanTokens + 1};
    }

private slots:
    void matchesTheFormula_data() { shapes(); }
    void matchesTheFormula();
    void chunksAndThreadsChangeNoBit_data() { shapes(); }
    void chunksAndThreadsChangeNoBit();
    void largeScoresDoNotOverflow();
    void costGrowsWithTheContext();
};

void TestCpuAttention::matchesTheFormula()
{
    QFETCH(Case, shape);
    const std::vector<double> expected = expectedOutput(shape);
    const double bound = 4 * (shape.headSize + shape.tokens) * 0x1p-24;
    for (IsaLevel level : levels()) {
        const std::vector<float> out = attend(shape, level, 2, shape.tokens);
        QCOMPARE(out.size(), expected.size());
        for (std::size_t i = 0; i < out.size(); ++i)
            QVERIFY2(std::abs(static_cast<double>(out[i]) - expected[i]) <= bound,
                     qPrintable(QString("%1, element %2: %3, expected %4")
                                    .arg(isaLevelName(level).data())
                                    .arg(i)
                                    .arg(out[i])
                                    .arg(expected[i])));
    }
}

void TestCpuAttention::chunksAndThreadsChangeNoBit()
{
    QFETCH(Case, shape);
    for (IsaLevel level : levels()) {
        const std::vector<float> whole = attend(shape, level, 1, shape.tokens);
        for (int chunk : {1, 2, 7, 16, 64, 129})
            QVERIFY2(hasSameBits(attend(shape, level, 2, chunk), whole),
                     qPrintable(QString("chunks of %1").arg(chunk)));
        for (int threads : {2, 3, 5})
            QVERIFY2(hasSameBits(attend(shape, level, threads, shape.tokens), whole),
                     qPrintable(QString("%1 threads").arg(threads)));
    }
}

void TestCpuAttention::largeScoresDoNotOverflow()
{
    for (IsaLevel level : levels()) {
        alignas(64) float scores[kSpanTokens];
        for (int i = 0; i < kSpanTokens; ++i)
            scores[i] = static_cast<float>(1000 * (i % 40)) - 20000;
        float largest = 0;
        const float sum = kernelsFor(level).softmax(scores, 40, &largest);
        QCOMPARE(largest, 19000.0f);
        QCOMPARE(sum, 1.0f);
        QCOMPARE(scores[39], 1.0f);
        QCOMPARE(scores[38], 0.0f);
        QCOMPARE(scores[47], 0.0f); // up to the end of the block
    }
}

void TestCpuAttention::costGrowsWithTheContext()
{
    const Attention attention = std::move(Attention::create(specOf({9, 3, 64, 0}), 1, 1).value());
    const auto costOf = [&](int first, int tokens) {
        const AttentionSlice slice{nullptr, 0, first, tokens};
        return attention.cost(std::span(&slice, 1), 0);
    };
    const OperationCost decode = costOf(1000, 1);
    QCOMPARE(decode.kvBytes, std::uint64_t{1001} * 2 * 3 * 64 * 2); // K and V, 3 heads of 64, 2 bytes
    QCOMPARE(decode.flops, std::uint64_t{4} * 1001 * 9 * 64);
    QCOMPARE(costOf(0, 100).flops, std::uint64_t{4} * 5050 * 9 * 64);
}

QTEST_APPLESS_MAIN(TestCpuAttention)
#include "tst_cpu_attention.moc"
