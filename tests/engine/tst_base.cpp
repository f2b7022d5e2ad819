// SPDX-License-Identifier: GPL-3.0-or-later
// Files and UTF-8.
#include "engine/base/file.h"
#include "engine/base/utf8.h"

#include <QTemporaryDir>
#include <QTest>
#include <csignal>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace lectern;

namespace {

const std::string kMark = "\xEF\xBF\xBD"; // U+FFFD

void put(const std::filesystem::path &path, const std::string &bytes)
{
    std::ofstream(path, std::ios::binary) << bytes;
}

// No file of this process may grow beyond `bytes` while this object lives, as on a full disk.
class FileSizeLimit
{
public:
    explicit FileSizeLimit(rlim_t bytes)
    {
        m_oldHandler = std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &m_old);
        const rlimit limit{bytes, m_old.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit()
    {
        setrlimit(RLIMIT_FSIZE, &m_old);
        std::signal(SIGXFSZ, m_oldHandler);
    }

private:
    rlimit m_old{};
    void (*m_oldHandler)(int) = nullptr;
};

// Root may read and write everything: a test that is about permissions runs as nobody then.
class WithoutPrivileges
{
public:
    WithoutPrivileges()
        : m_isRoot(geteuid() == 0)
    {
        if (m_isRoot && seteuid(kNobody) != 0)
            qFatal("the test cannot give up root's privileges");
    }
    ~WithoutPrivileges()
    {
        if (m_isRoot && seteuid(0) != 0)
            qFatal("the test cannot become root again");
    }

private:
    static constexpr uid_t kNobody = 65534;
    bool m_isRoot;
};

int fileCount(const std::filesystem::path &folder)
{
    return static_cast<int>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

} // namespace

class TestBase : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_folder = m_temporary->path().toStdString();
    }

    void aFileIsReadAsItWasWritten()
    {
        const std::filesystem::path path = m_folder / "модели ü 数 ' \".bin";
        const std::string bytes("a\0b\r\n\xFF", 6);
        QVERIFY(writeFileAtomically(path, bytes));
        QCOMPARE(*readFile(path), bytes);
        QCOMPARE(fileCount(m_folder), 1);
    }

    void whatIsNoFileIsRefusedWithItsKind()
    {
        const std::filesystem::path pipe = m_folder / "pipe";
        QCOMPARE(mkfifo(pipe.c_str(), 0600), 0);
        QCOMPARE(readFile(m_folder).error().message, std::string("this is a folder, not a file"));
        QCOMPARE(readFile(pipe).error().message, std::string("this is a pipe or a device, not a file"));
        QCOMPARE(readFile("/dev/null").error().message, std::string("this is a pipe or a device, not a file"));
        const Error missing = readFile(m_folder / "none").error();
        QVERIFY(missing.code == ErrorCode::NotFound);
        QCOMPARE(missing.text(), (m_folder / "none").string() + ": there is no such file. Check the path");
        put(m_folder / "file", "x");
        QVERIFY(readFile(m_folder / "file" / "below").error().code == ErrorCode::NotFound);
        QVERIFY(!readFile(""));
    }

    void aFileWithoutReadPermissionIsRefusedByThatReason()
    {
        put(m_folder / "closed", "x");
        chmod((m_folder / "closed").c_str(), 0);
        chmod(m_folder.c_str(), 0755);
        Error error;
        {
            const WithoutPrivileges nobody;
            QVERIFY(std::filesystem::exists(m_folder / "closed"));
            error = readFile(m_folder / "closed").error();
        }
        QVERIFY(error.code == ErrorCode::Unreadable);
        QCOMPARE(error.message, std::string("no permission to read the file"));
    }

    void aFileAboveTheLimitIsNotRead()
    {
        put(m_folder / "big", std::string(101, 'x'));
        QCOMPARE(readFile(m_folder / "big", 101)->size(), 101u);
        QCOMPARE(readFile(m_folder / "big", 100).error().message,
                 std::string("the file has 101 bytes, at most 100 are read here"));
    }

    void aFullDiskLeavesTheOldFileAndNoRemains()
    {
        const std::filesystem::path path = m_folder / "run.json";
        put(path, "old");
        Result<void> written;
        {
            const FileSizeLimit limit(1000);
            written = writeFileAtomically(path, std::string(5000, 'x'));
        }
        QVERIFY(!written);
        QVERIFY(written.error().code == ErrorCode::WriteFailed);
        QCOMPARE(written.error().where, path.string());
        QCOMPARE(written.error().message, std::string("the file could not be written: File too large"));
        QCOMPARE(*readFile(path), std::string("old"));
        QCOMPARE(fileCount(m_folder), 1);
    }

