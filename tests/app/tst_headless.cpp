// SPDX-License-Identifier: GPL-3.0-or-later
// The program as a process, without a display.
#include "engine/base/file.h"
#include "engine/trace/run_json.h"
#include "tests/support/tiny_model.h"
#include "widgets/theme.h"

#include <QDir>
#include <QFileInfo>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

using namespace lectern;

class TestHeadless : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    QString m_model;

    struct Outcome
    {
        int exitCode = -1;
        QString out, err;
    };

    Outcome lecternWith(const QStringList &arguments, const QMap<QString, QString> &variables = {},
                        const QString &outFile = {})
    {
        QProcess process;
        if (!outFile.isEmpty())
            process.setStandardOutputFile(outFile, QIODevice::Append);
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char *name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
            environment.remove(QLatin1String(name));
        environment.insert(QStringLiteral("XDG_CONFIG_HOME"), m_folder.filePath(QStringLiteral("config")));
        environment.insert(QStringLiteral("XDG_DATA_HOME"), m_folder.filePath(QStringLiteral("data")));
        for (auto it = variables.begin(); it != variables.end(); ++it)
            environment.insert(it.key(), it.value());
        process.setProcessEnvironment(environment);
        process.start(qEnvironmentVariable("LECTERN_EXECUTABLE"), arguments);
        if (!process.waitForFinished(120'000))
            return {};
        return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2,
                QString::fromUtf8(process.readAllStandardOutput()), QString::fromUtf8(process.readAllStandardError())};
    }

private slots:
    void initTestCase()
    {
        if (!qEnvironmentVariableIsSet("LECTERN_EXECUTABLE"))
            QSKIP("LECTERN_EXECUTABLE does not name the program");
        test::writeTinyModel(m_folder.path().toStdString(), "tiny.gguf");
        m_model = m_folder.filePath(QStringLiteral("tiny.gguf"));
    }

    void theMainJobWritesChartsAndData()
    {
        const QString folder = m_folder.filePath(QStringLiteral("一時　フォルダ"));
        QVERIFY(QDir().mkpath(folder));
        const Outcome outcome =
            lecternWith({QStringLiteral("--model"), m_model, QStringLiteral("--run"), QStringLiteral("the model"),
                         QStringLiteral("--raw"), QStringLiteral("--max-tokens"), QStringLiteral("5"),
                         QStringLiteral("--export"), folder, QStringLiteral("--quit")},
                        {{QStringLiteral("TMPDIR"), folder}});
        QVERIFY2(outcome.exitCode == 0, qPrintable(outcome.err));
        QVERIFY2(!outcome.err.contains(QStringLiteral("plugin")), qPrintable(outcome.err));
        QCOMPARE(outcome.out.count(QLatin1Char('\n')), 13);
        const auto record = loadRun((folder + QStringLiteral("/run.lectern.json")).toStdString());
        QVERIFY2(record.has_value(), record ? "" : record.error().text().c_str());
        QCOMPARE(record->outputTokens.size(), std::size_t(5));
        QCOMPARE(QImage(folder + QStringLiteral("/timeline.png")).size(), QSize(1600, 900));
    }

    void aSystemMessageGoesBeforeThePrompt()
    {
        const QString folder = m_folder.filePath(QStringLiteral("system"));
        const Outcome outcome =
            lecternWith({QStringLiteral("--model"), m_model, QStringLiteral("--run"), QStringLiteral("hello"),
                         QStringLiteral("--system"), QStringLiteral("be kind"), QStringLiteral("--max-tokens"),
                         QStringLiteral("2"), QStringLiteral("--export"), folder, QStringLiteral("--quit")});
        QVERIFY2(outcome.exitCode == 0, qPrintable(outcome.err));
        const auto record = loadRun((folder + QStringLiteral("/run.lectern.json")).toStdString());
        QVERIFY2(record.has_value(), record ? "" : record.error().text().c_str());
        QCOMPARE(record->request.messages.size(), std::size_t(2));
        QCOMPARE(record->request.messages.front().role, std::string("system"));
        QCOMPARE(record->request.messages.front().content, std::string("be kind"));
        QCOMPARE(record->request.messages.back().content, std::string("hello"));
    }

    void everyPathMayHoldLettersQuotesAndSpaces()
    {
        const QString folder = m_folder.filePath(QStringLiteral("ü 数 ' \" フォルダ"));
        QVERIFY(QDir().mkpath(folder + QStringLiteral("/tmp")));
        const QString odd = folder + QStringLiteral("/ü 数 ' \" model.gguf"),
                      out = folder + QStringLiteral("/aus 'ü\"");
        QVERIFY(QFile::copy(m_model, odd));
        const Outcome outcome = lecternWith(
            {odd, QStringLiteral("--run"), QStringLiteral("ü 数 ' \""), QStringLiteral("--raw"),
             QStringLiteral("--max-tokens"), QStringLiteral("3"), QStringLiteral("--theme"), QStringLiteral("dark"),
             QStringLiteral("--export"), out, QStringLiteral("--screenshot"), folder + QStringLiteral("/bild 数.png")},
            {{QStringLiteral("TMPDIR"), folder + QStringLiteral("/tmp")}});
        QVERIFY2(outcome.exitCode == 0, qPrintable(outcome.err));
        QVERIFY2(outcome.out.contains(out + QStringLiteral("/run.lectern.json")), qPrintable(outcome.out));
        const auto record = loadRun((out + QStringLiteral("/run.lectern.json")).toStdString());
        QVERIFY2(record.has_value(), record ? "" : record.error().text().c_str());
        QCOMPARE(QString::fromStdString(record->model.fileName), QStringLiteral("ü 数 ' \" model.gguf"));
        QCOMPARE(QString::fromStdString(record->promptText), QStringLiteral("ü 数 ' \""));
        // The window was dark, the files are for paper.
        QVERIFY(QImage(folder + QStringLiteral("/bild 数.png")).pixelColor(2, 300).lightness() < 90);
        for (const char *chart : {"timeline", "kv-cache", "latency"}) {
            const QImage picture(out + QLatin1Char('/') + QLatin1String(chart) + QStringLiteral(".png"));
            QVERIFY2(picture.pixelColor(1, 1).lightness() > 240, chart);
        }
        // And the saved run opens from there.
        const Outcome again = lecternWith({out + QStringLiteral("/run.lectern.json"), QStringLiteral("--export"),
                                           folder + QStringLiteral("/2"), QStringLiteral("--quit")});
        QVERIFY2(again.exitCode == 0, qPrintable(again.err));
    }

    // lmstudio-bug-tracker#2231
    void aTemporaryFolderThatCannotBeWrittenIsNamed()
    {
        const QString missing = m_model + QStringLiteral("/一時　フォルダ"); // below a file
        const Outcome outcome = lecternWith({QStringLiteral("--model"), m_model, QStringLiteral("--run"),
                                             QStringLiteral("the"), QStringLiteral("--quit")},
                                            {{QStringLiteral("TMPDIR"), missing}});
        QCOMPARE(outcome.exitCode, 1);
        QVERIFY2(outcome.err.contains(missing), qPrintable(outcome.err));
    }

    void aFailureCanBeLookedAt()
    {
        const auto shoot = [this](const char *name, const QString &prompt, int exitCode) {
            const QString path = m_folder.filePath(QLatin1String(name));
            const Outcome outcome = lecternWith(
                {QStringLiteral("--model"), m_model, QStringLiteral("--run"), prompt, QStringLiteral("--raw"),
                 QStringLiteral("--max-tokens"), QStringLiteral("4"), QStringLiteral("--context"), QStringLiteral("64"),
                 QStringLiteral("--screenshot"), path, QStringLiteral("--size"), QStringLiteral("1024x640"),
                 QStringLiteral("--theme"), QStringLiteral("light")});
            return outcome.exitCode == exitCode && (exitCode == 0 || outcome.err.contains(QStringLiteral("640")))
                       ? QImage(path)
                       : QImage();
        };
        // Red, as errors are and nothing else in the window.
        const auto reds = [](const QImage &image) {
            int count = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x)
                    count += image.pixelColor(x, y) == Theme::light().error;
            return count;
        };
        const QImage good = shoot("good.png", QStringLiteral("zz"), 0);
        const QImage refused = shoot("refused.png", QStringLiteral("z").repeated(640), 1);
        QCOMPARE(good.size(), QSize(1024, 640));
        QCOMPARE(refused.size(), QSize(1024, 640));
        QVERIFY2(reds(refused) > reds(good) + 50,
                 qPrintable(QStringLiteral("%1, %2").arg(reds(refused)).arg(reds(good))));
    }

    void filesAreTheSameInEveryLocale()
    {
        const auto exportWith = [&](const QString &locale) {
            const QString folder = m_folder.filePath(QStringLiteral("out-") + locale);
            const Outcome outcome =
                lecternWith({QStringLiteral("--model"), m_model, QStringLiteral("--run"), QStringLiteral("x"),
                             QStringLiteral("--raw"), QStringLiteral("--max-tokens"), QStringLiteral("3"),
                             QStringLiteral("--export"), folder, QStringLiteral("--quit")},
                            {{QStringLiteral("LC_ALL"), locale}, {QStringLiteral("LANG"), locale}});
            QFile file(folder + QStringLiteral("/metrics.csv"));
            return outcome.exitCode == 0 && file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll())
                                                                           : QString();
        };
        const QStringList english = exportWith(QStringLiteral("C.UTF-8")).split(QLatin1Char('\n'));
        const QStringList german = exportWith(QStringLiteral("de_DE.UTF-8")).split(QLatin1Char('\n'));
        QVERIFY(english.size() > 5);
        QCOMPARE(german.size(), english.size());
        for (int i = 0; i < english.size(); ++i)
            QCOMPARE(german[i].section(QLatin1Char(','), 0, 0), english[i].section(QLatin1Char(','), 0, 0));
    }

    void aPictureOfTheWindowHasTheSizeAskedFor()
    {
        const QString path = m_folder.filePath(QStringLiteral("window.png"));
        const Outcome outcome = lecternWith(
            {QStringLiteral("--model"), m_model, QStringLiteral("--run"), QStringLiteral("the"),
             QStringLiteral("--max-tokens"), QStringLiteral("4"), QStringLiteral("--screenshot"), path,
             QStringLiteral("--size"), QStringLiteral("1024x640"), QStringLiteral("--theme"), QStringLiteral("dark")});
        QVERIFY2(outcome.exitCode == 0, qPrintable(outcome.err));
        const QImage picture(path);
        QCOMPARE(picture.size(), QSize(1024, 640));
        QVERIFY(picture.pixelColor(2, 300).lightness() < 90);
    }

    void wrongCallsEndWithTwoAndOneLine_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("option") << QStringList{QStringLiteral("--nonsense")};
        QTest::newRow("number") << QStringList{QStringLiteral("--max-tokens"), QStringLiteral("many")};
        QTest::newRow("size") << QStringList{QStringLiteral("--size"), QStringLiteral("10x10")};
        QTest::newRow("temperature") << QStringList{QStringLiteral("--temp"), QStringLiteral("-1")};
        QTest::newRow("backend") << QStringList{QStringLiteral("--backend"), QStringLiteral("cuda")}; // not in here
        QTest::newRow("theme") << QStringList{QStringLiteral("--theme"), QStringLiteral("pink")};
        QTest::newRow("both modes") << QStringList{QStringLiteral("--chat"), QStringLiteral("--raw")};
        QTest::newRow("export of nothing") << QStringList{QStringLiteral("--export"), QStringLiteral("x")};
        QTest::newRow("system message in raw mode")
            << QStringList{QStringLiteral("--run"),    QStringLiteral("a"), QStringLiteral("--raw"),
                           QStringLiteral("--system"), QStringLiteral("b"), QStringLiteral("--quit")};
        QTest::newRow("a picture that is no PNG")
            << QStringList{QStringLiteral("--screenshot"), QStringLiteral("x.foo")};
        QTest::newRow("an option twice") << QStringList{QStringLiteral("--temp"), QStringLiteral("1"),
                                                        QStringLiteral("--temp"), QStringLiteral("2")};
        QTest::newRow("more tokens than lectern-cli takes")
            << QStringList{QStringLiteral("--max-tokens"), QStringLiteral("1000001")};
        QTest::newRow("a seed of more than 64 bits")
            << QStringList{QStringLiteral("--seed"), QStringLiteral("18446744073709551616")};
        QTest::newRow("export to no name")
            << QStringList{QStringLiteral("--run"), QStringLiteral("a"), QStringLiteral("--export"), QString(),
                           QStringLiteral("--quit")};
    }

    void wrongCallsEndWithTwoAndOneLine()
    {
        QFETCH(QStringList, arguments);
        const Outcome outcome = lecternWith(arguments);
        QCOMPARE(outcome.exitCode, 2);
        QCOMPARE(outcome.err.count(QLatin1Char('\n')), 1);
        QVERIFY(outcome.out.isEmpty());
    }

    void failuresEndWithOneAndTheReason()
    {
        const Outcome missing = lecternWith({QStringLiteral("--model"), QStringLiteral("/nowhere/x.gguf"),
                                             QStringLiteral("--run"), QStringLiteral("a"), QStringLiteral("--export"),
                                             m_folder.filePath(QStringLiteral("e")), QStringLiteral("--quit")});
        QCOMPARE(missing.exitCode, 1);
        QVERIFY2(missing.err.contains(QStringLiteral("/nowhere/x.gguf")), qPrintable(missing.err));
        const Outcome unwritable =
            lecternWith({QStringLiteral("--model"), m_model, QStringLiteral("--run"), QStringLiteral("a"),
                         QStringLiteral("--raw"), QStringLiteral("--max-tokens"), QStringLiteral("2"),
                         QStringLiteral("--export"), m_model, QStringLiteral("--quit")});
        QCOMPARE(unwritable.exitCode, 1);
        QVERIFY2(unwritable.err.contains(m_model), qPrintable(unwritable.err));
        const Outcome empty = lecternWith(
            {QStringLiteral("--model"), m_model, QStringLiteral("--run"), QString(), QStringLiteral("--quit")});
        QCOMPARE(empty.exitCode, 1);
        const Outcome display = lecternWith({});
        QCOMPARE(display.exitCode, 1);
        QVERIFY(display.err.contains(QStringLiteral("display")));
    }

    // Every failure ends the program, with or without a prompt.
    void failuresToOpenEndWithOne()
    {
        const QString damaged = m_folder.filePath(QStringLiteral("damaged.lectern.json"));
        QVERIFY(writeFileAtomically(damaged.toStdString(), "{\"schemaVersion\""));
        const QString quit = QStringLiteral("--quit");
        for (const QStringList &arguments :
             {QStringList{QStringLiteral("nothere.lectern.json"), quit},
              QStringList{damaged, QStringLiteral("--export"), m_folder.filePath(QStringLiteral("x")), quit},
              QStringList{QStringLiteral("--model"), QStringLiteral("/nowhere.gguf"), quit},
              QStringList{QStringLiteral("--run"), QStringLiteral("hi"), quit},
              QStringList{QStringLiteral("--model"), m_model, QStringLiteral("--screenshot"),
                          QStringLiteral("/nowhere/x.png")}}) {
            const Outcome outcome = lecternWith(arguments);
            QVERIFY2(outcome.exitCode == 1, qPrintable(arguments.join(QLatin1Char(' ')) + outcome.err));
            QVERIFY2(outcome.err.contains(QStringLiteral("lectern: ")), qPrintable(outcome.err));
        }
    }

    void helpAndVersionPrint()
    {
        const Outcome help = lecternWith({QStringLiteral("--help")});
        QCOMPARE(help.exitCode, 0);
        QVERIFY2(help.out.startsWith(QStringLiteral("Usage: lectern [options]")), qPrintable(help.out));
        for (const char *option : {"--run", "--export", "--screenshot", "--theme", "--quit"})
            QVERIFY2(help.out.contains(QLatin1String(option)), option);
        const Outcome version = lecternWith({QStringLiteral("--version")});
        QCOMPARE(version.exitCode, 0);
        QVERIFY(version.out.startsWith(QStringLiteral("lectern 0.")));
        for (const char *option : {"--help", "--version"}) {
            const Outcome full = lecternWith({QLatin1String(option)}, {}, QStringLiteral("/dev/full"));
            QCOMPARE(full.exitCode, 1);
            QCOMPARE(full.err, QStringLiteral("lectern: the output could not be written\n"));
        }
    }
};

QTEST_GUILESS_MAIN(TestHeadless)
#include "tst_headless.moc"
