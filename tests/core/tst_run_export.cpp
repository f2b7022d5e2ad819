// SPDX-License-Identifier: GPL-3.0-or-later
// A run's data as files, and the queue that writes them in the background.
#include "app/core/export_queue.h"
#include "app/core/metric_definitions.h"
#include "app/core/run_export.h"
#include "app/core/run_store.h"
#include "engine/trace/run_json.h"

#include <QFile>
#include <QFileInfo>
#include <QLocale>
#include <QSemaphore>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include <clocale>
#include <cmath>
#include <new>

using namespace lectern;

namespace {

TokenRecord promptToken(TokenId id, std::string bytes)
{
    TokenRecord token;
    token.id = id;
    token.bytes = std::move(bytes);
    return token;
}

TokenRecord outputToken(TokenId id, std::string bytes, std::int64_t timeNs)
{
    TokenRecord token = promptToken(id, std::move(bytes));
    token.timeNs = timeNs;
    token.stepNs = 2'500'000;
    token.logprob = -0.5f;
    token.kvTokens = 6;
    token.kvBytes = 6 * 1024;
    return token;
}

// Case 10's 鑫森 as GPT-2 cuts it, a quoted word, and an answer whose first character needs two tokens.
RunRecord exportRun()
{
    RunRecord record;
    record.promptTokens = {promptToken(0, "<|begin|>"), promptToken(165, "\xE9"),     promptToken(239, "\x91"),
                           promptToken(104, "\xAB"),    promptToken(162, "\xE6\xA3"), promptToken(96, "\xAE"),
                           promptToken(7, " \"a,b\"\n")};
    record.promptTokens[0].isSpecial = true;
    record.outputTokens = {outputToken(111023, "\xE9\x91", 20'660'000), outputToken(104, "\xAB!", 23'160'000),
                           outputToken(9, "\xE9", 1'234'567'500'000)};
    record.reusedTokens = 2;
    record.phases = {{Phase::Tokenize, 0, 160'000}, {Phase::Prefill, 160'000, 20'000'000}};
    record.prefillChunks = {{2, 4, 160'000, 10'000'000}, {4, 7, 10'000'000, 20'000'000}};
    record.kv = {{10'000'000, 4, 4096, 16384}, {20'000'000, 7, 7168, 16384}, {20'660'000, 7, 7168, 16384},
                 {23'000'000, 7, 7168, 32768}, {23'160'000, 8, 8192, 32768}, {1'234'567'500'000, 9, 9216, 32768}};
    return record;
}

QByteArrayList lines(const QByteArray &csv)
{
    QByteArrayList parts = csv.split('\n');
    for (QByteArray &part : parts)
        part = part.trimmed();
    return parts;
}

} // namespace

class TestRunExport : public QObject
{
    Q_OBJECT

private slots:
    void cleanup() { QLocale::setDefault(QLocale::c()); }
    void tokensCsvShowsEachCharacterOnceBesideItsLastToken();
    void seriesCsvHasOneRowASampleInOrderOfTime();
    void metricsCsvNamesFormulaAndUnit();
    void theSlopeStandsBesideItsStandardError();
    void unmeasuredFieldsAreEmpty();
    void exportsAreTheSameBytesInEveryLocale();
    void aSavedRunHasTheTitleThatTheUserGave();
    void aRunningRunIsCopiedAndAFinishedOneShared();
    void stepsRunInOrderOffTheCallersThread();
    void theFirstFailureEndsAnExportButNotTheNext();
    void cancelLeavesOutWhatHasNotBegun();
    void goingWaitsForWhatIsAskedFor();
    void filesAreWrittenWholeOrNotAtAll();
    void fileNamesComeFromTitles_data();
    void fileNamesComeFromTitles();
};

void TestRunExport::tokensCsvShowsEachCharacterOnceBesideItsLastToken()
{
    const QByteArray csv = tokensCsv(exportRun());
    const QByteArray expected =
        "part,index,id,bytes_hex,text,special,time_ms,step_ms,logprob,rank,kv_tokens,kv_bytes\r\n"
        "prompt,0,0,3C 7C 62 65 67 69 6E 7C 3E,<|begin|>,1,,,,,,\r\n"
        "prompt,1,165,E9,,0,,,,,,\r\n"
        "prompt,2,239,91,,0,,,,,,\r\n"
        "prompt,3,104,AB,鑫,0,,,,,,\r\n"
        "prompt,4,162,E6 A3,,0,,,,,,\r\n"
        "prompt,5,96,AE,森,0,,,,,,\r\n"
        "prompt,6,7,20 22 61 2C 62 22 0A,\" \"\"a,b\"\"\n\",0,,,,,,\r\n"
        "output,0,111023,E9 91,,0,20.66,2.5,-0.5,0,6,6144\r\n"
        "output,1,104,AB 21,鑫!,0,23.16,2.5,-0.5,0,6,6144\r\n"
        "output,2,9,E9,,0,1234567.5,2.5,-0.5,0,6,6144\r\n"; // ends inside a character
    QCOMPARE(csv, expected);
}

void TestRunExport::seriesCsvHasOneRowASampleInOrderOfTime()
{
    const QByteArray expected =
        "time_ms,event,from_token,to_token,step_ms,kv_tokens,kv_used_bytes,kv_allocated_bytes\r\n"
        "0.16,tokenize,0,7,0.16,,,\r\n"
        "10,prefill,2,4,9.84,4,4096,16384\r\n"
        "20,prefill,4,7,10,7,7168,16384\r\n"
        "20.66,token,7,8,2.5,7,7168,16384\r\n"
        "23,kv,,,,7,7168,32768\r\n"
        "23.16,token,8,9,2.5,8,8192,32768\r\n"
        "1234567.5,token,9,10,2.5,9,9216,32768\r\n";
    QCOMPARE(seriesCsv(exportRun()), expected);
    RunRecord large;
    large.outputTokens.resize(360'000); // an hour at 100 a second
    for (std::size_t i = 0; i < large.outputTokens.size(); ++i) {
        large.outputTokens[i].timeNs = static_cast<std::int64_t>(i);
        large.kv.push_back({static_cast<std::int64_t>(i), static_cast<int>(i), i, i});
    }
    QCOMPARE(seriesCsv(large).count('\n'), 360'001); // none is lost
}

void TestRunExport::metricsCsvNamesFormulaAndUnit()
{
    RunRecord record; // janhq/cortex.cpp#1099: first token after 2 s, the 101st and last after 6 s
    record.promptTokens.resize(50);
    record.outputTokens.resize(101);
    for (std::size_t i = 0; i < record.outputTokens.size(); ++i)
        record.outputTokens[i].timeNs = 2'350'000'000 + static_cast<std::int64_t>(i) * 40'000'000;
    const QByteArrayList rows = lines(metricsCsv(record));
    QCOMPARE(rows[0], QByteArray("name,value,unit,definition"));
    QVERIFY(rows.contains(
        "ttft_ms,2350,ms,\"First output token available − request submitted. Includes queueing, tokenizing, "
        "prefill and the first sampling.\""));
    QVERIFY(rows.contains(
        "decode_tokens_per_second,25,tokens/s,1 ÷ TPOT = (output tokens − 1) ÷ (last token − first token). "
        "The first token is not part of it."));
    QVERIFY(rows.contains(
        "tpot_ms,40,ms,(Last token − first token) ÷ (output tokens − 1). Undefined for fewer than two tokens."));
    QCOMPARE(rows.size(), static_cast<qsizetype>(metricDefinitions().size()) + 2);
}

// Steps of 1, 2 and 3 ns in turn, twelve of them: slope and standard error as a statistics program gives them.
void TestRunExport::theSlopeStandsBesideItsStandardError()
{
    RunRecord record;
    record.promptTokens.resize(5);
    record.outputTokens.resize(13);
    for (std::size_t i = 1; i < record.outputTokens.size(); ++i)
        record.outputTokens[i].stepNs = static_cast<std::int64_t>(1 + (i - 1) % 3);
    const auto value = [rows = lines(metricsCsv(record))](const QByteArray &name) {
        for (const QByteArray &row : rows)
            if (row.startsWith(name + ','))
                return row.split(',')[1].toDouble();
        return -1.0;
    };
    QCOMPARE(value("step_slope_ns_per_token"), 8.0 / 143);
    QCOMPARE(value("step_slope_error_ns_per_token"), std::sqrt((8 - 64.0 / 143) / 10 / 143));
}

void TestRunExport::unmeasuredFieldsAreEmpty()
{
    RunRecord record; // a clock that stands still
    record.promptTokens.resize(3);
    record.outputTokens.resize(2);
    const QByteArrayList rows = lines(metricsCsv(record));
    for (const char *name :
         {"ttft_ms", "prefill_ms", "tpot_ms", "decode_tokens_per_second", "itl_p99_ms", "end_to_end_ms",
          "step_slope_ns_per_token", "step_slope_error_ns_per_token", "kv_used_bytes", "kv_allocated_bytes"}) {
        const auto found = std::find_if(rows.begin(), rows.end(),
                                        [&](const QByteArray &row) { return row.startsWith(QByteArray(name) + ",,"); });
        QVERIFY2(found != rows.end(), name);
    }
    for (const QByteArray &row : rows)
        QVERIFY(!row.contains(",inf,") && !row.contains("nan"));
}

void TestRunExport::exportsAreTheSameBytesInEveryLocale()
{
    const RunRecord record = exportRun();
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    const auto files = [&] {
        return tokensCsv(record) + seriesCsv(record) + metricsCsv(record) + QByteArray::fromStdString(toJson(record));
    };
    const QByteArray english = files();
    QLocale::setDefault(QLocale(QLocale::German, QLocale::Germany));
    const char *german = std::setlocale(LC_ALL, "de_DE.UTF-8"); // nullptr where it is not installed
    const QByteArray written = files();
    const auto readBack = runFromJson(toJson(record));
    if (german)
        std::setlocale(LC_ALL, "C");
    QCOMPARE(written, english);
    QVERIFY(english.contains("20.66") && english.contains("1234567.5"));
    QVERIFY2(readBack.has_value(), readBack ? "" : readBack.error().text().c_str());
    QCOMPARE(readBack->outputTokens[0].timeNs, std::int64_t(20'660'000));
    QCOMPARE(readBack->outputTokens[2].timeNs, std::int64_t(1'234'567'500'000));
}

void TestRunExport::aSavedRunHasTheTitleThatTheUserGave()
{
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("run.lectern.json"));
    RunRecord record = exportRun();
    record.request.title = "first words";
    QVERIFY(saveRunAs(record, QString::fromUtf8("über \"x\""), path));
    const auto loaded = loadRun(path.toStdString());
    QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
    QCOMPARE(QString::fromStdString(loaded->request.title), QString::fromUtf8("über \"x\""));
    QCOMPARE(record.request.title, std::string("first words"));
}

void TestRunExport::aRunningRunIsCopiedAndAFinishedOneShared()
{
    RunEntry entry;
    entry.record = std::make_shared<RunRecord>(exportRun());
    entry.record->state = RunState::Decode;
    const auto before = entry.snapshot();
    const std::size_t count = before->outputTokens.size();
    entry.record->outputTokens.push_back(entry.record->outputTokens.back());
    QCOMPARE(before->outputTokens.size(), count);
    entry.record->state = RunState::Finished;
    QVERIFY(entry.snapshot() == entry.record);
}

void TestRunExport::stepsRunInOrderOffTheCallersThread()
{
    ExportQueue queue;
    QStringList order;
    std::vector<QThread *> threads;
    QSemaphore gate;
    const auto step = [&](const char *name) -> ExportStep {
        return [&, name]() -> Result<void> {
            gate.acquire();
            order << QLatin1String(name);
            threads.push_back(QThread::currentThread());
            return {};
        };
    };
    QThread *doneThread = nullptr;
    QStringList ends;
    queue.start({step("a1"), step("a2")}, [&](const Result<void> &result) {
        ends << (result ? QStringLiteral("a") : QStringLiteral("failed"));
        doneThread = QThread::currentThread();
    });
    queue.start({step("b")}, [&](const Result<void> &) { ends << QStringLiteral("b"); });
    QSignalSpy idle(&queue, &ExportQueue::idle);
    int turns = 0; // of this thread's event loop, while nothing can have been done
    QTimer beat;
    connect(&beat, &QTimer::timeout, this, [&] { ++turns; });
    beat.start(0);
    QTRY_VERIFY(turns >= 50);
    QVERIFY(queue.isBusy() && ends.isEmpty());
    gate.release(3);
    QVERIFY(idle.wait());
    QCOMPARE(order, QStringList({QStringLiteral("a1"), QStringLiteral("a2"), QStringLiteral("b")}));
    QCOMPARE(ends, QStringList({QStringLiteral("a"), QStringLiteral("b")}));
    QCOMPARE(doneThread, QThread::currentThread());
    for (QThread *thread : threads)
        QVERIFY(thread != QThread::currentThread());
    QVERIFY(!queue.isBusy());
}

void TestRunExport::theFirstFailureEndsAnExportButNotTheNext()
{
    ExportQueue queue;
    QSignalSpy idle(&queue, &ExportQueue::idle);
    std::vector<Result<void>> ends;
    int later = 0;
    const ExportStep last = [&]() -> Result<void> { return ++later, Result<void>(); };
    const ExportQueue::Done done = [&](const Result<void> &result) { ends.push_back(result); };
    queue.start({[]() -> Result<void> { return fail(ErrorCode::WriteFailed, "full"); }, last}, done);
    queue.start({[]() -> Result<void> { throw std::bad_alloc(); }, last}, done);
    queue.start({last}, done);
    QVERIFY(idle.wait());
    QCOMPARE(ends.size(), std::size_t(3));
    QCOMPARE(ends[0].error().message, std::string("full"));
    QCOMPARE(ends[1].error().code, ErrorCode::OutOfMemory);
    QVERIFY(ends[2].has_value());
    QCOMPARE(later, 1);
}

void TestRunExport::cancelLeavesOutWhatHasNotBegun()
{
    ExportQueue queue;
    QSignalSpy idle(&queue, &ExportQueue::idle);
    QSemaphore begun, gate;
    std::vector<Result<void>> ends;
    int count = 0;
    const ExportStep step = [&]() -> Result<void> { return ++count, Result<void>(); };
    const ExportQueue::Done done = [&](const Result<void> &result) { ends.push_back(result); };
    const ExportStep blocked = [&]() -> Result<void> {
        begun.release();
        gate.acquire();
        return {};
    };
    queue.start({blocked, step}, done);
    queue.start({step}, done);
    begun.acquire();
    queue.cancel();
    queue.start({step}, done); // asked for after the cancelling
    gate.release();
    QVERIFY(idle.wait());
    QCOMPARE(ends.size(), std::size_t(3));
    QCOMPARE(ends[0].error().code, ErrorCode::Cancelled);
    QCOMPARE(ends[1].error().code, ErrorCode::Cancelled);
    QVERIFY(ends[2].has_value());
    QCOMPARE(count, 1);
}

void TestRunExport::goingWaitsForWhatIsAskedFor()
{
    QTemporaryDir folder;
    QStringList paths;
    {
        ExportQueue queue;
        for (int i = 0; i < 5; ++i) {
            paths << folder.filePath(QString::number(i));
            queue.start({[path = paths.last()] { return writeBytes(path, QByteArray(1 << 20, 'x')); }},
                        [](const Result<void> &) {});
        }
    }
    for (const QString &path : paths)
        QCOMPARE(QFileInfo(path).size(), 1 << 20);
}

void TestRunExport::filesAreWrittenWholeOrNotAtAll()
{
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("résumé 数据 Ω.csv"));
    QVERIFY(writeBytes(path, "old").has_value());
    QVERIFY(writeBytes(path, QByteArray("a\0b", 3)).has_value());
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), QByteArray("a\0b", 3));
    const QString missing = folder.filePath(QStringLiteral("no such folder/x.csv"));
    const Result<void> failed = writeBytes(missing, "x");
    QVERIFY(!failed.has_value());
    QCOMPARE(failed.error().code, ErrorCode::WriteFailed);
    QVERIFY(QString::fromStdString(failed.error().text()).contains(QStringLiteral("no such folder")));
}

void TestRunExport::fileNamesComeFromTitles_data()
{
    QTest::addColumn<QString>("title");
    QTest::addColumn<QString>("name");
    QTest::newRow("words") << QStringLiteral("What's the capital of France?")
                           << QStringLiteral("What-s-the-capital-of-France");
    QTest::newRow("path") << QStringLiteral("../../etc/passwd") << QStringLiteral("etc-passwd");
    QTest::newRow("letters of the world") << QStringLiteral("é 数据, किताब") << QStringLiteral("é-数据-किताब");
    QTest::newRow("nothing") << QStringLiteral(" ?! ") << QStringLiteral("run");
    QTest::newRow("long") << QString(70, u'a') << QString(60, u'a');
    QTest::newRow("long pairs") << QStringLiteral("a") + QStringLiteral("𝔸").repeated(40)
                                << QStringLiteral("a") + QStringLiteral("𝔸").repeated(29);
}

void TestRunExport::fileNamesComeFromTitles()
{
    QFETCH(QString, title);
    QTEST(fileNameFor(title), "name");
}

QTEST_GUILESS_MAIN(TestRunExport)
#include "tst_run_export.moc"
