// SPDX-License-Identifier: GPL-3.0-or-later
// Damaged and hostile GGUF files are refused with a message that says what is wrong and where, and cost no memory.
#include "engine/gguf/gguf_file.h"
#include "tests/support/fixture.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/models.h"
#include "tests/support/tiny_model.h"

#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>
#include <random>
#include <sys/stat.h>

using namespace lectern;
using namespace lectern::test;

namespace {

std::atomic<std::size_t> s_largestAllocation{0};

const std::string kEight(32, '\0'); // 8 F32 values

GgufWriter small()
{
    GgufWriter writer;
    writer.addU32("q.number", 7).addTensor("t", {8}, 0, kEight);
    return writer;
}

std::string header(std::uint64_t tensors, std::uint64_t keys, std::uint32_t version = 3)
{
    return "GGUF" + u32Bytes(version) + u64Bytes(tensors) + u64Bytes(keys);
}

std::string arrayOf(std::uint32_t type, std::uint64_t count)
{
    return u32Bytes(type) + u64Bytes(count);
}

struct Refused
{
    const char *name;
    std::string bytes;
    const char *message;
};

} // namespace

// Replaced to see what a hostile file makes the reader allocate.
void *operator new(std::size_t size)
{
    std::size_t largest = s_largestAllocation;
    while (size > largest && !s_largestAllocation.compare_exchange_weak(largest, size)) {
    }
    if (void *memory = std::malloc(size))
        return memory;
    throw std::bad_alloc();
}
void operator delete(void *memory) noexcept
{
    std::free(memory);
}
void operator delete(void *memory, std::size_t) noexcept
{
    std::free(memory);
}

