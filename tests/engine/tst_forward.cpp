// SPDX-License-Identifier: GPL-3.0-or-later
// Laws that every backend keeps, whatever the values: how a prompt is cut changes nothing, nor do threads, a rewind or
// a neighbour in the pool; what fails leaves no trace.
#include "tests/support/fixture.h"
#include "tests/support/loaded_backend.h"
#include "tests/support/models.h"
#include "tests/support/tiny_model.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

using namespace lectern;
using namespace lectern::test;

Q_DECLARE_METATYPE(lectern::test::BackendKind)

namespace {

constexpr int kContext = 128;

std::vector<TokenId> someIds(int count, int vocabulary)
{
    std::vector<TokenId> ids;
    std::uint32_t state = 12345;
    for (int i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        ids.push_back(static_cast<TokenId>((state >> 8) % static_cast<std::uint32_t>(vocabulary)));
    }
    return ids;
}

// Not ==: bits count, also the sign of zero and NaN.
bool hasSameBits(const std::vector<float> &a, const std::vector<float> &b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

} // namespace

class TestForward : public QObject
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

    static void backendsAndModels()
    {
        QTest::addColumn<BackendKind>("kind");
        QTest::addColumn<QString>("name");
        for (const char *name : {"llama_f32", "llama_f16", "llama_bf16", "llama_q4_0", "llama_q4_1", "llama_q8_0",
                                 "llama_rope_freqs", "llama_wide_heads", "llama_one_kv_head"}) {
            QTest::newRow(qPrintable(QString("reference ") + name)) << BackendKind::Reference << name;
            QTest::newRow(qPrintable(QString("cpu ") + name)) << BackendKind::Cpu << name;
        }
    }

    // One forward pass that must fail and leave sequence and pool as they were.
    static void failsWithoutTrace(LoadedBackend &loaded, KvSequence &sequence, std::span<const TokenId> ids,
                                  const StopFlag &stop, ErrorCode code)
    {
        const int tokens = sequence.tokens();
        const std::vector<BlockId> blocks(sequence.blocks(0).begin(), sequence.blocks(0).end());
        const int used = loaded.pool().blocks(0).usedCount();
        const auto result = forward(loaded.backend(), sequence, ids, ids.empty() ? 0 : 1, stop);
        QVERIFY(!result.has_value());
        QCOMPARE(result.error().code, code);
        QVERIFY(!result.error().message.empty());
        QCOMPARE(sequence.tokens(), tokens);
        QCOMPARE(std::vector<BlockId>(sequence.blocks(0).begin(), sequence.blocks(0).end()), blocks);
        QCOMPARE(loaded.pool().blocks(0).usedCount(), used);
    }

    // Overwrites the first bytes of a tensor.
    static void damage(const std::filesystem::path &path, const char *tensor, const std::string &bytes)
    {
        const Model model = openModelFile(path);
        std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(static_cast<std::streamoff>(model.file->findTensor(tensor)->fileOffset));
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }

    QTemporaryDir m_folder;

private slots:
    void chunksOfAnySizeGiveTheSameBits_data() { backendsAndModels(); }
    void chunksOfAnySizeGiveTheSameBits()
    {
        QFETCH(BackendKind, kind);
        QFETCH(QString, name);
        LoadedBackend loaded(kind, tinyFile(tinyModel(name.toStdString())), kContext);
        const auto ids = someIds(100, loaded.spec().vocabulary);
        const std::vector<float> whole = loaded.logits(ids);
        QCOMPARE(whole.size(), static_cast<std::size_t>(loaded.spec().vocabulary));
        for (const int chunk : {64, 17, 7, 1})
            QVERIFY2(hasSameBits(loaded.logits(ids, chunk), whole), qPrintable(QString("chunks of %1").arg(chunk)));
    }

    void threadsChangeNoBit_data()
    {
        QTest::addColumn<QString>("name");
        for (const NamedTinyModel &model : tinyModels())
            QTest::newRow(model.name.c_str()) << QString::fromStdString(model.name);
    }
    void threadsChangeNoBit()
    {
        QFETCH(QString, name);
        const auto path = tinyFile(tinyModel(name.toStdString()));
        LoadedBackend one(BackendKind::Cpu, path, kContext, 1);
        QCOMPARE(one.backend().info().threads, 1);
        const auto ids = someIds(77, one.spec().vocabulary);
        const std::vector<float> expected = one.logits(ids);
        for (const int threads : {2, 3, 5}) {
            LoadedBackend more(BackendKind::Cpu, path, kContext, threads);
            QVERIFY2(hasSameBits(more.logits(ids), expected), qPrintable(QString("%1 threads").arg(threads)));
        }
    }

