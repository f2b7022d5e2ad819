// SPDX-License-Identifier: GPL-3.0-or-later
// Every error and warning of the engine has words for the user.
#include "app/core/error_text.h"
#include "app/core/model_fetch.h"

#include <QSet>
#include <QtTest>

using namespace lectern;

namespace {

constexpr int kErrorCodes = static_cast<int>(ErrorCode::Numerics) + 1;
constexpr int kTasks = static_cast<int>(ErrorTask::Export) + 1;

} // namespace

class TestErrorText : public QObject
{
    Q_OBJECT

private slots:
    void everyCodeHasItsOwnWordsInEveryTask()
    {
        for (int task = 0; task < kTasks; ++task) {
            QSet<QString> texts;
            for (int code = 0; code < kErrorCodes; ++code) {
                const QString text = errorHeadline(static_cast<ErrorCode>(code), static_cast<ErrorTask>(task));
                QVERIFY2(text.count(QLatin1Char('.')) >= 2 && text.endsWith(QLatin1Char('.')), qPrintable(text));
                texts << text;
            }
            QCOMPARE(texts.size(), kErrorCodes);
        }
    }

    void theHeadlineSaysWhatWasBeingDone()
    {
        QCOMPARE(errorHeadline(ErrorCode::BadFormat, ErrorTask::LoadModel),
                 QStringLiteral("The model was not loaded. The file is damaged or not what its name says. Fetch it "
                                "again or choose another one."));
        QVERIFY(errorHeadline(ErrorCode::WriteFailed, ErrorTask::Export).startsWith(QStringLiteral("Writing failed.")));
        QVERIFY(errorHeadline(ErrorCode::Unsupported, ErrorTask::Run).contains(QStringLiteral("raw prompt")));
    }

    void theAdviceFitsWhatWasBeingDone()
    {
        const auto advice = [](ErrorCode code, ErrorTask task) { return errorHeadline(code, task); };
        QVERIFY(advice(ErrorCode::OutOfMemory, ErrorTask::LoadModel).contains(QStringLiteral("smaller model")));
        QVERIFY(advice(ErrorCode::OutOfMemory, ErrorTask::Run).contains(QStringLiteral("--kv-budget")));
        QVERIFY(advice(ErrorCode::OutOfMemory, ErrorTask::Export).contains(QStringLiteral("smaller picture")));
        QVERIFY(advice(ErrorCode::OutOfMemory, ErrorTask::OpenRun).contains(QStringLiteral("delete runs")));
        QVERIFY(!advice(ErrorCode::NotFound, ErrorTask::Export).contains(QStringLiteral("path")));
        QVERIFY(advice(ErrorCode::NotFound, ErrorTask::OpenRun).contains(QStringLiteral("Check the path")));
    }

    void everyWarningHasItsOwnWords()
    {
        QSet<QString> texts;
        for (int kind = 0; kind < kWarningKinds; ++kind) {
            const QString text = warningHeadline(static_cast<WarningKind>(kind));
            QVERIFY2(text.endsWith(QLatin1Char('.')), qPrintable(text));
            texts << text;
        }
        QCOMPARE(texts.size(), kWarningKinds);
        QVERIFY(warningHeadline(static_cast<WarningKind>(kWarningKinds)).isEmpty()); // the count is right
    }

    void whatIsLeftOutOfAPromptIsCountedAndNamedOnce()
    {
        const QString text = leftOutHeadline(std::string(5000, '\x04') + "\xFF");
        QVERIFY2(text.startsWith(QLocale().toString(5001)), qPrintable(text));
        QVERIFY2(text.endsWith(QStringLiteral(": 0x04, 0xFF")), qPrintable(text));
    }

    void aWarningThatFewTextsMeetIsNoMessage()
    {
        QVERIFY(isWorthAMessage(WarningKind::PreTokenizerMissing));
        QVERIFY(!isWorthAMessage(WarningKind::BytesMissing)); // SmolLM2 has this one
    }

    void everyFailureOfAFetchHasItsOwnWords()
    {
        QSet<QString> texts;
        for (int failure = 0; failure <= static_cast<int>(FetchFailure::Other); ++failure)
            texts << ModelFetch::failureText(static_cast<FetchFailure>(failure));
        QCOMPARE(texts.size(), static_cast<int>(FetchFailure::Other) + 1);
        QVERIFY(!texts.contains(QString()));
    }
};

QTEST_APPLESS_MAIN(TestErrorText)
#include "tst_error_text.moc"
