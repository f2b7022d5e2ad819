// SPDX-License-Identifier: GPL-3.0-or-later
// Several sequences in one pass: what one yields does not depend on the others, prefixes are shared, layers may differ,
// and what fails leaves all sequences as they were.
#include "tests/support/fixture.h"
#include "tests/support/loaded_backend.h"
#include "tests/support/logit_difference.h"
#include "tests/support/models.h"
#include "tests/support/tiny_model.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cstring>

using namespace lectern;
using namespace lectern::test;

Q_DECLARE_METATYPE(lectern::test::BackendKind)

namespace {

constexpr int kContext = 512; // of all sequences of a test together

std::vector<TokenId> someIds(int count, int vocabulary, std::uint32_t seed)
{
    std::vector<TokenId> ids;
    for (int i = 0; i < count; ++i) {
        seed = seed * 1664525u + 1013904223u;
        ids.push_back(static_cast<TokenId>((seed >> 8) % static_cast<std::uint32_t>(vocabulary)));
    }
    return ids;
}

bool hasSameBits(std::span<const float> a, std::span<const float> b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// A sequence that holds `held` tokens and is to run `next` more.
struct Part
{
    std::vector<TokenId> held, next;
};

} // namespace

class TestBatch : public QObject
{
    Q_OBJECT

private:
    std::filesystem::path tinyFile(const TinyModelSpec &spec = {})
    {
        return writeTinyModel(m_folder.path().toStdString(), "tiny.gguf", spec);
    }

    static void backends()
    {
        QTest::addColumn<BackendKind>("kind");
        QTest::newRow("reference") << BackendKind::Reference;
        QTest::newRow("cpu") << BackendKind::Cpu;
    }

    // Decode steps of several depths, a whole prompt, the middle of a prompt, one that ends a prompt.
    static std::vector<Part> mixture(int vocabulary)
    {
        std::vector<Part> parts;
        const std::pair<int, int> sizes[] = {{20, 1}, {0, 37}, {63, 1}, {16, 20}, {1, 1}, {130, 1}, {33, 3}};
        for (const auto &[held, next] : sizes) {
            const auto ids = someIds(held + next, vocabulary, static_cast<std::uint32_t>(parts.size() + 1));
            parts.push_back({{ids.begin(), ids.begin() + held}, {ids.begin() + held, ids.end()}});
        }
        return parts;
    }

    // The logits of all parts, run together, or each alone.
    static std::vector<std::vector<float>> run(LoadedBackend &loaded, const std::vector<Part> &parts, bool isTogether)
    {
        std::vector<std::unique_ptr<KvSequence>> sequences;
        std::vector<BatchSlice> batch;
        for (const Part &part : parts) {
            sequences.push_back(std::make_unique<KvSequence>(loaded.pool()));
            if (!part.held.empty())
                loaded.append(*sequences.back(), part.held);
            batch.push_back({sequences.back().get(), part.next, 1, nullptr});
        }
        std::vector<std::vector<float>> logits;
        const std::size_t atOnce = isTogether ? batch.size() : 1;
        for (std::size_t i = 0; i < batch.size(); i += atOnce) {
            const auto rows = loaded.backend().forward(std::span(batch).subspan(i, atOnce), nullptr);
            if (!rows)
                qFatal("%s", rows.error().text().c_str());
            for (const LogitRows &slice : *rows)
                logits.emplace_back(slice.last().begin(), slice.last().end());
        }
        return logits;
    }

