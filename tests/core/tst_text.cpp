// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers, definitions and samples as people read them.
#include "app/core/format.h"
#include "app/core/metric_text.h"
#include "app/core/samples.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace lectern;

namespace {

const QLocale kEnglish(QLocale::English, QLocale::UnitedStates);
const QLocale kGerman(QLocale::German, QLocale::Germany);

} // namespace

class TestText : public QObject
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
    void samplesAreThere();
};

void TestText::durationsHaveThreeDigitsAndTheFittingUnit_data()
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

void TestText::durationsHaveThreeDigitsAndTheFittingUnit()
{
    QFETCH(double, ns);
    QTEST(formatDuration(ns, kEnglish), "text");
}

void TestText::otherNumbersFollowTheSameRule()
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

void TestText::numbersFollowTheLocale()
{
    QCOMPARE(formatDuration(2'350e6, kGerman), QStringLiteral("2,35\u2009s"));
    QCOMPARE(formatCount(8192, kGerman), QStringLiteral("8.192"));
    QLocale::setDefault(kGerman);
    QCOMPARE(formatBytes(1'310'000), QStringLiteral("1,31\u2009MB"));
}

void TestText::tokenTextIsVisible_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("text");
    QTest::newRow("space") << QByteArray(" LLMs") << QStringLiteral("␣LLMs");
    QTest::newRow("line ends") << QByteArray("a\r\n\tb") << QStringLiteral("a␍⏎⇥b");
    QTest::newRow("controls") << QByteArray("\0\x1B\x7F", 3) << QStringLiteral("␀␛␡");
    QTest::newRow("part of a character") << QByteArray("\xE9\x91") << QStringLiteral("⟨E9⟩⟨91⟩");
    QTest::newRow("joiner") << QByteArray("\xE2\x80\x8D") << QStringLiteral("⟨U+200D⟩");
    QTest::newRow("non-joiner") << QByteArray("می\xE2\x80\x8Cخواهم") << QStringLiteral("می⟨U+200C⟩خواهم");
    QTest::newRow("no-break space") << QByteArray("\xC2\xA0") << QStringLiteral("⟨U+00A0⟩");
    QTest::newRow("letters") << QByteArray("é数🤗") << QStringLiteral("é数🤗");
}

void TestText::tokenTextIsVisible()
{
    QFETCH(QByteArray, bytes);
    QTEST(visibleTokenText(bytes.toStdString()), "text");
    QCOMPARE(hexBytes("\xE9\x91\xAB"), QStringLiteral("E9 91 AB"));
    QCOMPARE(byteValues("\x04\xFF\x04"), QStringLiteral("0x04, 0xFF"));
    QCOMPARE(byteValues("\x01\x02\x03\x04\x05\x06\x07\x08\x09"),
             QStringLiteral("0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08 …"));
}

void TestText::definitionsCarryTheNumbersOfTheRun()
{
    QLocale::setDefault(kEnglish);
    Metrics metrics;
    metrics.promptTokens = 50;
    metrics.reusedTokens = 39;
    metrics.evaluatedTokens = 11;
    metrics.computedTokens = 11;
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
    QVERIFY(definition(MetricId::Kv).contains(QStringLiteral("The last token of the answer is in the context but")));
    const MetricText itl = metricText(MetricId::ItlP99, metrics);
    QVERIFY(itl.toolTip.contains(QStringLiteral("p50 39.0\u2009ms, p90 41.0\u2009ms, p99 42.0\u2009ms")));
    QVERIFY(itl.toolTip.contains(QStringLiteral("LLMPerf")));
}

void TestText::missingMetricsAreADashNeverZero()
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
    QCOMPARE(metricText(MetricId::Kv, one).value, QStringLiteral("—")); // a saved run without samples of the cache
    one.kvUsedBytes = one.kvAllocatedBytes = 0;
    QCOMPARE(metricText(MetricId::Kv, one).value, QStringLiteral("0\u2009B")); // without a cache that is measured
}

void TestText::outcomesAreToldInWords()
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
    QCOMPARE(outcome(FinishReason::MaxTokens), QStringLiteral("limit reached"));
    QCOMPARE(outcome(FinishReason::ContextFull), QStringLiteral("context full (8,192 tokens)"));
    QCOMPARE(outcome(FinishReason::MemoryFull), QStringLiteral("KV memory full (189\u2009MB)"));
    record.endedInsideCharacter = true;
    QCOMPARE(outcome(FinishReason::Cancelled), QStringLiteral("stopped by you, inside a character"));
}

void TestText::samplesAreThere()
{
    const std::vector<SamplePrompt> samples = samplePrompts();
    QCOMPARE(samples.size(), std::size_t{3});
    QCOMPARE(samples[0].text, QStringLiteral("Serving LLMs is not like serving web apps."));
    QCOMPARE(samples[1].text, QStringLiteral("What's the capital of France?"));
    for (const SamplePrompt &sample : samples)
        QVERIFY(!sample.title.isEmpty() && !sample.lesson.isEmpty());
}

QTEST_GUILESS_MAIN(TestText)
#include "tst_text.moc"
