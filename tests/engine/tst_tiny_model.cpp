// SPDX-License-Identifier: GPL-3.0-or-later
// The generator of tiny models writes the very files that the stored logits were computed for.
#include "engine/base/file.h"
#include "engine/gguf/gguf_file.h"
#include "tests/support/fixture.h"
#include "tests/support/tiny_model.h"

#include <QTemporaryDir>
#include <QTest>

using namespace lectern;
using namespace lectern::test;

class TestTinyModel : public QObject
{
    Q_OBJECT

private slots:
    // LECTERN_WRITE_TINY_MODELS=FOLDER keeps the files, for tests/data/make_expected.py.
    void initTestCase()
    {
        const QByteArray chosen = qgetenv("LECTERN_WRITE_TINY_MODELS");
        m_folder = chosen.isEmpty() ? m_temporary.path().toStdString() : chosen.toStdString();
        for (const NamedTinyModel &model : tinyModels())
            writeTinyModel(m_folder, model.name + ".gguf", model.spec);
    }

    void everyModelIsTheOneWithStoredLogits_data()
    {
        QTest::addColumn<QString>("name");
        for (const NamedTinyModel &model : tinyModels())
            QTest::newRow(model.name.c_str()) << QString::fromStdString(model.name);
    }

    void everyModelIsTheOneWithStoredLogits()
    {
        QFETCH(QString, name);
        const nlohmann::json expected = loadFixture("tiny_llama_expected.json")["models"];
        const auto stored = expected.find(name.toStdString());
        QVERIFY(stored != expected.end());
        const Result<std::string> sha256 = sha256OfFile(m_folder / (name.toStdString() + ".gguf"), StopFlag());
        QVERIFY(sha256);
        QCOMPARE(QString::fromStdString(*sha256), QString::fromStdString((*stored)["sha256"].get<std::string>()));
    }

    void storedLogitsCoverEveryModelAndNoOther()
    {
        QCOMPARE(loadFixture("tiny_llama_expected.json")["models"].size(), tinyModels().size());
    }

    void aModelHasTheShapesOfItsSpecification()
    {
        const Result<GgufFile> file = GgufFile::open(m_folder / "llama_one_kv_head.gguf");
        QVERIFY(file);
        QCOMPARE(*file->uintValue("llama.attention.head_count_kv"), 1u);
        QCOMPARE(file->findTensor("blk.1.attn_q.weight")->shape, (std::vector<std::uint64_t>{96, 192}));
        QCOMPARE(file->findTensor("blk.1.attn_k.weight")->shape, (std::vector<std::uint64_t>{96, 32}));
        QCOMPARE(file->findTensor("token_embd.weight")->rows(), file->strings("tokenizer.ggml.tokens")->size());
        QVERIFY(!file->findTensor("output.weight"));
    }

private:
    QTemporaryDir m_temporary;
    std::filesystem::path m_folder;
};

QTEST_APPLESS_MAIN(TestTinyModel)
#include "tst_tiny_model.moc"