    QTemporaryDir m_folder;

private slots:
    void aSliceYieldsTheSameBitsInAnyCompany_data()
    {
        QTest::addColumn<BackendKind>("kind");
        QTest::addColumn<QString>("name");
        for (const NamedTinyModel &model : tinyModels()) {
            QTest::newRow(("reference " + model.name).c_str()) << BackendKind::Reference << QString(model.name.c_str());
            QTest::newRow(("cpu " + model.name).c_str()) << BackendKind::Cpu << QString(model.name.c_str());
        }
    }
    void aSliceYieldsTheSameBitsInAnyCompany()
    {
        QFETCH(BackendKind, kind);
        QFETCH(QString, name);
        const auto path = tinyFile(tinyModel(name.toStdString()));
        for (const int threads : {1, 3}) {
            LoadedBackend loaded(kind, path, kContext, threads);
            std::vector<Part> parts = mixture(loaded.spec().vocabulary);
            const auto alone = run(loaded, parts, false);
            const auto together = run(loaded, parts, true);
            std::reverse(parts.begin(), parts.end());
            auto reversed = run(loaded, parts, true);
            std::reverse(reversed.begin(), reversed.end());
            for (std::size_t i = 0; i < alone.size(); ++i) {
                QVERIFY2(hasSameBits(together[i], alone[i]), qPrintable(QString("slice %1").arg(i)));
                QVERIFY2(hasSameBits(reversed[i], alone[i]), qPrintable(QString("slice %1, reversed").arg(i)));
            }
        }
    }

    void theRealModelGivesTheSameBitsInCompany()
    {
        const auto path = modelPath();
        if (!path)
            QSKIP("SmolLM2-135M-Instruct.Q4_1.gguf is not there");
        LoadedBackend loaded(BackendKind::Cpu, *path, kContext);
        const std::vector<Part> parts = mixture(loaded.spec().vocabulary);
        const auto alone = run(loaded, parts, false);
        const auto together = run(loaded, parts, true);
        for (std::size_t i = 0; i < alone.size(); ++i)
            QVERIFY2(hasSameBits(together[i], alone[i]), qPrintable(QString("slice %1").arg(i)));
    }

    void logitsOfTheLastPositionsAreThoseOfShorterRuns_data() { backends(); }
    void logitsOfTheLastPositionsAreThoseOfShorterRuns()
    {
        QFETCH(BackendKind, kind);
        LoadedBackend loaded(kind, tinyFile(tinyModel("llama_q4_1")), kContext);
        const auto ids = someIds(30, loaded.spec().vocabulary, 5);
        const auto other = someIds(9, loaded.spec().vocabulary, 6);
        KvSequence a(loaded.pool()), b(loaded.pool());
        const BatchSlice batch[] = {{&b, other, 0, nullptr}, {&a, ids, 11, nullptr}};
        const auto rows = loaded.backend().forward(batch, nullptr);
        QVERIFY(rows.has_value());
        QCOMPARE((*rows)[0].rows, 0);
        QCOMPARE((*rows)[1].rows, 11);
        std::vector<std::vector<float>> found;
        for (int i = 0; i < 11; ++i)
            found.emplace_back((*rows)[1].row(i).begin(), (*rows)[1].row(i).end());
        for (std::size_t i = 0; i < 11; ++i)
            QVERIFY(hasSameBits(found[i], loaded.logits(std::span(ids).first(20 + i))));
    }

    void aSharedPrefixIsContinuedInTwoWays_data() { backends(); }
    void aSharedPrefixIsContinuedInTwoWays()
    {
        QFETCH(BackendKind, kind);
        LoadedBackend loaded(kind, tinyFile(), kContext);
        const auto prefix = someIds(40, 50, 1), one = someIds(5, 50, 2), two = someIds(7, 50, 3);
        const auto whole = [&](std::span<const TokenId> rest) {
            std::vector<TokenId> ids(prefix);
            ids.insert(ids.end(), rest.begin(), rest.end());
            return loaded.logits(ids);
        };
        KvSequence a(loaded.pool()), b(loaded.pool());
        loaded.append(a, prefix);
        b.share(a, 40);
        QCOMPARE(loaded.pool().blocks(0).usedCount(), 3);
        const BatchSlice batch[] = {{&a, one, 1, nullptr}, {&b, two, 1, nullptr}}; // both write to the third block
        const auto rows = loaded.backend().forward(batch, nullptr);
        QVERIFY(rows.has_value());
        const std::vector<float> fromA((*rows)[0].last().begin(), (*rows)[0].last().end());
        const std::vector<float> fromB((*rows)[1].last().begin(), (*rows)[1].last().end());
        QCOMPARE(loaded.pool().blocks(0).usedCount(), 4);
        QVERIFY(hasSameBits(fromA, whole(one)));
        QVERIFY(hasSameBits(fromB, whole(two)));
    }

