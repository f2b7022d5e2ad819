// SPDX-License-Identifier: GPL-3.0-or-later
// The operations of the reference backend on inputs small enough to follow by hand, and what the backend says of
// itself.
#include "engine/backend/reference/operations.h"
#include "tests/support/loaded_backend.h"
#include "tests/support/tiny_model.h"

#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <cmath>
#include <numeric>

using namespace lectern;
using namespace lectern::test;

namespace {

bool isNear(std::span<const float> found, std::span<const float> expected, float bound = 1e-6f)
{
    if (found.size() != expected.size())
        return false;
    for (std::size_t i = 0; i < found.size(); ++i)
        if (!(std::abs(found[i] - expected[i]) <= bound))
            return false;
    return true;
}

ModelSpec shape(int heads, int kvHeads, int headSize)
{
    ModelSpec spec;
    LayerSpec layer;
    layer.heads = heads;
    layer.kvHeads = kvHeads;
    layer.keySize = layer.valueSize = headSize;
    layer.feedForward = 1;
    spec.layers = {layer};
    return spec;
}

// A cache of two blocks in F32, and one sequence with room for `tokens` in it.
struct Cache
{
    KvPool pool;
    KvSequence sequence;

    Cache(const ModelSpec &spec, int tokens)
        : pool(std::move(HostKvMemory::create(spec, KvLayout::of(spec, KvElement::F32), {{2}, 0}).value()))
        , sequence(pool)
    {
        if (!sequence.reserve(tokens))
            qFatal("the pool of the test is too small");
    }
    reference::LayerCache layer() { return {static_cast<HostKvMemory &>(pool.memory()), sequence, 0}; }
};

// Numbers without a pattern that a wrong index could hide in.
std::vector<float> mixed(std::size_t count, float phase)
{
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = std::sin(phase + 1.7f * static_cast<float>(i));
    return values;
}

} // namespace

class TestReference : public QObject
{
    Q_OBJECT

private slots:
    void matmulTakesRowsOfTheMatrix()
    {
        ThreadPool pool(1);
        const std::array<float, 6> w{1, 2, 3, 4, 5, 6};  // two rows of three
        const std::array<float, 6> x{1, 0, -1, 2, 2, 2}; // two tokens
        std::array<float, 4> y{};
        reference::matmul(y, w, x, 2, pool);
        QVERIFY(isNear(y, std::array<float, 4>{-2, -2, 12, 30}));
    }

    // 10 columns: one round of eight lanes and a rest of two.
    void matmulSumsEveryColumn()
    {
        ThreadPool pool(2);
        std::vector<float> w(10), x(10);
        std::iota(w.begin(), w.end(), 1.0f);
        std::iota(x.begin(), x.end(), -3.0f);
        std::array<float, 1> y{};
        reference::matmul(y, w, x, 1, pool);
        QCOMPARE(y[0], 165.0f); // sum of (c + 1)(c - 3) for c = 0 ... 9
    }

    void threadsAndTokensTogetherChangeNoBit()
    {
        ThreadPool one(1), three(3);
        const std::vector<float> w = mixed(100 * 37, 0.1f), x = mixed(5 * 37, 0.7f);
        std::vector<float> y1(5 * 100), y3(5 * 100), single(100);
        reference::matmul(y1, w, x, 5, one);
        reference::matmul(y3, w, x, 5, three);
        QCOMPARE(y1, y3);
        reference::matmul(single, w, std::span(x).last(37), 1, three);
        QCOMPARE(single, std::vector<float>(y1.end() - 100, y1.end()));
    }

    void rmsNormDividesByTheRootOfTheMeanSquare()
    {
        const std::array<float, 4> x{3, 4, 0, 0}; // two tokens of width 2
        const std::array<float, 2> weight{1, 10};
        std::array<float, 4> y{};
        reference::rmsNorm(y, x, weight, 0.5f);
        const float scale = 1.0f / std::sqrt(13.0f); // mean square 12.5, epsilon 0.5
        QVERIFY(isNear(y, std::array<float, 4>{3 * scale, 40 * scale, 0, 0}));
    }

    void rotationsHaveTheAnglesOfTheFormula()
    {
        const std::array<float, 2> factors{1, 4};
        const auto turns = reference::rotations(3, 2, 4, 100.0f, factors);
        QCOMPARE(turns.size(), std::size_t(4));
        const std::array<double, 4> angles{3.0, 3.0 * 0.1 / 4, 4.0, 4.0 * 0.1 / 4};
        for (std::size_t i = 0; i < angles.size(); ++i) {
            QVERIFY(std::abs(turns[i].cosine - std::cos(angles[i])) < 1e-15);
            QVERIFY(std::abs(turns[i].sine - std::sin(angles[i])) < 1e-15);
        }
    }

    // A quarter turn takes (a, b) to (-b, a), a half turn to (-a, -b). The last two values of the head are not turned.
    void ropeTurnsNeighboursOrHalves()
    {
        const std::array<reference::Rotation, 2> turns{{{0, 1}, {-1, 0}}};
        std::array<float, 6> x{1, 2, 3, 4, 5, 6};
        reference::rope(x, turns, 1, 1, 6, RopePairing::Neighbours);
        QVERIFY(isNear(x, std::array<float, 6>{-2, 1, -3, -4, 5, 6}));
        x = {1, 2, 3, 4, 5, 6};
        reference::rope(x, turns, 1, 1, 6, RopePairing::Halves);
        QVERIFY(isNear(x, std::array<float, 6>{-3, -2, 1, -4, 5, 6}));
    }