class TestGgufDamaged : public QObject
{
    Q_OBJECT

private slots:
    void isRefusedWithAClearMessage_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QByteArray>("message");
        const auto row = [](const char *name, const std::string &bytes, const char *message) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes) << QByteArray(message);
        };
        addHeaderRows(row);
        addMetadataRows(row);
        addTensorRows(row);
    }

    void isRefusedWithAClearMessage()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QByteArray, message);
        const std::filesystem::path path = write(bytes.toStdString());
        s_largestAllocation = 0;
        const Result<GgufFile> file = GgufFile::open(path);
        const std::size_t largest = s_largestAllocation;
        QVERIFY(!file);
        QCOMPARE(QByteArray::fromStdString(file.error().message), message);
        QCOMPARE(file.error().where, path.string());
        QVERIFY2(largest < 4096 + 2 * static_cast<std::size_t>(bytes.size()), qPrintable(QString::number(largest)));
    }

    void lengthsBeyondTheLimitsAreRefusedEvenWhenTheFileIsLargeEnough()
    {
        const auto refusal = [this](const std::string &start) {
            const std::filesystem::path path = write(start);
            std::filesystem::resize_file(path, std::uint64_t{200} << 20); // zeros that take no room on the disk
            s_largestAllocation = 0;
            const Result<GgufFile> file = GgufFile::open(path);
            return file ? std::string() : s_largestAllocation < (1u << 20) ? file.error().message : "large allocation";
        };
        QCOMPARE(refusal(header(0, 1) + textBytes("k") + u32Bytes(8) + u64Bytes((16 << 20) + 1)),
                 std::string("key k at byte 24: a text of 16777217 bytes at byte 37, at most 16777216 are accepted"));
        QCOMPARE(refusal(header(0, 1) + textBytes("k") + u32Bytes(9) + arrayOf(0, (16 << 20) + 1)),
                 std::string("key k at byte 24: an array of 16777217 elements, at most 16777216 are accepted"));
        QCOMPARE(refusal(header(0, 1) + u64Bytes((64 << 10) + 1)),
                 std::string("key at byte 24: a text of 65537 bytes at byte 24, at most 65536 are accepted"));
        QCOMPARE(refusal(header(0, (64 << 10) + 1)),
                 std::string("the header announces 65537 metadata keys, at most 65536 are accepted"));
        QCOMPARE(refusal(header((64 << 10) + 1, 0)),
                 std::string("the header announces 65537 tensors, at most 65536 are accepted"));
    }

    void everyCutOfASmallFileIsRefused()
    {
        const std::string whole = small().bytes();
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const Result<GgufFile> file = GgufFile::open(write(whole.substr(0, length)));
            QVERIFY2(!file, qPrintable(QString::number(length)));
            QVERIFY(file.error().code == ErrorCode::BadFormat);
        }
        QVERIFY(GgufFile::open(write(whole)));
    }

    void aModelCutAtAnyPercentIsRefusedAsIncomplete()
    {
        const std::string whole = tinyModelBytes({.weights = QuantId::Q4_0});
        for (std::size_t percent = 1; percent < 100; ++percent)
            QCOMPARE(otherThanIncomplete(whole.substr(0, whole.size() * percent / 100)), std::string());
    }

    void theRealModelCutAnywhereInItsFirstMegabyteIsRefusedAsIncomplete()
    {
        const auto path = modelPath();
        if (!path)
            QSKIP(kModelFileName);
        std::string start(1 << 20, '\0');
        std::ifstream(*path, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size()));
        for (std::size_t percent = 1; percent <= 100; ++percent)
            QCOMPARE(otherThanIncomplete(start.substr(0, start.size() * percent / 100)), std::string());
    }

    void whatIsNoFileIsRefused()
    {
        const std::filesystem::path pipe = m_folder / "pipe";
        QCOMPARE(mkfifo(pipe.c_str(), 0600), 0);
        QCOMPARE(GgufFile::open(m_folder).error().message, std::string("this is a folder, not a file"));
        QCOMPARE(GgufFile::open(pipe).error().message, std::string("this is a pipe or a device, not a file"));
        QVERIFY(GgufFile::open(m_folder / "none").error().code == ErrorCode::NotFound);
        QVERIFY(GgufFile::open(write("x") / "below").error().code == ErrorCode::NotFound);
    }

    // Flipped bytes either give an error or a file whose tensors all lie inside it.
    void flippedBytesNeverLeadOutsideTheFile()
    {
        GgufWriter writer;
        writer.addText("general.architecture", "llama").addTexts("tokens", {"a", "bc", "def"}).addFloats("f", {1, 2});
        writer.addTensor("a", {32, 2}, 8, std::string(68, '\1')).addTensor("b", {4, 2, 2}, 1, std::string(32, '\1'));
        const std::string whole = writer.bytes();
        std::mt19937 random(7);
        int opened = 0;
        for (int round = 0; round < 4000; ++round) {
            std::string bytes = whole;
            for (int flips = 1 + round % 3; flips > 0; --flips)
                bytes[random() % (bytes.size() - 160)] = static_cast<char>(random());
            const Result<GgufFile> file = GgufFile::open(write(bytes));
            if (!file) {
                QVERIFY(!file.error().message.empty());
                continue;
            }
            ++opened;
            for (const TensorInfo &tensor : file->tensors()) {
                QVERIFY(tensor.fileOffset + tensor.bytes <= file->fileBytes());
                std::vector<std::byte> data(tensor.bytes);
                QVERIFY(file->read(tensor, 0, data));
            }
        }
        QVERIFY(opened > 100);
    }