    void theRealModelGivesTheSameBitsInChunksAndOnAnyThreads()
    {
        const auto path = modelPath();
        if (!path)
            QSKIP("SmolLM2-135M-Instruct.Q4_1.gguf is not there");
        const auto ids = loadFixture("logits_smollm2.json")["prompts"][1]["ids"].get<std::vector<TokenId>>();
        LoadedBackend one(BackendKind::Cpu, *path, kContext, 1);
        const std::vector<float> whole = one.logits(ids);
        LoadedBackend two(BackendKind::Cpu, *path, kContext, 2);
        for (const int chunk : {0, 64, 7, 1})
            QVERIFY2(hasSameBits(two.logits(ids, chunk), whole), qPrintable(QString("chunks of %1").arg(chunk)));
    }

    void aRewoundSequenceGivesTheSameBits_data() { backends(); }
    void aRewoundSequenceGivesTheSameBits()
    {
        QFETCH(BackendKind, kind);
        LoadedBackend loaded(kind, tinyFile(), kContext);
        const auto ids = someIds(60, loaded.spec().vocabulary);
        KvSequence sequence(loaded.pool());
        const std::vector<float> expected = loaded.append(sequence, ids);
        for (const int kept : {59, 37, 16, 0}) {
            sequence.truncate(kept);
            loaded.append(sequence, someIds(20, 50)); // something else in between
            sequence.truncate(kept);
            const auto rest = std::span(ids).subspan(static_cast<std::size_t>(kept));
            QVERIFY2(hasSameBits(loaded.append(sequence, rest), expected), qPrintable(QString("from %1").arg(kept)));
        }
    }

    void sequencesInOnePoolDoNotSeeEachOther_data() { backends(); }
    void sequencesInOnePoolDoNotSeeEachOther()
    {
        QFETCH(BackendKind, kind);
        LoadedBackend loaded(kind, tinyFile(), kContext);
        const auto ids = someIds(80, loaded.spec().vocabulary);
        const auto first = std::span(ids).first(40), second = std::span(ids).last(40);
        const std::vector<float> alone[] = {loaded.logits(first), loaded.logits(second)};
        KvSequence a(loaded.pool()), b(loaded.pool());
        std::vector<float> fromA, fromB;
        for (std::size_t i = 0; i < 40; i += 10) { // their blocks lie between each other's
            fromA = loaded.append(a, first.subspan(i, 10));
            fromB = loaded.append(b, second.subspan(i, 10));
        }
        QVERIFY(hasSameBits(fromA, alone[0]));
        QVERIFY(hasSameBits(fromB, alone[1]));
    }

    void aStoppedPassLeavesTheSequenceAsItWas_data() { backends(); }
    void aStoppedPassLeavesTheSequenceAsItWas()
    {
        QFETCH(BackendKind, kind);
        LoadedBackend loaded(kind, tinyFile(), kContext);
        const auto ids = someIds(50, loaded.spec().vocabulary);
        KvSequence sequence(loaded.pool());
        loaded.append(sequence, std::span(ids).first(16));
        StopFlag stop;
        stop.request();
        failsWithoutTrace(loaded, sequence, std::span(ids).last(34), stop, ErrorCode::Cancelled);
        QVERIFY(hasSameBits(loaded.append(sequence, std::span(ids).last(34)), loaded.logits(ids)));
    }

    void wrongTokensAreRefused_data() { backends(); }
    void wrongTokensAreRefused()
    {
        QFETCH(BackendKind, kind);
        LoadedBackend loaded(kind, tinyFile(), kContext);
        KvSequence sequence(loaded.pool());
        loaded.append(sequence, someIds(16, 50));
        const StopFlag go;
        failsWithoutTrace(loaded, sequence, {}, go, ErrorCode::InvalidInput);
        for (const TokenId wrong : {-1, loaded.spec().vocabulary, 0x7FFFFFFF}) {
            const std::vector<TokenId> ids{1, wrong, 2};
            failsWithoutTrace(loaded, sequence, ids, go, ErrorCode::InvalidInput);
        }
    }

    void aFullPoolIsAnErrorAndNoMore_data() { backends(); }
    void aFullPoolIsAnErrorAndNoMore()
    {
        QFETCH(BackendKind, kind);
        LoadedBackend loaded(kind, tinyFile(), 32);
        KvSequence sequence(loaded.pool());
        loaded.append(sequence, someIds(30, 50));
        const StopFlag go;
        failsWithoutTrace(loaded, sequence, someIds(3, 50), go, ErrorCode::OutOfMemory);
        loaded.append(sequence, someIds(2, 50));
        QCOMPARE(sequence.tokens(), 32);
    }

