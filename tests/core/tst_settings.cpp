// SPDX-License-Identifier: GPL-3.0-or-later
// What is remembered between sessions.
#include "app/core/settings.h"

#include <QFile>
#include <QFileInfo>
#include <QLocale>
#include <QProcess>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace lectern;

class TestSettings : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void settingsComeBackAfterARestart()
    {
        QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("résumé 数据 Ω.ini"));
        SamplingParams sampling;
        sampling.temperature = 0.7f;
        sampling.topK = -1;
        sampling.topP = 0.95f;
        sampling.minP = 0.05f;
        sampling.repetitionPenalty = 1.1f;
        sampling.seed = 18446744073709551615u;
        const QString prompt = QStringLiteral("Be brief.\n\"Quoted\", with ; and = and \\ and 数");
        QLocale::setDefault(QLocale(QLocale::German));
        {
            Settings settings(file);
            settings.setTheme(ThemeChoice::Dark);
            settings.setProjector(true);
            settings.setLanguage(QStringLiteral("de"));
            settings.setPromptMode(PromptMode::Raw);
            settings.setAnswerLens(AnswerLens::Probability);
            settings.setSystemPrompt(prompt);
            settings.setSampling(sampling);
            settings.setMaxTokens(4096);
            settings.setUsesKvCache(false);
            settings.setParsesSpecial(true);
            settings.setContextTokens(2048);
            settings.setExportFolder(folder.path());
            settings.setLoadingModel(QStringLiteral("/数.gguf"));
            settings.setWindow(QByteArray("\0\1\377", 3), "layout");
        }
        QLocale::setDefault(QLocale::c());
        const Settings settings(file);
        QCOMPARE(settings.theme(), ThemeChoice::Dark);
        QVERIFY(settings.isProjector());
        QCOMPARE(settings.language(), QStringLiteral("de"));
        QCOMPARE(settings.promptMode(), PromptMode::Raw);
        QCOMPARE(settings.answerLens(), AnswerLens::Probability);
        QCOMPARE(settings.systemPrompt(), prompt);
        QVERIFY(settings.sampling() == sampling);
        QCOMPARE(settings.maxTokens(), 4096);
        QVERIFY(!settings.usesKvCache());
        QVERIFY(settings.parsesSpecial());
        QCOMPARE(settings.contextTokens(), 2048);
        QCOMPARE(settings.exportFolder(), folder.path());
        QCOMPARE(settings.loadingModel(), QStringLiteral("/数.gguf"));
        QCOMPARE(settings.windowGeometry(), QByteArray("\0\1\377", 3));
        QCOMPARE(settings.windowLayout(), QByteArray("layout"));
    }

    // Two windows may share the settings: a load that goes on in the other one is no crash.
    void aLoadCountsAsCrashedOnlyWhenItsProcessIsGone()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("shared.ini"));
        QProcess other;
        other.start(QStringLiteral("sleep"), {QStringLiteral("600")});
        QVERIFY(other.waitForStarted());
        {
            QSettings file(path, QSettings::IniFormat);
            file.setValue(QStringLiteral("files/loadingModel"), QStringLiteral("/m.gguf"));
            file.setValue(QStringLiteral("files/loadingProcess"), other.processId());
        }
        QCOMPARE(Settings(path).loadingModel(), QString());
        other.kill();
        QVERIFY(other.waitForFinished());
        QCOMPARE(Settings(path).loadingModel(), QStringLiteral("/m.gguf"));
    }

    void damagedSettingsFallBackOneByOne()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("damaged.ini"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("[window]\ntheme=purple\nprojector=7\nlanguage=no such language\n"
                   "[prompt]\nmode=\nparsesSpecial=1\n[answer]\nlens=latency\n"
                   "[sampling]\ntemperature=nan\ntopK=40\ntopP=1.5\nminP=0,5\nrepetitionPenalty=1.1x\nseed=-1\n"
                   "[run]\nmaxTokens=0\nkvCache=maybe\ncontextTokens=-1\n"
                   "[files]\nrecentModels=relative.gguf, /a.gguf, /a.gguf\nexportFolder=/no/such/folder\n");
        file.close();
        const Settings settings(path);
        SamplingParams expected;
        expected.topK = 40; // the only good one
        QVERIFY(settings.sampling() == expected);
        QCOMPARE(settings.theme(), ThemeChoice::Auto);
        QVERIFY(!settings.isProjector());
        QCOMPARE(settings.language(), QString());
        QCOMPARE(settings.promptMode(), PromptMode::Chat);
        QCOMPARE(settings.answerLens(), AnswerLens::Latency);
        QCOMPARE(settings.maxTokens(), 128);
        QVERIFY(settings.usesKvCache());
        QVERIFY(!settings.parsesSpecial());
        QCOMPARE(settings.contextTokens(), 0);
        QCOMPARE(settings.recentModels(), QStringList{QStringLiteral("/a.gguf")});
        QVERIFY(QFileInfo(settings.exportFolder()).isDir());
    }

    void recentFilesAreNewestFirstWithoutDuplicates()
    {
        QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("recent.ini"));
        const QString odd = QStringLiteral("/модели 模型 é/тест-ü, \"x\" '.gguf");
        {
            Settings settings(file);
            QCOMPARE(settings.recentModels(), QStringList());
            settings.addRecentModel(odd);
            settings.addRecentModel(QStringLiteral("/b.gguf"));
            settings.addRecentModel(QStringLiteral("/folder/../b.gguf")); // the same file
            settings.addRecentModel(odd);
            settings.addRecentRun(QStringLiteral("/run.lectern.json"));
        }
        Settings settings(file);
        QCOMPARE(settings.recentModels(), (QStringList{odd, QStringLiteral("/b.gguf")}));
        QCOMPARE(settings.recentRuns(), QStringList{QStringLiteral("/run.lectern.json")});
        for (int i = 0; i < 20; ++i)
            settings.addRecentModel(QStringLiteral("/many/%1.gguf").arg(i));
        QCOMPARE(settings.recentModels().size(), qsizetype{Settings::kMaxRecentFiles});
        QCOMPARE(settings.recentModels().first(), QStringLiteral("/many/19.gguf"));
        settings.addRecentModel(QStringLiteral("/many/12.gguf")); // the oldest that is left moves, nothing is lost
        QCOMPARE(settings.recentModels().size(), qsizetype{Settings::kMaxRecentFiles});
        settings.forgetRecent(QStringLiteral("/many/12.gguf"));
        settings.forgetRecent(QStringLiteral("/many/19.gguf"));
        QCOMPARE(settings.recentModels().first(), QStringLiteral("/many/18.gguf"));
    }

    void settingsTellChanges()
    {
        QTemporaryDir folder;
        Settings settings(folder.filePath(QStringLiteral("signals.ini")));
        QSignalSpy theme(&settings, &Settings::themeChanged);
        QSignalSpy projector(&settings, &Settings::projectorChanged);
        QSignalSpy recent(&settings, &Settings::recentFilesChanged);
        settings.setTheme(ThemeChoice::Auto);
        settings.setProjector(false);
        QCOMPARE(theme.size() + projector.size(), 0);
        settings.setTheme(ThemeChoice::Light);
        settings.setProjector(true);
        settings.addRecentRun(QStringLiteral("/a"));
        QCOMPARE(theme.size(), 1);
        QCOMPARE(projector.size(), 1);
        QCOMPARE(recent.size(), 1);
    }
};

QTEST_GUILESS_MAIN(TestSettings)
#include "tst_settings.moc"