    void aPlaceWhereNothingCanBeWrittenIsNamed()
    {
        put(m_folder / "file", "old");
        const Error below = writeFileAtomically(m_folder / "file" / "x.csv", "new").error();
        QCOMPARE(below.message, std::string("the file could not be written: Not a directory"));
        const Error missing = writeFileAtomically(m_folder / "no" / "x.csv", "new").error();
        QCOMPARE(
            missing.text(),
            (m_folder / "no" / "x.csv").string() +
                ": the file could not be written: No such file or directory. The folder does not exist: create it or "
                "choose another one");
        QCOMPARE(writeFileAtomically(m_folder, "new").error().message,
                 std::string("the file could not be written: Is a directory"));
        QVERIFY(!writeFileAtomically("/dev/null", "new"));
        QVERIFY(!std::filesystem::is_regular_file("/dev/null"));
        QVERIFY(!writeFileAtomically("", "new"));
        QCOMPARE(*readFile(m_folder / "file"), std::string("old"));
    }

    void aPlaceIsCheckedWithTheErrorsOfWritingAndNothingIsLeftThere()
    {
        put(m_folder / "file", "old");
        for (const std::filesystem::path &path : {m_folder / "file" / "x.csv", m_folder / "no" / "x.csv", m_folder,
                                                  std::filesystem::path("/dev/null"), std::filesystem::path()})
            QCOMPARE(checkWritable(path).error().text(), writeFileAtomically(path, "new").error().text());
        QVERIFY(checkWritable(m_folder / "file"));
        QVERIFY(checkWritable(m_folder / "new"));
        QCOMPARE(*readFile(m_folder / "file"), std::string("old"));
        QCOMPARE(fileCount(m_folder), 1);
    }

    void aReadOnlyFolderLeavesTheOldFile()
    {
        put(m_folder / "x.csv", "old");
        chmod(m_folder.c_str(), 0555);
        Error error;
        {
            const WithoutPrivileges nobody;
            error = writeFileAtomically(m_folder / "x.csv", "new").error();
        }
        chmod(m_folder.c_str(), 0700);
        QCOMPARE(error.message, std::string("the file could not be written: Permission denied"));
        QCOMPARE(*readFile(m_folder / "x.csv"), std::string("old"));
    }

    void replacingAFileKeepsItsPermissionsAndItsLinks()
    {
        put(m_folder / "x.json", "old");
        chmod((m_folder / "x.json").c_str(), 0640);
        std::filesystem::create_symlink("x.json", m_folder / "link");
        QVERIFY(writeFileAtomically(m_folder / "link", "new"));
        QVERIFY(std::filesystem::is_symlink(m_folder / "link"));
        QCOMPARE(*readFile(m_folder / "x.json"), std::string("new"));
        struct stat status
        {
        };
        stat((m_folder / "x.json").c_str(), &status);
        QCOMPARE(status.st_mode & 0777u, 0640u);
    }

    void aLinkToNothingStaysALinkAndItsFileIsMade()
    {
        std::filesystem::create_symlink("x.json", m_folder / "inner");
        std::filesystem::create_symlink(m_folder / "inner", m_folder / "outer");
        QVERIFY(writeFileAtomically(m_folder / "outer", "new"));
        QVERIFY(std::filesystem::is_symlink(m_folder / "outer") && std::filesystem::is_symlink(m_folder / "inner"));
        QCOMPARE(*readFile(m_folder / "x.json"), std::string("new"));

        std::filesystem::create_symlink("missing/x.json", m_folder / "nowhere");
        const Error missing = writeFileAtomically(m_folder / "nowhere", "new").error();
        QCOMPARE(missing.message, std::string("the file could not be written: No such file or directory"));
        QCOMPARE(missing.where, (m_folder / "nowhere").string());
        std::filesystem::create_symlink("circle", m_folder / "circle");
        const Error circle = writeFileAtomically(m_folder / "circle", "new").error();
        QCOMPARE(circle.code, ErrorCode::WriteFailed);
        QVERIFY2(circle.text().find("symbolic links") != std::string::npos, circle.text().c_str());
    }