    void logitsAreComputedOnlyWhenAsked_data() { backends(); }
    void logitsAreComputedOnlyWhenAsked()
    {
        QFETCH(BackendKind, kind);
        LoadedBackend loaded(kind, tinyFile(), kContext);
        KvSequence sequence(loaded.pool());
        const auto none = forward(loaded.backend(), sequence, someIds(5, 50), 0);
        QVERIFY(none.has_value());
        QCOMPARE(none->size(), 1u);
        QCOMPARE(none->front().rows, 0);
        QCOMPARE(sequence.tokens(), 5);
    }

    void loadingReportsProgressUpToTheEnd_data() { backends(); }
    void loadingReportsProgressUpToTheEnd()
    {
        QFETCH(BackendKind, kind);
        const Model model = openModelFile(tinyFile());
        std::uint64_t last = 0;
        bool grows = true;
        const auto progress = [&](std::uint64_t done, std::uint64_t total) {
            grows = grows && done >= last && total == model.spec.weightBytes;
            last = done;
        };
        QVERIFY(createBackend(kind, model, 1, progress, StopFlag()).has_value());
        QVERIFY(grows);
        QCOMPARE(last, model.spec.weightBytes);
    }

    // Public case 80: also in the moment in which loading is complete.
    void aStopWhileLoadingWins_data() { backends(); }
    void aStopWhileLoadingWins()
    {
        QFETCH(BackendKind, kind);
        const Model model = openModelFile(tinyFile());
        for (const double share : {0.0, 0.5, 0.999, 1.0}) {
            StopFlag stop;
            const auto limit = static_cast<std::uint64_t>(share * static_cast<double>(model.spec.weightBytes));
            const auto progress = [&](std::uint64_t done, std::uint64_t) {
                if (done >= limit)
                    stop.request();
            };
            if (share == 0)
                stop.request();
            const auto backend = createBackend(kind, model, 1, progress, stop);
            QVERIFY2(!backend.has_value(), qPrintable(QString("stopped at %1").arg(share)));
            QCOMPARE(backend.error().code, ErrorCode::Cancelled);
        }
    }

    void weightsThatAreNoNumbersDoNoHarm_data()
    {
        QTest::addColumn<BackendKind>("kind");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("tensor");
        QTest::addColumn<QByteArray>("bytes");
        const QByteArray nan32("\x00\x00\xC0\x7F", 4), infinity32("\x00\x00\x80\x7F", 4), huge32("\xFF\xFF\x7F\x7F", 4);
        const QByteArray nan16("\x00\x7E", 2), infinity16("\x00\x7C", 2), infinityBf16("\x80\x7F", 2);
        const auto rows = [](const char *name, const char *tensor, const QByteArray &bytes, const char *what) {
            const QString label = QString("%1 %2 %3").arg(name, tensor, what);
            QTest::newRow(qPrintable("reference " + label)) << BackendKind::Reference << name << tensor << bytes;
            QTest::newRow(qPrintable("cpu " + label)) << BackendKind::Cpu << name << tensor << bytes;
        };
        rows("llama_f32", "output_norm.weight", nan32, "NaN");
        rows("llama_f32", "blk.0.attn_norm.weight", infinity32, "infinity");
        rows("llama_f32", "blk.0.attn_q.weight", infinity32, "infinity");
        rows("llama_f32", "blk.1.ffn_up.weight", huge32.repeated(64), "huge");
        rows("llama_rope_freqs", "rope_freqs.weight", QByteArray(4, '\0'), "0");
        rows("llama_f16", "blk.1.attn_v.weight", infinity16, "infinity");
        rows("llama_bf16", "blk.1.attn_k.weight", infinityBf16, "infinity");
        rows("llama_q4_0", "blk.1.ffn_down.weight", infinity16, "infinite scale");
        rows("llama_q4_1", "token_embd.weight", nan16, "NaN scale");
        rows("llama_q8_0", "output.weight", nan16, "NaN scale");
    }
    void weightsThatAreNoNumbersDoNoHarm()
    {
        QFETCH(BackendKind, kind);
        QFETCH(QString, name);
        QFETCH(QString, tensor);
        QFETCH(QByteArray, bytes);
        const auto path = tinyFile(tinyModel(name.toStdString()));
        damage(path, qPrintable(tensor), bytes.toStdString());
        LoadedBackend loaded(kind, path, kContext);
        std::vector<TokenId> ids = someIds(20, loaded.spec().vocabulary);
        ids.front() = 0; // the row of the embedding that is damaged
        KvSequence sequence(loaded.pool());
        const std::vector<float> logits = loaded.append(sequence, ids);
        QCOMPARE(logits.size(), static_cast<std::size_t>(loaded.spec().vocabulary));
        QCOMPARE(sequence.tokens(), 20);
        // What is no number must not turn into a plausible one on the way.
        QVERIFY(std::any_of(logits.begin(), logits.end(), [](float value) { return !std::isfinite(value); }));
    }
};

QTEST_APPLESS_MAIN(TestForward)
#include "tst_forward.moc"
