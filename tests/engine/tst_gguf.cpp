// SPDX-License-Identifier: GPL-3.0-or-later
// Well-formed GGUF files give their values exactly, however their writer stored them.
#include "engine/gguf/gguf_file.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/models.h"
#include "tests/support/tiny_model.h"

#include <QTemporaryDir>
#include <QTest>
#include <cstring>
#include <fstream>
#include <limits>

using namespace lectern;
using namespace lectern::test;

namespace {

std::string oneToEight()
{
    std::string data;
    for (int i = 1; i <= 8; ++i)
        data += f32Bytes(static_cast<float>(i));
    return data;
}

// 128 bytes: one u32 key, tensor "t" of 8 values at byte 96 (public case 31).
GgufWriter small()
{
    GgufWriter writer;
    writer.addU32("q.number", 7).addTensor("t", {8}, 0, oneToEight());
    return writer;
}

std::vector<float> valuesOf(const GgufFile &file, const std::string &name)
{
    const TensorInfo *tensor = file.findTensor(name);
    std::vector<float> values(tensor->bytes / sizeof(float));
    if (!file.read(*tensor, 0, std::as_writable_bytes(std::span(values))))
        values.clear();
    return values;
}

} // namespace

class TestGguf : public QObject
{
    Q_OBJECT

private slots:
    void aSmallFileGivesItsKeyAndItsTensor()
    {
        const std::string bytes = small().bytes();
        QCOMPARE(bytes.size(), std::size_t{128});
        const Result<GgufFile> file = open(bytes);
        QVERIFY2(file, file ? "" : file.error().text().c_str());
        QCOMPARE(file->version(), 3u);
        QCOMPARE(file->fileBytes(), 128u);
        QCOMPARE(file->entries().size(), std::size_t{1});
        QCOMPARE(*file->uintValue("q.number"), 7u);
        const TensorInfo *tensor = file->findTensor("t");
        QVERIFY(tensor);
        QCOMPARE(tensor->fileOffset, 96u);
        QCOMPARE(tensor->bytes, 32u);
        QCOMPARE(tensor->columns(), 8u);
        QCOMPARE(tensor->rows(), 1u);
        QCOMPARE(valuesOf(*file, "t"), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
        QVERIFY(!file->findTensor("u"));
    }

    void versionTwoIsReadLikeVersionThree() // public case 41
    {
        const Result<GgufFile> file = open(small().setVersion(2).bytes());
        QVERIFY(file);
        QCOMPARE(file->version(), 2u);
        QCOMPARE(*file->uintValue("q.number"), 7u);
        QCOMPARE(valuesOf(*file, "t"), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
    }

    void alignmentIsUsedExactly() // public case 37
    {
        GgufWriter writer;
        writer.setAlignment(16).addTensor("weights.one", {8}, 0, oneToEight());
        QCOMPARE(writer.bytes().size(), std::size_t{144});
        const Result<GgufFile> file = open(writer.bytes());
        QVERIFY(file);
        QCOMPARE(file->findTensor("weights.one")->fileOffset, 112u);
        QCOMPARE(valuesOf(*file, "weights.one"), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
    }

    void anUnknownTensorTypeKeepsTheMetadataUsable() // public case 32
    {
        GgufWriter writer;
        writer.addTensor("t", {8}, 250, oneToEight());
        QCOMPARE(writer.bytes().size(), std::size_t{96});
        const Result<GgufFile> file = open(writer.addU32("q.number", 7).bytes());
        QVERIFY(file);
        QCOMPARE(file->findTensor("t")->typeId, 250u);
        QCOMPARE(file->findTensor("t")->bytes, 0u);
        QCOMPARE(*file->uintValue("q.number"), 7u);
    }

    void everyWidthOfNumberWidens()
    {
        GgufWriter writer;
        writer.addRaw("u8", 0, "\xFF").addRaw("i8", 1, "\xFF");
        writer.addRaw("u16", 2, "\xFF\xFF").addRaw("i16", 3, "\xFE\xFF");
        writer.addU32("u32", 0xFFFFFFFF).addI32("i32", -3).addI32("i32 positive", 3);
        writer.addU64("u64", std::numeric_limits<std::uint64_t>::max()).addRaw("i64", 11, u64Bytes(~std::uint64_t{4}));
        writer.addF32("f32", 1e-5f).addRaw("f64", 12, std::string("\0\0\0\0\0\0\xF8\x3F", 8)); // 1.5
        writer.addBool("yes", true).addBool("no", false).addText("text", "gr\u00FC\u00DFe");
        const Result<GgufFile> file = open(writer.bytes());
        QVERIFY(file);
        QCOMPARE(*file->uintValue("u8"), 255u);
        QCOMPARE(std::get<std::int64_t>(*file->find("i8")), -1);
        QCOMPARE(*file->uintValue("u16"), 65535u);
        QCOMPARE(std::get<std::int64_t>(*file->find("i16")), -2);
        QCOMPARE(*file->uintValue("u32"), 0xFFFFFFFFu);
        QCOMPARE(*file->uintValue("i32 positive"), 3u);
        QCOMPARE(*file->uintValue("u64"), std::numeric_limits<std::uint64_t>::max());
        QCOMPARE(std::get<std::int64_t>(*file->find("i64")), -5);
        QCOMPARE(*file->floatValue("f32"), static_cast<double>(1e-5f));
        QCOMPARE(*file->floatValue("f64"), 1.5);
        QCOMPARE(*file->boolOr("yes", false), true);
        QCOMPARE(*file->boolOr("no", true), false);
        QCOMPARE(*file->stringValue("text"), std::string("gr\u00FC\u00DFe"));
    }

    void aKeyOfAnotherTypeIsRefusedByNameAndAMissingOneGivesTheFallback()
    {
        const Result<GgufFile> file = open(GgufWriter().addI32("low", -3).addText("text", "x").bytes());
        QVERIFY(file);
        QCOMPARE(file->uintValue("low").error().message,
                 std::string("key low: found -3, expected a whole number that is not negative"));
        QCOMPARE(file->uintOr("text", 1).error().message,
                 std::string("key text: found a text, expected a whole number that is not negative"));
        QVERIFY(file->floatValue("low").error().code == ErrorCode::BadFormat);
        QVERIFY(file->boolOr("text", true).error().code == ErrorCode::BadFormat);
        QVERIFY(file->stringOr("low", "").error().code == ErrorCode::BadFormat);
        QVERIFY(file->uintValue("none").error().code == ErrorCode::NotFound);
        QCOMPARE(file->uintValue("none").error().message, std::string("key none is missing"));
        QCOMPARE(*file->uintOr("none", 9), 9u);
        QCOMPARE(*file->boolOr("none", true), true);
        QCOMPARE(*file->stringOr("none", "as is"), std::string("as is"));
        QVERIFY(!file->strings("text"));
        QVERIFY(!file->floats("none"));
    }

    void arraysOfEveryTypeAreRead()
    {
        GgufWriter writer;
        writer.addTexts("texts", {"a", "", std::string("\0b", 2)}).addFloats("floats", {0.5f, -2.0f});
        writer.addI32s("i32s", {-1, 2}).addTexts("none", {});
        writer.addRaw("bytes", 9, u32Bytes(0) + u64Bytes(3) + "\x01\x80\xFF");
        writer.addRaw("u64s", 9, u32Bytes(10) + u64Bytes(1) + u64Bytes(std::uint64_t{1} << 40));
        writer.addRaw("f64s", 9, u32Bytes(12) + u64Bytes(1) + std::string("\0\0\0\0\0\0\xF8\x3F", 8));
        writer.addRaw("truths", 9, u32Bytes(7) + u64Bytes(2) + std::string("\1\0", 2));
        const Result<GgufFile> file = open(writer.bytes());
        QVERIFY2(file, file ? "" : file.error().text().c_str());
        QCOMPARE(*file->strings("texts"), (std::vector<std::string>{"a", "", std::string("\0b", 2)}));
        QCOMPARE(*file->floats("floats"), (std::vector<float>{0.5f, -2.0f}));
        QCOMPARE(*file->integers("i32s"), (std::vector<std::int64_t>{-1, 2}));
        QCOMPARE(file->strings("none")->size(), std::size_t{0});
        QCOMPARE(*file->integers("bytes"), (std::vector<std::int64_t>{1, 128, 255}));
        QCOMPARE(*file->integers("u64s"), (std::vector<std::int64_t>{std::int64_t{1} << 40}));
        QCOMPARE(*file->floats("f64s"), (std::vector<float>{1.5f}));
        QCOMPARE(std::get<std::vector<bool>>(*file->find("truths")), (std::vector<bool>{true, false}));
    }

    void aVocabularyOf256000PiecesIsReadWhole() // public case 35
    {
        std::vector<std::string> pieces;
        for (int i = 0; i < 256000; ++i)
            pieces.push_back("piece " + std::to_string(i));
        const Result<GgufFile> file =
            open(GgufWriter().addTexts("tokens", pieces).addFloats("scores", std::vector<float>(256000, 1.0f)).bytes());
        QVERIFY(file);
        QVERIFY(*file->strings("tokens") == pieces);
        QCOMPARE(file->floats("scores")->back(), 1.0f);
    }

    void aPathOfAnyLettersWorksAndIsNamedInMessages() // public case 43
    {
        const std::filesystem::path folder = m_folder / "модели 模型 é";
        std::filesystem::create_directory(folder);
        for (const char *name : {"тест-ü.gguf", "a 数 ' \" b.gguf"}) {
            write(folder / name, small().bytes());
            const Result<GgufFile> file = GgufFile::open(folder / name);
            QVERIFY(file);
            QCOMPARE(file->path(), folder / name);
            write(folder / name, "broken");
            QCOMPARE(GgufFile::open(folder / name).error().where, (folder / name).string());
        }
    }

    void partsOfATensorAreReadAndNothingBeyondIt()
    {
        const Result<GgufFile> file = open(small().bytes());
        const TensorInfo &tensor = *file->findTensor("t");
        float part[2];
        QVERIFY(file->read(tensor, 8, std::as_writable_bytes(std::span(part))));
        QCOMPARE(part[0], 3.0f);
        QCOMPARE(part[1], 4.0f);
        QVERIFY(file->read(tensor, 32, {}));
        QVERIFY(file->read(tensor, 28, std::as_writable_bytes(std::span(part))).error().code ==
                ErrorCode::InvalidInput);
        QVERIFY(!file->read(tensor, 33, {}));
        QVERIFY(
            !file->read(tensor, std::numeric_limits<std::uint64_t>::max(), std::as_writable_bytes(std::span(part))));
    }

    void aFileThatShrinksAfterOpeningIsAnError()
    {
        const Result<GgufFile> file = open(small().bytes());
        std::filesystem::resize_file(m_folder / "x.gguf", 100);
        std::vector<float> values(8);
        const Result<void> read = file->read(*file->findTensor("t"), 0, std::as_writable_bytes(std::span(values)));
        QCOMPARE(read.error().message, std::string("tensor t: the file ends at byte 100, 28 more bytes are needed"));
    }

    void blockTypesHaveTheirSizes()
    {
        for (const NamedTinyModel &model : tinyModels()) {
            const Result<GgufFile> file = open(tinyModelBytes(model.spec));
            QVERIFY2(file, file ? "" : file.error().text().c_str());
            const TensorInfo *gate = file->findTensor("blk.0.ffn_gate.weight");
            QCOMPARE(gate->bytes, findQuantType(gate->typeId)->rowBytes(96) * 160);
        }
    }

    void theRealModelHasItsKnownShape()
    {
        const auto path = modelPath();
        if (!path)
            QSKIP(kModelFileName);
        const Result<GgufFile> file = GgufFile::open(*path);
        QVERIFY2(file, file ? "" : file.error().text().c_str());
        QCOMPARE(*file->stringValue("general.architecture"), std::string("llama"));
        QCOMPARE(*file->uintValue("llama.block_count"), 30u);
        QCOMPARE(file->tensors().size(), std::size_t{272});
        QCOMPARE(file->strings("tokenizer.ggml.tokens")->size(), std::size_t{49152});
        QCOMPARE(file->findTensor("token_embd.weight")->typeId, 8u);
        QCOMPARE(file->findTensor("blk.29.ffn_down.weight")->bytes, std::uint64_t{1536} / 32 * 20 * 576);
    }

private:
    static void write(const std::filesystem::path &path, const std::string &bytes)
    {
        std::ofstream(path, std::ios::binary) << bytes;
    }

    Result<GgufFile> open(const std::string &bytes)
    {
        write(m_folder / "x.gguf", bytes);
        return GgufFile::open(m_folder / "x.gguf");
    }

    QTemporaryDir m_temporary;
    std::filesystem::path m_folder = m_temporary.path().toStdString();
};

QTEST_APPLESS_MAIN(TestGguf)
#include "tst_gguf.moc"