private:
    template <class Row>
    static void addHeaderRows(const Row &row)
    {
        row("empty", "", "not a GGUF file: the file is empty");
        row("three bytes", "GGU", "not a GGUF file: it begins with \"GGU\" instead of \"GGUF\"");
        row("web page", "<!DOCTYPE html><html><body>Not found</body></html>",
            "not a GGUF file: it begins like a web page");
        row("other format", std::string("PK\3\4 and more of it"),
            "not a GGUF file: it begins with \"PK??\" instead of \"GGUF\"");
        row("magic alone", "GGUF", "4 bytes are needed at byte 4, the file ends at 4");
        row("version 1", header(0, 0, 1).substr(0, 16), "GGUF version 1 is not supported, versions 2 and 3 are");
        row("version 9", header(0, 0, 9), "GGUF version 9 is not supported, versions 2 and 3 are");
        row("version 0", header(0, 0, 0), "GGUF version 0 is not supported, versions 2 and 3 are");
        row("big-endian", std::string("GGUF\0\0\0\3", 8) + std::string(16, '\0'),
            "the file was written for a big-endian machine");
        row("2^40 keys", header(0, std::uint64_t{1} << 40),
            "the header announces 1099511627776 metadata keys, at most 65536 are accepted");
        row("2^64-1 tensors", header(~std::uint64_t{0}, 0),
            "the header announces 18446744073709551615 tensors, at most 65536 are accepted");
        row("more keys than bytes", header(0, 100) + std::string(50, '\0'),
            "the header announces 100 metadata keys, more than fit into the 50 bytes left");
        row("more tensors than bytes", header(100, 0) + std::string(50, '\0'),
            "the header announces 100 tensors, more than fit into the 50 bytes left");
    }

    template <class Row>
    static void addMetadataRows(const Row &row)
    {
        const auto entry = [](std::uint32_t type, const std::string &value) {
            return GgufWriter().addRaw("k", type, value + std::string(20, '\0')).bytes();
        };
        const std::string twice =
            "4747554603000000000000000000000002000000000000000300000000000000712e6e04000000010000000"
            "300000000000000712e6e0400000002000000";
        row("key twice", fromHex(twice), "key q.n is there twice"); // public case 34
        row("key of 2^40 bytes", header(0, 1) + u64Bytes(std::uint64_t{1} << 40) + std::string(8, 'x'),
            "key at byte 24: 1099511627776 bytes are needed at byte 32, the file ends at 40");
        row("key of 2^64-1 bytes", header(0, 1) + u64Bytes(~std::uint64_t{0}) + std::string(8, 'x'),
            "key at byte 24: 18446744073709551615 bytes are needed at byte 32, the file ends at 40");
        row("empty key", GgufWriter().addU32("", 1).bytes(), "key  at byte 24: the key is empty");
        row("unknown value type", entry(13, ""), "key k at byte 24: unknown value type 13");
        row("truth value 2", entry(7, "\2"), "key k at byte 24: the truth value is 2, only 0 and 1 are allowed");
        row("nested array", entry(9, arrayOf(9, 1)), "key k at byte 24: arrays inside an array are not supported");
        row("array of unknown type", entry(9, arrayOf(77, 1)),
            "key k at byte 24: elements of the unknown value type 77");
        row("array of 2^60 texts", entry(9, arrayOf(8, std::uint64_t{1} << 60)),
            "key k at byte 24: an array of 1152921504606846976 elements, at most 16777216 are accepted");
        row("array longer than the file", entry(9, arrayOf(8, 1000)),
            "key k at byte 24: an array of 1000 elements needs at least 8000 bytes, 20 are left in the file");
        row("text longer than the file", entry(8, u64Bytes(std::uint64_t{1} << 50)),
            "key k at byte 24: 1125899906842624 bytes are needed at byte 45, the file ends at 65");
        row("array element too large", entry(9, arrayOf(10, 1) + u64Bytes(~std::uint64_t{0})),
            "key k at byte 24: element 0 is 18446744073709551615, too large");
        row("control characters in a key", GgufWriter().addRaw("a\nb\x1B", 99, std::string(9, '\0')).bytes(),
            "key a b? at byte 24: unknown value type 99");
        const auto aligned = [](std::uint32_t alignment) {
            return GgufWriter().setAlignment(alignment).addTensor("weights.one", {8}, 0, kEight).bytes();
        };
        row("alignment 0", aligned(0), // public case 37
            "key general.alignment: 0 is refused, a power of two from 8 to 65536 is expected");
        row("alignment 24", aligned(24),
            "key general.alignment: 24 is refused, a power of two from 8 to 65536 is expected");
        row("alignment 131072", aligned(131072),
            "key general.alignment: 131072 is refused, a power of two from 8 to 65536 is expected");
        row("alignment as text", GgufWriter().addText("general.alignment", "32").bytes(),
            "key general.alignment at byte 24: its value type is 8, 4 (u32) is expected");
    }

    template <class Row>
    static void addTensorRows(const Row &row)
    {
        const auto tensor = [](const std::vector<std::uint64_t> &shape, std::uint32_t type = 0) {
            return GgufWriter().addU32("q.number", 7).addTensor("w", shape, type, kEight).bytes();
        };
        row("cut data", small().bytes().substr(0, 120), // public case 31
            "tensor t needs bytes 96 to 128, file ends at 120");
        row("tensor twice", // public case 34
            GgufWriter().addTensor("t", {8}, 0, kEight).addTensor("t", {8}, 0, kEight).bytes(),
            "tensor t: two tensors have this name");
        row("product wraps to 0", tensor({std::uint64_t{1} << 33, std::uint64_t{1} << 31}), // public case 38
            "tensor w: the shape [8589934592, 2147483648] is too large");
        row("product above 2^63", tensor({std::uint64_t{1} << 32, std::uint64_t{1} << 31, 2}),
            "tensor w: the shape [4294967296, 2147483648, 2] is too large");
        row("bytes wrap", tensor({std::uint64_t{1} << 62}),
            "tensor w: the shape [4611686018427387904] is too large for a file of 128 bytes");
        row("unknown type, product wraps", tensor({std::uint64_t{1} << 33, std::uint64_t{1} << 31}, 250),
            "tensor w: the shape [8589934592, 2147483648] is too large");
        row("5 dimensions", tensor({1, 1, 1, 1, 1}), "tensor w: 5 dimensions, 4 allowed");
        row("no dimension", tensor({}), "tensor w: 0 dimensions, at least 1 is needed");
        row("dimension 0", tensor({8, 0}), "tensor w: dimension 1 is 0");
        row("row of half a block", tensor({48}, 2), "tensor w: rows of 48 values, Q4_0 needs a multiple of 32");
        row("larger than the file", tensor({1000}), "tensor w: the shape [1000] is too large for a file of 128 bytes");
        row("offset 4", GgufWriter().addTensor("t", {8}, 0, std::string(40, '\0'), 4).bytes(), // public case 37
            "tensor t: its offset 4 is misaligned: no multiple of 32");
        row("offset beyond the file", GgufWriter().addTensor("t", {8}, 0, kEight, 4096).bytes(),
            "tensor t needs bytes 4160 to 4192, file ends at 96");
        row("offset near 2^64", GgufWriter().addTensor("t", {8}, 0, kEight, ~std::uint64_t{31}).bytes(),
            "tensor t: its offset 18446744073709551584 is too large");
        row("same data", GgufWriter().addTensor("t", {8}, 0, kEight).addTensor("u", {8}, 0, kEight, 0).bytes(),
            "tensor u: its data at byte 96 overlap those of tensor t");
        row("overlapping data",
            GgufWriter().addTensor("t", {16}, 0, kEight + kEight).addTensor("u", {8}, 0, kEight, 32).bytes(),
            "tensor u: its data at byte 128 overlap those of tensor t");
        row("name of 64 bytes", GgufWriter().addTensor(std::string(64, 'n'), {8}, 0, kEight).bytes(),
            "tensor name: a text of 64 bytes at byte 24, at most 63 are accepted");
        row("empty name", GgufWriter().addTensor("", {8}, 0, kEight).bytes(), "a tensor without a name at byte 24");
        row("cut in the directory", small().bytes().substr(0, 75),
            "tensor t: 8 bytes are needed at byte 73, the file ends at 75");
    }

    // "" or what was said instead.
    std::string otherThanIncomplete(const std::string &bytes)
    {
        const Result<GgufFile> file = GgufFile::open(write(bytes));
        if (!file && file.error().code == ErrorCode::BadFormat &&
            file.error().remedy.find("The file is incomplete") == 0)
            return "";
        return std::to_string(bytes.size()) + " bytes: " + (file ? "accepted" : file.error().text());
    }

    std::filesystem::path write(const std::string &bytes)
    {
        const std::filesystem::path path = m_folder / "x.gguf";
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }

    QTemporaryDir m_temporary;
    std::filesystem::path m_folder = m_temporary.path().toStdString();
};

QTEST_APPLESS_MAIN(TestGgufDamaged)
#include "tst_gguf_damaged.moc"