    void layersMayDiffer_data()
    {
        QTest::addColumn<int>("variant");
        QTest::newRow("KV heads and inner widths of the file") << 0;
        QTest::newRow("windows") << 1;
        QTest::newRow("keys and values of an earlier layer") << 2;
        QTest::newRow("one without rotation, one with another base") << 3;
    }
    void layersMayDiffer()
    {
        QFETCH(int, variant);
        TinyModelSpec tiny;
        if (variant == 0) {
            tiny.kvHeadsOf = {2, 6};
            tiny.feedForwardOf = {160, 64};
        }
        const auto change = [variant](ModelSpec &spec) {
            if (variant == 1)
                spec.layers[1].window = 21;
            if (variant == 2)
                spec.layers[1].kvSource = 0;
            if (variant == 3) {
                spec.layers[0].ropeDims = 0;
                spec.layers[1].ropeBase = 500;
            }
        };
        const auto path = tinyFile(tiny);
        LoadedBackend reference(BackendKind::Reference, path, kContext, 0, change);
        LoadedBackend cpu(BackendKind::Cpu, path, kContext, 2, change);
        const auto ids = someIds(180, reference.spec().vocabulary, 9);
        const std::vector<float> expected = reference.logits(ids), found = cpu.logits(ids);
        const LogitDifference off = logitDifference(widened(expected), widened(found));
        QVERIFY2(off.maxAbs < 0.03 && off.kl < 1e-3, qPrintable(QString::number(off.maxAbs))); // as with F16 caches
        for (const int chunk : {40, 16, 7, 1}) {
            QVERIFY(hasSameBits(cpu.logits(ids, chunk), found));
            QVERIFY(chunk == 1 || hasSameBits(reference.logits(ids, chunk), expected));
        }
        if (variant == 0)
            return;
        LoadedBackend plain(BackendKind::Reference, path, kContext);
        QVERIFY(logitDifference(widened(expected), widened(plain.logits(ids))).maxAbs > 0.1); // it does something
    }

    // Tokens that a window has left behind change nothing.
    void aWindowSeesSoManyPositions_data() { backends(); }
    void aWindowSeesSoManyPositions()
    {
        QFETCH(BackendKind, kind);
        const auto change = [](ModelSpec &spec) {
            for (LayerSpec &layer : spec.layers)
                layer.window = 18;
        };
        LoadedBackend loaded(kind, tinyFile(), kContext, 0, change);
        // Two layers: the last token is reached from 2 · 17 positions before it.
        auto ids = someIds(60, loaded.spec().vocabulary, 4);
        const std::vector<float> expected = loaded.logits(ids);
        ids[60 - 1 - 35] += 1;
        QVERIFY(hasSameBits(loaded.logits(ids), expected));
        ids[60 - 1 - 34] += 1;
        QVERIFY(!hasSameBits(loaded.logits(ids), expected));
    }

    void whatABackendDoesNotComputeIsRefusedByName_data() { backends(); }
    void whatABackendDoesNotComputeIsRefusedByName()
    {
        QFETCH(BackendKind, kind);
        Model model = openModelFile(tinyFile());
        model.spec.layers[1].hasSinks = true;
        const auto backend = createBackend(kind, model, 1, {}, StopFlag());
        QVERIFY(!backend.has_value());
        QCOMPARE(backend.error().code, ErrorCode::Unsupported);
        QCOMPARE(backend.error().message, "layer 1 has attention sinks, which the " +
                                              std::string(kind == BackendKind::Cpu ? "cpu" : "reference") +
                                              " backend cannot run");
    }