    void sha256IsThatOfTheFile()
    {
        StopFlag stop;
        put(m_folder / "abc", "abc");
        QCOMPARE(*sha256OfFile(m_folder / "abc", stop),
                 std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
        put(m_folder / "empty", "");
        QCOMPARE(*sha256OfFile(m_folder / "empty", stop),
                 std::string("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
        QVERIFY(!sha256OfFile(m_folder, stop));
    }

    void sha256ReportsProgressAndStops()
    {
        put(m_folder / "large", std::string((9 << 20) + 5, 'x'));
        StopFlag stop;
        std::vector<std::uint64_t> seen;
        const auto record = [&](std::uint64_t done, std::uint64_t) { seen.push_back(done); };
        QVERIFY(sha256OfFile(m_folder / "large", stop, record));
        QCOMPARE(seen, (std::vector<std::uint64_t>{4 << 20, 8 << 20, (9 << 20) + 5}));

        const Result<std::string> stopped =
            sha256OfFile(m_folder / "large", stop, [&](std::uint64_t, std::uint64_t) { stop.request(); });
        QVERIFY(stopped.error().code == ErrorCode::Cancelled);
    }

    void everyCodePointSurvivesEncodingAndDecoding()
    {
        for (char32_t code = 0; code <= 0x10FFFF; ++code) {
            if (code >= 0xD800 && code < 0xE000)
                continue;
            std::string text;
            appendUtf8(text, code);
            const CodePoint back = codePointAt(text, 0);
            QVERIFY(back.isValid && back.value == code && back.bytes == text.size());
        }
    }

    void whatIsNoCharacterIsInvalid_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("continuation alone") << QByteArray("\x80");
        QTest::newRow("overlong slash") << QByteArray("\xC0\xAF");
        QTest::newRow("overlong in three bytes") << QByteArray("\xE0\x9F\xBF");
        QTest::newRow("overlong in four bytes") << QByteArray("\xF0\x8F\xBF\xBF");
        QTest::newRow("surrogate") << QByteArray("\xED\xA0\x80");
        QTest::newRow("above U+10FFFF") << QByteArray("\xF4\x90\x80\x80");
        QTest::newRow("lead F5") << QByteArray("\xF5\x80\x80\x80");
        QTest::newRow("cut short") << QByteArray("\xE9\x91");
    }

    void whatIsNoCharacterIsInvalid()
    {
        QFETCH(QByteArray, bytes);
        const CodePoint found = codePointAt(bytes.toStdString(), 0);
        QVERIFY(!found.isValid);
        QCOMPARE(std::uint32_t{found.value}, 0xFFFDu);
        QCOMPARE(int{found.bytes}, 1);
        QCOMPARE(firstInvalidUtf8("ab" + bytes.toStdString()), std::size_t{2});
    }

    void validTextHasNoInvalidByte()
    {
        QCOMPARE(firstInvalidUtf8("a\u00FC\u6570\U0001F680"), std::string::npos);
        QCOMPARE(firstInvalidUtf8(""), std::string::npos);
    }

    // Unicode 15, section 3.9, table 3-8 and its neighbours.
    void eachMaximalInvalidPartBecomesOneMark()
    {
        const CleanText clean = replaceInvalidUtf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41");
        QCOMPARE(clean.text, kMark + kMark + kMark + kMark + "A");
        QCOMPARE(clean.replacedCount, std::size_t{4});
        QCOMPARE(replaceInvalidUtf8("\xC0\xAF\xE0\x80\xBF\x41").text, kMark + kMark + kMark + kMark + kMark + "A");
        QCOMPARE(replaceInvalidUtf8("gr\u00FC\u00DFe").replacedCount, std::size_t{0});
    }

    void textOfAFileIsCleanAndShortInAMessage()
    {
        QCOMPARE(printableText("a\n\tb\x1B[1m\x7F\xFF"), "a  b?[1m?" + kMark);
        QCOMPARE(printableText("abcd", 4), std::string("abcd"));
        QCOMPARE(printableText("abcdef", 4), std::string("abcd... (6 bytes)"));
        QCOMPARE(printableText("abc\u6570", 4), std::string("abc... (6 bytes)")); // not inside a character
        QCOMPARE(printableText(std::string(9, '\x80'), 4).find("... (9 bytes)") != std::string::npos, true);
        QCOMPARE(printableText(""), std::string());
    }

    void aCharacterOfSeveralTokensComesOutOnce() // public case 25
    {
        Utf8Gate gate;
        QCOMPARE(gate.push("\xE9\x91"), std::string());
        QVERIFY(gate.isHolding());
        QCOMPARE(gate.push("\xAB"), std::string("\u946B"));
        QCOMPARE(gate.push("!"), std::string("!"));
        QVERIFY(!gate.isHolding());
        QCOMPARE(gate.finish(), std::string());
    }

    void unfinishedBytesWaitAndDeadBytesDoNot() // public case 26
    {
        Utf8Gate gate;
        QCOMPARE(gate.push("\xE9"), std::string());
        QCOMPARE(gate.push("\x91"), std::string());
        QCOMPARE(gate.push("\xAB"), std::string("\u946B"));
        QCOMPARE(gate.push("\xE9\x91"), std::string());
        QCOMPARE(gate.push(" ok"), kMark + " ok");
        QCOMPARE(gate.push("\xFF"), kMark);
        QCOMPARE(gate.push("A"), std::string("A"));
        QCOMPARE(gate.push("\xE9\x91"), std::string());
        QVERIFY(gate.isHolding());
        QCOMPARE(gate.finish(), kMark);
        QVERIFY(!gate.isHolding());
    }

    void anyCutOfAStreamGivesTheSameText()
    {
        const std::string bytes = "a\xF0\x9F\x9A\x80\xE9\x91 \xFF\xED\xA0\x80\xC3\xBC\xF0\x9F";
        const std::string whole = replaceInvalidUtf8(bytes).text;
        for (std::size_t first = 0; first <= bytes.size(); ++first) {
            for (std::size_t second = first; second <= bytes.size(); ++second) {
                Utf8Gate gate;
                std::string text = gate.push(bytes.substr(0, first));
                text += gate.push(bytes.substr(first, second - first));
                text += gate.push(bytes.substr(second));
                QCOMPARE(text + gate.finish(), whole);
            }
        }
    }

private:
    std::unique_ptr<QTemporaryDir> m_temporary;
    std::filesystem::path m_folder;
};

QTEST_APPLESS_MAIN(TestBase)
#include "tst_base.moc"
