// SPDX-License-Identifier: GPL-3.0-or-later
// Saved runs of older schema versions stay readable, those of newer ones are refused.
#include "engine/trace/metrics.h"
#include "engine/trace/run_json.h"
#include "tests/support/awkward_record.h"
#include "tests/support/fixture.h"

#include <QTest>

using namespace lectern;
using namespace lectern::test;
using Json = nlohmann::json;

class TestRunVersions : public QObject
{
    Q_OBJECT

private slots:
    void filesOfVersionOneAreLoadedWithEveryValue_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("a chat") << "run_version1.lectern.json";
        QTest::newRow("cancelled, without a cache") << "run_version1_cancelled.lectern.json";
    }

    // Files as lectern-cli wrote them before there were passes. "totals" are among the values: they are derived anew
    // from what was loaded.
    void filesOfVersionOneAreLoadedWithEveryValue()
    {
        QFETCH(QString, name);
        const std::filesystem::path path = fixturePath(name.toStdString());
        const Json before = loadJson(path);
        QCOMPARE(before["schemaVersion"].get<int>(), 1);
        const Result<RunRecord> loaded = loadRun(path);
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QVERIFY(!loaded->request.tracesOperations);
        QVERIFY(loaded->passes.empty() && loaded->preemptions.empty());

        Json after = Json::parse(toJson(*loaded));
        QCOMPARE(after["schemaVersion"].get<int>(), 2);
        after["schemaVersion"] = 1;
        QCOMPARE(after["request"].erase("tracesOperations"), 1u);
        QCOMPARE(after.erase("passes") + after.erase("preemptions"), 2u);
        QCOMPARE(Json::diff(before, after).dump(), std::string("[]"));

        const Result<RunRecord> again = runFromJson(toJson(*loaded)); // as a file of version 2
        QVERIFY2(again, again ? "" : again.error().text().c_str());
        QCOMPARE(toJson(*again), toJson(*loaded));
    }

    void aRunOfVersionOneIsTheRunThatWasSaved()
    {
        const RunRecord run = loadRun(fixturePath("run_version1.lectern.json")).value_or(RunRecord());
        QCOMPARE(run.answer(), std::string("日本 refers to Japanese culture,"));
        QCOMPARE(run.finishReason, FinishReason::MaxTokens);
        QCOMPARE(run.request.messages.size(), 2u);
        QCOMPARE(run.request.messages[1].content, std::string("What does 日本 mean? 🙂"));
        QCOMPARE(run.request.sampling.temperature, 0.7f);
        QCOMPARE(run.promptTokens.size(), 29u);
        QCOMPARE(run.promptTokens[16].bytes, std::string(" \xe6"));
        QCOMPARE(run.outputTokens.size(), 8u);
        QCOMPARE(run.outputTokens[5].rank, 2);
        QCOMPARE(run.outputTokens[5].top[2], (Candidate{4931, -1.9116896f}));
        QCOMPARE(run.kv.back().allocatedBytes, 1'105'920u);
        QCOMPARE(*metricsOf(run).ttftNs, 21'193'036.0);
    }

    // What a file of version 1 has under the names of version 2 is nothing that Lectern wrote.
    void versionTwoRequiresWhatVersionOneDoesNotHave()
    {
        Json json = Json::parse(toJson(awkwardRecord()));
        for (const char *name : {"passes", "preemptions"}) {
            Json without = json;
            without.erase(name);
            QCOMPARE(QString::fromStdString(runFromJson(without.dump()).error().text()),
                     QLatin1String(name) + QStringLiteral(": is missing"));
        }
        json["request"].erase("tracesOperations");
        QCOMPARE(runFromJson(json.dump()).error().text(), std::string("request.tracesOperations: is missing"));

        json["schemaVersion"] = 1;
        const Result<RunRecord> loaded = runFromJson(json.dump());
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QVERIFY(loaded->passes.empty() && loaded->preemptions.empty());
    }

    void newerVersionsAreRefusedWithBothNumbers()
    {
        Json json = Json::parse(toJson(awkwardRecord()));
        json["schemaVersion"] = 3;
        const Result<RunRecord> loaded = runFromJson(json.dump());
        QVERIFY(!loaded);
        QCOMPARE(loaded.error().code, ErrorCode::Unsupported);
        QVERIFY(loaded.error().message.find("version 3") != std::string::npos);
        QVERIFY(loaded.error().message.find("version 2") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestRunVersions)
#include "tst_run_versions.moc"