    void errorsLeaveAllSequencesAsTheyWere_data() { backends(); }
    void errorsLeaveAllSequencesAsTheyWere()
    {
        QFETCH(BackendKind, kind);
        LoadedBackend loaded(kind, tinyFile(), 64);
        KvSequence a(loaded.pool()), b(loaded.pool());
        loaded.append(a, someIds(16, 50, 1));
        loaded.append(b, someIds(10, 50, 2));
        StopFlag stop;
        const std::vector<TokenId> good{1, 2, 3}, bad{1, loaded.spec().vocabulary}, many(30, 1), tooMany(126, 1);
        const auto fails = [&](const BatchSlice &first, const BatchSlice &second, ErrorCode code) {
            const BatchSlice batch[] = {first, second};
            const auto result = loaded.backend().forward(batch, nullptr);
            QVERIFY(!result.has_value());
            QCOMPARE(result.error().code, code);
            QCOMPARE(a.tokens(), 16);
            QCOMPARE(b.tokens(), 10);
            QCOMPARE(loaded.pool().blocks(0).usedCount(), 2);
        };
        const BatchSlice first{&a, good, 1, nullptr};
        fails(first, {&b, bad, 1, nullptr}, ErrorCode::InvalidInput);
        fails(first, {&b, {}, 0, nullptr}, ErrorCode::InvalidInput);
        fails(first, {&b, good, 4, nullptr}, ErrorCode::InvalidInput);
        fails(first, {&b, many, 1, nullptr}, ErrorCode::OutOfMemory);
        fails(first, {&b, tooMany, 1, nullptr}, ErrorCode::InvalidInput); // 129 in one pass
        stop.request();
        fails(first, {&b, good, 1, &stop}, ErrorCode::Cancelled);
        const BatchSlice batch[] = {first, {&b, good, 1, nullptr}};
        QVERIFY(loaded.backend().forward(batch, nullptr).has_value());
        QCOMPARE(a.tokens() + b.tokens(), 32);
    }

    void weightsAreReadOnceForTheWholeBatch_data() { backends(); }
    void weightsAreReadOnceForTheWholeBatch()
    {
        QFETCH(BackendKind, kind);
        LoadedBackend loaded(kind, tinyFile(tinyModel("llama_q8_0")), kContext);
        const auto traceOf = [&](int count) {
            std::vector<std::unique_ptr<KvSequence>> sequences;
            std::vector<BatchSlice> batch;
            const std::vector<TokenId> ids{7};
            for (int i = 0; i < count; ++i) {
                sequences.push_back(std::make_unique<KvSequence>(loaded.pool()));
                loaded.append(*sequences.back(), someIds(20, 50, 3));
                batch.push_back({sequences.back().get(), ids, 1, nullptr});
            }
            PassTrace trace;
            if (!loaded.backend().forward(batch, &trace))
                qFatal("the pass failed");
            return trace;
        };
        const PassTrace one = traceOf(1), four = traceOf(4);
        QCOMPARE(one.operations().size(), four.operations().size());
        std::int64_t endNs = 0;
        for (std::size_t i = 0; i < one.operations().size(); ++i) {
            const OperationRecord &alone = one.operations()[i], &together = four.operations()[i];
            QCOMPARE(together.operation, alone.operation);
            QCOMPARE(together.layer, alone.layer);
            QCOMPARE(together.cost.kvBytes, 4 * alone.cost.kvBytes);
            QCOMPARE(together.cost.flops, 4 * alone.cost.flops);
            if (alone.operation != Operation::Embed)
                QCOMPARE(together.cost.weightBytes, alone.cost.weightBytes);
            QVERIFY(alone.offsetNs >= endNs);
            endNs = alone.offsetNs + alone.ns;
        }
        // 21 positions are seen in each of two layers.
        const std::uint64_t elements = 21u * 2 * 2 * 2 * 16;
        QCOMPARE(one.total().kvBytes, elements * (kind == BackendKind::Cpu ? 2 : 4));
    }
};

QTEST_APPLESS_MAIN(TestBatch)
#include "tst_batch.moc"
