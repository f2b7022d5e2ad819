// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and definitions as people read them, a run's data as files, and the prompt on its way to tokens.
#include "app/core/format.h"
#include "app/core/metric_definitions.h"
#include "app/core/metric_text.h"
#include "app/core/prompt_text.h"
#include "app/core/prompt_tokenizer.h"
#include "app/core/run_export.h"
#include "app/core/samples.h"
#include "tests/support/thread_sanitizer.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <limits>
#include <thread>

using namespace lectern;

namespace {

const QLocale kEnglish(QLocale::English, QLocale::UnitedStates);
const QLocale kGerman(QLocale::German, QLocale::Germany);

// One token a byte. `holds`: the text "hold" is not done before it is stopped.
class ByteTokenizer final : public Tokenizer
{
public:
    ByteTokenizer()
        : Tokenizer(Vocabulary{})
    {
    }
    Result<std::vector<EncodedToken>> encode(std::string_view text, const EncodeOptions &,
                                             const StopFlag &stop) const override
    {
        if (text == "hold") {
            ++held;
            while (!stop.isRequested())
                std::this_thread::yield();
            return fail(ErrorCode::Cancelled, "Stopped");
        }
        if (text.empty())
            return fail(ErrorCode::InvalidInput, "Nothing to evaluate");
        std::vector<EncodedToken> tokens;
        for (std::size_t i = 0; i < text.size(); ++i)
            tokens.push_back({static_cast<unsigned char>(text[i]), {i, i + 1}, false});
        return tokens;
    }
    std::string bytes(TokenId id) const override { return std::string(1, static_cast<char>(id)); }
    std::string decode(std::span<const TokenId>, bool) const override { return {}; }