    void everyTokenTurnsByItsOwnPosition()
    {
        const std::array<reference::Rotation, 2> turns{{{0, 1}, {-1, 0}}}; // one pair, two tokens
        std::array<float, 8> x{1, 2, 3, 4, 1, 2, 3, 4};                    // two heads each
        reference::rope(x, turns, 2, 2, 2, RopePairing::Neighbours);
        QVERIFY(isNear(x, std::array<float, 8>{-2, 1, -4, 3, -1, -2, -3, -4}));
    }

    void gatesAreTheNamedFunctions()
    {
        std::array<float, 3> gate{1, -2, 0};
        const std::array<float, 3> up{2, 1, 5};
        reference::gatedActivation(gate, up, Activation::Silu);
        QVERIFY(isNear(gate, std::array<float, 3>{1.4621172f, -0.2384058f, 0}));
        gate = {1, -2, 0};
        reference::gatedActivation(gate, up, Activation::GeluTanh);
        QVERIFY(isNear(gate, std::array<float, 3>{1.6823840f, -0.0454023f, 0}));
    }

    // Against the formula written out without blocks: 2 query heads share each KV head, 20 positions fill one block and
    // a bit.
    void attentionIsCausalAndSharesKvHeads()
    {
        const ModelSpec spec = shape(4, 2, 3);
        Cache cache(spec, 20);
        const std::vector<float> k = mixed(20 * 6, 0.3f), v = mixed(20 * 6, 2.0f), q = mixed(3 * 12, 1.1f);
        reference::storeKv(cache.layer(), 0, k, v, spec.layers[0]);
        std::vector<float> y(3 * 12);
        ThreadPool threads(2);
        reference::attention(y, q, cache.layer(), 17, spec.layers[0], threads);

        std::vector<float> expected(3 * 12);
        for (std::size_t row = 0; row < 12; ++row) { // token · 4 + head
            const std::size_t kvHead = row % 4 / 2, visible = 18 + row / 4;
            double sum = 0;
            std::array<double, 3> mix{};
            for (std::size_t p = 0; p < visible; ++p) {
                double score = 0;
                for (std::size_t d = 0; d < 3; ++d)
                    score += double(q[row * 3 + d]) * double(k[p * 6 + kvHead * 3 + d]);
                const double weight = std::exp(score / std::sqrt(3.0));
                sum += weight;
                for (std::size_t d = 0; d < 3; ++d)
                    mix[d] += weight * double(v[p * 6 + kvHead * 3 + d]);
            }
            for (std::size_t d = 0; d < 3; ++d)
                expected[row * 3 + d] = static_cast<float>(mix[d] / sum);
        }
        QVERIFY(isNear(y, expected));
    }

    void largeScoresDoNotOverflow()
    {
        const ModelSpec spec = shape(1, 1, 2);
        Cache cache(spec, 2);
        reference::storeKv(cache.layer(), 0, std::array<float, 4>{1000, 0, 2000, 0}, std::array<float, 4>{1, 2, 3, 4},
                           spec.layers[0]);
        std::array<float, 2> y{};
        ThreadPool threads(1);
        reference::attention(y, std::array<float, 2>{1000, 0}, cache.layer(), 1, spec.layers[0], threads);
        QVERIFY(isNear(y, std::array<float, 2>{3, 4}));
    }

    void costIsTheCountOfItsOperations()
    {
        QTemporaryDir folder;
        LoadedBackend loaded(BackendKind::Reference, writeTinyModel(folder.path().toStdString(), "tiny.gguf"), 16);
        const ModelSpec &spec = loaded.spec();
        const std::uint64_t matrices = 2 * (96 * 96 * 2 + 96 * 32 * 2 + 3 * 96 * 160); // weights of both layers
        const std::uint64_t head = 96 * static_cast<std::uint64_t>(spec.vocabulary);
        // Three tokens after ten see 11 + 12 + 13 positions; a position is 2 layers · K and V · 32 floats.
        const auto costOf = [&](int logits) {
            KvSequence sequence(loaded.pool());
            loaded.append(sequence, std::vector<TokenId>(10, 1));
            PassTrace trace;
            if (!forward(loaded.backend(), sequence, std::array<TokenId, 3>{1, 2, 3}, logits, {}, &trace))
                qFatal("the pass failed");
            return trace.total();
        };
        const OperationCost cost = costOf(1);
        QCOMPARE(cost.flops, 2 * (3 * matrices + head) + 36 * std::uint64_t(2 * 2 * 2 * 96));
        QCOMPARE(cost.kvBytes, std::uint64_t(36 * 2 * 2 * 32 * 4));
        QCOMPARE(cost.weightBytes, 4 * (3 * 96 + matrices + head + 5 * 96));
        QCOMPARE(costOf(0).flops, cost.flops - 2 * head);
        QCOMPARE(costOf(0).weightBytes, cost.weightBytes - 4 * (head + 96));
    }

    void infoSaysWhatIsHeld()
    {
        QTemporaryDir folder;
        LoadedBackend loaded(BackendKind::Reference, writeTinyModel(folder.path().toStdString(), "tiny.gguf"), 16);
        const BackendInfo info = loaded.backend().info();
        QCOMPARE(info.name, std::string("reference"));
        QCOMPARE(info.weightBytes, 4 * loaded.spec().parameters);
        QCOMPARE(loaded.backend().kvElement(), KvElement::F32);
    }
};

QTEST_APPLESS_MAIN(TestReference)
#include "tst_reference.moc"