    mutable std::atomic<int> held{0};
};

std::shared_ptr<LoadedModel>
byteModel(std::shared_ptr<const ByteTokenizer> tokenizer = std::make_shared<ByteTokenizer>())
{
    auto model = std::make_shared<LoadedModel>();
    model->tokenizer = std::move(tokenizer);
    return model;
}

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

class TestTextAndExport : public QObject
{
    Q_OBJECT

private slots:
    void cleanup() { QLocale::setDefault(QLocale::c()); }
    void durationsHaveThreeDigitsAndTheFittingUnit_data();
    void durationsHaveThreeDigitsAndTheFittingUnit();
    void otherNumbersFollowTheSameRule();
    void numbersFollowTheLocale();
    void tokenTextIsVisible_data();
    void tokenTextIsVisible();
    void definitionsCarryTheNumbersOfTheRun();
    void missingMetricsAreADashNeverZero();
    void outcomesAreToldInWords();
    void tokensCsvShowsEachCharacterOnceBesideItsLastToken();
    void seriesCsvHasOneRowASampleInOrderOfTime();
    void metricsCsvNamesFormulaAndUnit();
    void unmeasuredFieldsAreEmpty();
    void exportsAreTheSameBytesInEveryLocale();
    void filesAreWrittenWholeOrNotAtAll();
    void fileNamesComeFromTitles_data();
    void fileNamesComeFromTitles();
    void samplesAreThere();
    void promptsKeepTheirLineEndsAndReplaceLoneSurrogates();
    void theTokenizerTellsTokensErrorsAndReplacements();
    void aChatCarriesTheTextAsItsLastUserMessage();
    void onlyTheNewestPromptIsTokenized();
    void aPromptOfAMegabyteArrivesWhole();
    void withoutAModelNothingIsTold();
    void closingDuringTokenizingIsQuick();
};

void TestTextAndExport::durationsHaveThreeDigitsAndTheFittingUnit_data()
{
    QTest::addColumn<double>("ns");
    QTest::addColumn<QString>("text");
    const auto row = [](double ns, const char *text) { QTest::newRow(text) << ns << QString::fromUtf8(text); };
    row(0, "0\u2009ns");
    row(850, "850\u2009ns");
    row(24'600, "24.6\u2009µs");
    row(999'400, "999\u2009µs");
    row(999'600, "1.00\u2009ms"); // rounds up into the next unit
    row(24'600'000, "24.6\u2009ms");
    row(2'350e6, "2.35\u2009s"); // langfuse/langfuse#4703
    row(59.94e9, "59.9\u2009s");
    row(59.96e9, "1\u2009min 0\u2009s");
    row(192e9, "3\u2009min 12\u2009s");
    row(3600e9, "1\u2009h 0\u2009min");
    row(-2.5e6, "-2.50\u2009ms");
    row(std::numeric_limits<double>::infinity(), "—");
}

void TestTextAndExport::durationsHaveThreeDigitsAndTheFittingUnit()
{
    QFETCH(double, ns);
    QTEST(formatDuration(ns, kEnglish), "text");
}

void TestTextAndExport::otherNumbersFollowTheSameRule()
{
    QCOMPARE(formatDuration(std::nullopt, kEnglish), QStringLiteral("—"));
    QCOMPARE(formatBytes(0, kEnglish), QStringLiteral("0\u2009B"));
    QCOMPARE(formatBytes(999, kEnglish), QStringLiteral("999\u2009B"));
    QCOMPARE(formatBytes(23'040, kEnglish), QStringLiteral("23.0\u2009kB"));
    QCOMPARE(formatBytes(999'600, kEnglish), QStringLiteral("1.00\u2009MB"));
    QCOMPARE(formatBytes(98'362'432, kEnglish), QStringLiteral("98.4\u2009MB"));
    QCOMPARE(formatBytes(137'438'953'472, kEnglish), QStringLiteral("137\u2009GB"));
    QCOMPARE(formatRate(476.4, kEnglish), QStringLiteral("476\u2009tok/s"));
    QCOMPARE(formatRate(25, kEnglish), QStringLiteral("25.0\u2009tok/s"));
    QCOMPARE(formatRate(12'345, kEnglish), QStringLiteral("12,300\u2009tok/s"));
    QCOMPARE(formatRate(std::nullopt, kEnglish), QStringLiteral("—"));
    QCOMPARE(formatRate(0, kEnglish), QStringLiteral("—"));
    QCOMPARE(formatCount(8192, kEnglish), QStringLiteral("8,192"));
    QCOMPARE(formatNumber(0.00123456, kEnglish), QStringLiteral("0.00123"));
    QCOMPARE(formatNumber(0.7273, kEnglish), QStringLiteral("0.727"));
    QCOMPARE(formatNumber(0, kEnglish), QStringLiteral("0"));
    QCOMPARE(formatNumber(std::nan(""), kEnglish), QStringLiteral("—"));
    QCOMPARE(formatPercent(0.41, kEnglish), QStringLiteral("41\u2009%"));
    QCOMPARE(formatPercent(0.0412, kEnglish), QStringLiteral("4.1\u2009%"));
    QCOMPARE(formatPercent(0.00123, kEnglish), QStringLiteral("0.12\u2009%"));
    QCOMPARE(formatPercent(0.00001, kEnglish), QStringLiteral("< 0.01\u2009%"));
    QCOMPARE(formatPercent(1, kEnglish), QStringLiteral("100\u2009%"));
}

void TestTextAndExport::numbersFollowTheLocale()
{
    QCOMPARE(formatDuration(2'350e6, kGerman), QStringLiteral("2,35\u2009s"));
    QCOMPARE(formatCount(8192, kGerman), QStringLiteral("8.192"));
    QLocale::setDefault(kGerman);
    QCOMPARE(formatBytes(1'310'000), QStringLiteral("1,31\u2009MB"));
}

void TestTextAndExport::tokenTextIsVisible_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("text");
    QTest::newRow("space") << QByteArray(" LLMs") << QStringLiteral("␣LLMs");
    QTest::newRow("line ends") << QByteArray("a\r\n\tb") << QStringLiteral("a␍⏎⇥b");
    QTest::newRow("controls") << QByteArray("\0\x1B\x7F", 3) << QStringLiteral("␀␛␡");
    QTest::newRow("part of a character") << QByteArray("\xE9\x91") << QStringLiteral("⟨E9⟩⟨91⟩");
    QTest::newRow("joiner") << QByteArray("\xE2\x80\x8D") << QStringLiteral("⟨U+200D⟩");
    QTest::newRow("no-break space") << QByteArray("\xC2\xA0") << QStringLiteral("⟨U+00A0⟩");
    QTest::newRow("letters") << QByteArray("é数🤗") << QStringLiteral("é数🤗");
}

void TestTextAndExport::tokenTextIsVisible()
{
    QFETCH(QByteArray, bytes);
    QTEST(visibleTokenText(bytes.toStdString()), "text");
    QCOMPARE(hexBytes("\xE9\x91\xAB"), QStringLiteral("E9 91 AB"));
}

void TestTextAndExport::definitionsCarryTheNumbersOfTheRun()
{
    QLocale::setDefault(kEnglish);
    Metrics metrics;
    metrics.promptTokens = 50;
    metrics.reusedTokens = 39;
    metrics.evaluatedTokens = 11;
    metrics.outputTokens = 101;
    metrics.contextTokens = 151;
    metrics.ttftNs = 2e9;
    metrics.tokenizeNs = 0.2e6;
    metrics.prefillNs = 23e6;
    metrics.prefillTokensPerSecond = 11 / 0.023;
    metrics.tpotNs = 40e6;
    metrics.decodeTokensPerSecond = 25;
    metrics.itlP50Ns = 39e6;
    metrics.itlP90Ns = 41e6;
    metrics.itlP99Ns = 42e6;
    metrics.endToEndNs = 6e9;
    metrics.kvUsedBytes = 1'310'000;
    metrics.kvAllocatedBytes = 1'470'000;
    QStringList values;
    for (const MetricText &text : metricTexts(metrics))
        values.push_back(text.name + u'=' + text.value);
    QCOMPARE(values.join(u'|'),
             QStringLiteral("TTFT=2.00\u2009s|Prefill=478\u2009tok/s|TPOT=40.0\u2009ms|Decode=25.0\u2009tok/s|"
                            "ITL p99=42.0\u2009ms|Total=6.00\u2009s|KV=1.31\u2009MB"));
    const auto definition = [&](MetricId id) { return metricText(id, metrics).definition; };
    QVERIFY(definition(MetricId::Ttft).startsWith(QStringLiteral("First output token available − request submitted.")));
    QVERIFY(definition(MetricId::Ttft)
                .contains(QStringLiteral("template —, tokenizing 200\u2009µs, prefill 23.0\u2009ms")));
    QVERIFY(definition(MetricId::Prefill)
                .endsWith(QStringLiteral("Here: 11 ÷ 23.0\u2009ms; prompt tokens: 50, from the cache: 39.")));
    QVERIFY(definition(MetricId::Tpot).endsWith(QStringLiteral("Here: (6.00\u2009s − 2.00\u2009s) ÷ (101 − 1).")));
    QVERIFY(definition(MetricId::Decode).endsWith(QStringLiteral("Here: 1 ÷ 40.0\u2009ms.")));
    QVERIFY(definition(MetricId::Total).endsWith(QStringLiteral("then 100 · 40.0\u2009ms.")));
    QVERIFY(definition(MetricId::Kv).contains(QStringLiteral("2 · layers · KV heads · head size")));
    const MetricText itl = metricText(MetricId::ItlP99, metrics);
    QVERIFY(itl.toolTip.contains(QStringLiteral("p50 39.0\u2009ms, p90 41.0\u2009ms, p99 42.0\u2009ms")));
    QVERIFY(itl.toolTip.contains(QStringLiteral("LLMPerf")));
}

void TestTextAndExport::missingMetricsAreADashNeverZero()
{
    for (const MetricText &text : metricTexts({})) {
        QCOMPARE(text.value, QStringLiteral("—"));
        QVERIFY2(text.definition.contains(QStringLiteral("Not measured")), qPrintable(text.definition));
    }
    Metrics one; // a run of one token
    one.outputTokens = 1;
    one.contextTokens = 5;
    one.ttftNs = one.endToEndNs = 2e9;
    QCOMPARE(metricText(MetricId::Tpot, one).value, QStringLiteral("—"));
    QCOMPARE(metricText(MetricId::Decode, one).value, QStringLiteral("—"));
    QCOMPARE(metricText(MetricId::Kv, one).value, QStringLiteral("0\u2009B")); // without a cache that is measured
}

void TestTextAndExport::outcomesAreToldInWords()
{
    QLocale::setDefault(kEnglish);
    RunRecord record;
    record.state = RunState::Finished;
    record.engine.contextTokens = 8192;
    record.engine.kvBudgetBytes = 189'000'000;
    record.stopString = "\nUser:";
    const auto outcome = [&](FinishReason reason) {
        record.finishReason = reason;
        return outcomeText(record);
    };
    QCOMPARE(outcome(FinishReason::EndToken), QStringLiteral("end of answer"));
    QCOMPARE(outcome(FinishReason::StopString), QStringLiteral("stop text “⏎User:”"));
    QCOMPARE(outcome(FinishReason::MaxTokens), QStringLiteral("limit reached (128 tokens)"));
    QCOMPARE(outcome(FinishReason::ContextFull), QStringLiteral("context full (8,192 tokens)"));
    QCOMPARE(outcome(FinishReason::MemoryFull), QStringLiteral("KV memory full (189\u2009MB)"));
    record.endedInsideCharacter = true;
    QCOMPARE(outcome(FinishReason::Cancelled), QStringLiteral("stopped by you, inside a character"));
}

void TestTextAndExport::tokensCsvShowsEachCharacterOnceBesideItsLastToken()
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

void TestTextAndExport::seriesCsvHasOneRowASampleInOrderOfTime()
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
    large.outputTokens.resize(100'000);
    for (std::size_t i = 0; i < large.outputTokens.size(); ++i) {
        large.outputTokens[i].timeNs = static_cast<std::int64_t>(i);
        large.kv.push_back({static_cast<std::int64_t>(i), static_cast<int>(i), i, i});
    }
    QCOMPARE(seriesCsv(large).count('\n'), 100'001); // none is lost
}

void TestTextAndExport::metricsCsvNamesFormulaAndUnit()
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

void TestTextAndExport::unmeasuredFieldsAreEmpty()
{
    RunRecord record; // a clock that stands still
    record.promptTokens.resize(3);
    record.outputTokens.resize(2);
    const QByteArrayList rows = lines(metricsCsv(record));
    for (const char *name :
         {"ttft_ms", "prefill_ms", "tpot_ms", "decode_tokens_per_second", "itl_p99_ms", "end_to_end_ms"}) {
        const auto found = std::find_if(rows.begin(), rows.end(),
                                        [&](const QByteArray &row) { return row.startsWith(QByteArray(name) + ",,"); });
        QVERIFY2(found != rows.end(), name);
    }
    for (const QByteArray &row : rows)
        QVERIFY(!row.contains(",inf,") && !row.contains("nan"));
}

void TestTextAndExport::exportsAreTheSameBytesInEveryLocale()
{
    const RunRecord record = exportRun();
    QLocale::setDefault(kEnglish);
    const QByteArray english = tokensCsv(record) + seriesCsv(record) + metricsCsv(record);
    QLocale::setDefault(kGerman);
    QCOMPARE(tokensCsv(record) + seriesCsv(record) + metricsCsv(record), english);
    QVERIFY(english.contains("20.66") && english.contains("1234567.5"));
}

void TestTextAndExport::filesAreWrittenWholeOrNotAtAll()
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

void TestTextAndExport::fileNamesComeFromTitles_data()
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

void TestTextAndExport::fileNamesComeFromTitles()
{
    QFETCH(QString, title);
    QTEST(fileNameFor(title), "name");
}

void TestTextAndExport::samplesAreThere()
{
    const std::vector<SamplePrompt> samples = samplePrompts();
    QCOMPARE(samples.size(), std::size_t{3});
    QCOMPARE(samples[0].text, QStringLiteral("Serving LLMs is not like serving web apps."));
    QCOMPARE(samples[1].text, QStringLiteral("What's the capital of France?"));
    for (const SamplePrompt &sample : samples)
        QVERIFY(!sample.title.isEmpty() && !sample.lesson.isEmpty());
}

void TestTextAndExport::promptsKeepTheirLineEndsAndReplaceLoneSurrogates()
{
    QCOMPARE(toPromptUtf8(QStringLiteral("A\r\nB\n\tC")).text, std::string("A\r\nB\n\tC"));
    QCOMPARE(toPromptUtf8(QStringLiteral("é数🤗")).text, std::string("é数🤗"));
    const char16_t broken[] = {u'a', 0xDBC0, u'b', 0xDC00, 0xD83E, 0xDD17, 0xD83E}; // the pair in the middle is whole
    const PromptUtf8 replaced = toPromptUtf8(QString::fromUtf16(broken, std::size(broken)));
    QCOMPARE(replaced.text, std::string("a\uFFFDb\uFFFD🤗\uFFFD"));
    QCOMPARE(replaced.replacedCount, 3);
}

void TestTextAndExport::theTokenizerTellsTokensErrorsAndReplacements()
{
    PromptTokenizer tokenizer;
    tokenizer.setModel(byteModel());
    PromptTokensPtr last;
    connect(&tokenizer, &PromptTokenizer::ready, this, [&](const PromptTokensPtr &tokens) { last = tokens; });
    const auto ask = [&](const QString &text, const Request &request = {}) {
        last.reset();
        tokenizer.request(text, request);
        return QTest::qWaitFor([&] { return last != nullptr; });
    };
    QVERIFY(ask(QStringLiteral("A\r\nB")));
    QCOMPARE(last->userText, QStringLiteral("A\r\nB"));
    QCOMPARE(last->prepared.tokens.size(), std::size_t{4});
    QCOMPARE(last->prepared.tokens[1].id, TokenId{'\r'});
    QVERIFY(!last->error && last->prepared.warning.empty());

    const char16_t broken[] = {u'a', 0xDBC0, u'b'}; // openai/tiktoken#82
    QVERIFY(ask(QString::fromUtf16(broken, 3)));
    QCOMPARE(last->prepared.text, std::string("a\uFFFDb"));
    QCOMPARE(last->prepared.warning, std::string("1 invalid character replaced"));

    QVERIFY(ask(QString()));
    QCOMPARE(last->error->message, std::string("Nothing to evaluate"));
    QVERIFY(last->prepared.tokens.empty());
    Request chat;
    chat.kind = PromptKind::Chat;
    QVERIFY(ask(QStringLiteral("no template here"), chat));
    QCOMPARE(last->error->code, ErrorCode::Unsupported);
    QVERIFY(ask(QStringLiteral("works again")));
    QVERIFY(!last->error);
}

void TestTextAndExport::aChatCarriesTheTextAsItsLastUserMessage()
{
    Result<ChatTemplate> chat = ChatTemplate::compile(
        "{% for message in messages %}{{ message['role'] }}={{ message['content'] }};{% endfor %}");
    QVERIFY(chat.has_value());
    const std::shared_ptr<LoadedModel> model = byteModel();
    model->chatTemplate = std::make_shared<ChatTemplate>(std::move(*chat));
    PromptTokenizer tokenizer;
    tokenizer.setModel(model);
    PromptTokensPtr last;
    connect(&tokenizer, &PromptTokenizer::ready, this, [&](const PromptTokensPtr &tokens) { last = tokens; });
    Request request;
    request.kind = PromptKind::Chat;
    request.messages = {{"system", "Be brief."}};
    tokenizer.request(QStringLiteral("Hé"), request); // no user message yet: one is added
    QVERIFY(QTest::qWaitFor([&] { return last != nullptr; }));
    QCOMPARE(last->prepared.text, std::string("system=Be brief.;user=Hé;"));
    QCOMPARE(last->prepared.userRanges.size(), std::size_t{2});
    request.messages = {{"user", "first"}, {"assistant", "answer"}, {"user", "replaced"}};
    last.reset();
    tokenizer.request(QStringLiteral("second"), request);
    QVERIFY(QTest::qWaitFor([&] { return last != nullptr; }));
    QCOMPARE(last->prepared.text, std::string("user=first;assistant=answer;user=second;"));
}

void TestTextAndExport::onlyTheNewestPromptIsTokenized()
{
    auto bytes = std::make_shared<ByteTokenizer>();
    PromptTokenizer tokenizer;
    tokenizer.setModel(byteModel(bytes));
    QStringList texts;
    connect(&tokenizer, &PromptTokenizer::ready, this,
            [&](const PromptTokensPtr &tokens) { texts.push_back(tokens->userText); });
    tokenizer.request(QStringLiteral("hold"), {});
    QVERIFY(QTest::qWaitFor([&] { return bytes->held == 1; }));
    tokenizer.request(QStringLiteral("skipped"), {}); // stops the one at work
    tokenizer.request(QStringLiteral("newest"), {});
    QVERIFY(QTest::qWaitFor([&] { return !texts.isEmpty(); }));
    for (int i = 0; i < 10; ++i)
        QCoreApplication::processEvents();
    QCOMPARE(texts, QStringList{QStringLiteral("newest")});
}

void TestTextAndExport::aPromptOfAMegabyteArrivesWhole()
{
    PromptTokenizer tokenizer;
    tokenizer.setModel(byteModel());
    PromptTokensPtr last;
    connect(&tokenizer, &PromptTokenizer::ready, this, [&](const PromptTokensPtr &tokens) { last = tokens; });
    tokenizer.request(QString(1'000'000, u'='), {});
    QVERIFY(!last); // nothing happens in the caller's thread
    QVERIFY(QTest::qWaitFor([&] { return last != nullptr; }, 60'000));
    QCOMPARE(last->prepared.tokens.size(), std::size_t{1'000'000});
}

void TestTextAndExport::withoutAModelNothingIsTold()
{
    auto bytes = std::make_shared<ByteTokenizer>();
    PromptTokenizer tokenizer;
    QSignalSpy ready(&tokenizer, &PromptTokenizer::ready);
    tokenizer.request(QStringLiteral("text"), {});
    tokenizer.setModel(byteModel(bytes));
    tokenizer.request(QStringLiteral("hold"), {});
    QVERIFY(QTest::qWaitFor([&] { return bytes->held == 1; }));
    tokenizer.setModel(nullptr); // stops what is at work
    tokenizer.request(QStringLiteral("text"), {});
    QVERIFY(QTest::qWaitFor([&] { return bytes.use_count() == 1; })); // it has stopped
    QCoreApplication::processEvents();
    QCOMPARE(ready.size(), 0);
    tokenizer.setModel(byteModel());
    tokenizer.request(QStringLiteral("with a model"), {});
    QVERIFY(ready.wait());
    QCOMPARE(ready.size(), 1);
    QCOMPARE(ready[0][0].value<PromptTokensPtr>()->userText, QStringLiteral("with a model"));
}

void TestTextAndExport::closingDuringTokenizingIsQuick()
{
    auto bytes = std::make_shared<ByteTokenizer>();
    {
        PromptTokenizer tokenizer;
        tokenizer.setModel(byteModel(bytes));
        tokenizer.request(QStringLiteral("hold"), {}); // would never end by itself
        QVERIFY(QTest::qWaitFor([&] { return bytes->held == 1; }));
    }
    QCOMPARE(bytes.use_count(), 1L);
}

QTEST_GUILESS_MAIN(TestTextAndExport)
#include "tst_text_and_export.moc"
