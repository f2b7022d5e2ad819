// SPDX-License-Identifier: GPL-3.0-or-later
// The Export menu in the real window, driven by keys and mouse: dialogs, files, clipboard, failures, and that the GUI
// thread goes on meanwhile. On a disk that is full the program runs itself: see fullAndReadOnlyDisks.
#include "engine/trace/run_json.h"
#include "tests/app/export_window.h"
#include "widgets/message_bar.h"

#include <QClipboard>
#include <QImage>
#include <QMimeData>
#include <QProcess>

using namespace lectern;
using test::contentOf;
using test::Gate;
using test::largeRecord;
using test::textsOf;

namespace {

constexpr const char *kDisksVariable = "LECTERN_TEST_DISKS"; // folder with the mounts "full" and "readonly"

} // namespace

class TestExports : public test::ExportWindow
{
    Q_OBJECT

private slots:
    void theFileHasExactlyTheSizeAndFormatThatWereChosen()
    {
        addRun();
        const struct
        {
            int formatsDown;
            const char *name;
        } cases[] = {{0, "a.png"}, {1, "b.svg"}, {2, "c.pdf"}, {1, "plain"}, {1, "odd.data"}};
        for (const auto &[formatsDown, name] : cases) {
            ChartExportDialog *dialog = chooseInDialog("timeline", formatsDown, QStringLiteral("640"),
                                                       QStringLiteral("360"), QStringLiteral("1.5"));
            QVERIFY(dialog);
            press(dialog, QDialogButtonBox::Save);
            QVERIFY(chooseFile(target() + QLatin1Char('/') + QLatin1String(name)));
            const QString said = outcome();
            QVERIFY2(said.contains(QLatin1String(name)), qPrintable(said));
        }
        QCOMPARE(QImage(target() + QStringLiteral("/a.png")).size(), QSize(960, 540));
        for (const char *name : {"b.svg", "plain.svg", "odd.data"}) {
            const QByteArray svg = contentOf(target() + QLatin1Char('/') + QLatin1String(name));
            QString error;
            const QString texts = textsOf(svg, &error);
            QVERIFY2(error.isEmpty(), qPrintable(error));
            QVERIFY(svg.contains("viewBox=\"0 0 640 360\""));
            QVERIFY2(texts.contains(QStringLiteral("time since submitting, ms")), qPrintable(texts));
        }
        const QByteArray pdf = contentOf(target() + QStringLiteral("/c.pdf"));
        QVERIFY(pdf.startsWith("%PDF-"));
        QCOMPARE(pdf.count("/Type /Page\n"), 1);
        QVERIFY(pdf.contains("/MediaBox [0 0 480")); // 640 / 96 inch
        QCOMPARE(filesIn(target()).size(), 5);
    }

    void withoutARunTheMenuSaysWhyNothingCanBeExported()
    {
        const auto enabled = [this] {
            QMap<QString, bool> found;
            for (QMenu *menu : m_window->findChildren<QMenu *>())
                if (menu->actions().contains(action("saveRun")))
                    for (const QAction *item : menu->actions())
                        if (!item->isSeparator())
                            found[item->text()] = item->isEnabled();
            return found;
        };
        QVERIFY(enabled().size() >= 9);
        QVERIFY(!enabled().values().contains(true));
        QVERIFY(!action("copy-latency")->isEnabled());
        QVERIFY(action("exportHint")->isVisible());
        addRun();
        QVERIFY(!action("exportHint")->isVisible());
        QCOMPARE(enabled().values().count(false), 1); // the hint
        QVERIFY(action("copy-latency")->isEnabled());
    }

    void everySvgNamesItsAxes()
    {
        addRun();
        const std::pair<const char *, const char *> titles[] = {{"kv-cache", "MB"}, {"latency", "ms"}};
        for (const auto &[chart, unit] : titles) {
            ChartExportDialog *dialog =
                chooseInDialog(chart, 1, QStringLiteral("800"), QStringLiteral("450"), QStringLiteral("1"));
            QVERIFY(dialog);
            press(dialog, QDialogButtonBox::Save);
            const QString path = target() + QLatin1Char('/') + QLatin1String(chart) + QStringLiteral(".svg");
            QVERIFY(chooseFile(path));
            outcome();
            QString error;
            const QString texts = textsOf(contentOf(path), &error);
            QVERIFY2(texts.contains(QStringLiteral(", ") + QLatin1String(unit)), qPrintable(texts));
            QVERIFY2(texts.contains(QStringLiteral("token")), qPrintable(texts));
        }
    }

    void cancellingADialogLeavesNothing()
    {
        addRun();
        ChartExportDialog *dialog =
            chooseInDialog("latency", 0, QStringLiteral("640"), QStringLiteral("360"), QStringLiteral("1"));
        QVERIFY(dialog);
        QTest::keyClick(dialog, Qt::Key_Escape);
        QVERIFY(!QApplication::activeModalWidget());
        dialog = chooseInDialog("latency", 0, QStringLiteral("640"), QStringLiteral("360"), QStringLiteral("1"));
        press(dialog, QDialogButtonBox::Cancel);
        QVERIFY(!QApplication::activeModalWidget());
        dialog = chooseInDialog("latency", 0, QStringLiteral("640"), QStringLiteral("360"), QStringLiteral("1"));
        press(dialog, QDialogButtonBox::Save);
        auto *files = openedDialog<QFileDialog>();
        QVERIFY(files);
        QTest::keyClick(files, Qt::Key_Escape);
        QVERIFY(!QApplication::activeModalWidget());
        QVERIFY(!queue()->isBusy());
        QVERIFY(filesIn(target()).isEmpty());
        QVERIFY(m_window->findChild<MessageBar *>()->isHidden());
    }

    void theClipboardGetsTheChosenPixelsAndAFinishedPng()
    {
        addRun();
        ChartExportDialog *dialog =
            chooseInDialog("kv-cache", 2, QStringLiteral("500"), QStringLiteral("300"), QStringLiteral("2.5"));
        QVERIFY(dialog);
        QTest::mouseClick(dialog->findChild<QPushButton *>(QStringLiteral("copy")), Qt::LeftButton);
        QVERIFY(outcome().contains(QStringLiteral("1250 × 750")));
        QCOMPARE(QGuiApplication::clipboard()->image().size(), QSize(1250, 750));
        const QByteArray png = QGuiApplication::clipboard()->mimeData()->data(QStringLiteral("image/png"));
        QCOMPARE(QImage::fromData(png, "PNG").convertToFormat(QImage::Format_RGB32),
                 QGuiApplication::clipboard()->image());
        // From the menu, without a dialog: what was chosen last.
        action("copy-latency")->trigger();
        outcome();
        QCOMPARE(QGuiApplication::clipboard()->image().size(), QSize(1250, 750));
        QVERIFY(filesIn(target()).isEmpty());
    }

    void theWindowGoesOnWhileALargeRunIsSaved()
    {
        const int id = m_window->runs()->add(largeRecord(), QStringLiteral("large"));
        m_window->runs()->rename(id, QStringLiteral("renamed"));
        const QString path = target() + QStringLiteral("/large.lectern.json");
        Gate gate(queue());
        QVERIFY(saveRunTo(path));
        int turns = 0; // of the event loop, while the file cannot have been written
        QTimer beat;
        connect(&beat, &QTimer::timeout, this, [&] { ++turns; });
        beat.start(0);
        QTRY_VERIFY(turns >= 50);
        QVERIFY(queue()->isBusy() && !QFileInfo::exists(path));
        gate.open();
        turns = 0;
        const QString said = outcome();
        QVERIFY2(said.contains(QStringLiteral("large.lectern.json")), qPrintable(said));
        QVERIFY(turns > 1);
        const auto loaded = loadRun(path.toStdString());
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QCOMPARE(loaded->outputTokens.size(), std::size_t(8'000));
        QCOMPARE(loaded->outputTokens.back().top.size(), std::size_t(20));
        QCOMPARE(loaded->request.title, std::string("renamed"));
        QCOMPARE(m_window->runs()->find(id)->filePath, path);
        QCOMPARE(m_settings->recentRuns().value(0), path);
    }

    void tablesAreThoseOfTheRunThatWasShown()
    {
        const int id = addRun();
        Gate gate(queue());
        for (const char *name : {"tokensCsv", "seriesCsv", "metricsCsv"}) {
            action(name)->trigger();
            QVERIFY(chooseFile(target() + QLatin1Char('/') + QLatin1String(name)));
        }
        m_window->runs()->remove(id); // asked for before: written all the same
        gate.open();
        outcome();
        QCOMPARE(contentOf(target() + QStringLiteral("/tokensCsv.csv")).count('\n'), 1 + 11 + 46);
        QVERIFY(contentOf(target() + QStringLiteral("/seriesCsv.csv")).startsWith("time_ms,event,"));
        QVERIFY(contentOf(target() + QStringLiteral("/metricsCsv.csv")).contains("\r\noutput_tokens,46,"));
    }

    void everythingGoesIntoAFolderOfItsOwn()
    {
        addRun();
        Gate gate(queue());
        for (int i = 0; i < 2; ++i) { // the second one is asked for before the first has its folder
            action("exportEverything")->trigger();
            QVERIFY(chooseFile(target()));
        }
        gate.open();
        const QString said = outcome();
        QVERIFY2(said.contains(QStringLiteral("13")) && said.contains(QStringLiteral("capital-of-France-2")),
                 qPrintable(said));
        for (const char *name : {"/capital-of-France", "/capital-of-France-2"}) {
            const QString folder = target() + QLatin1String(name);
            QCOMPARE(filesIn(folder).size(), 13);
            for (const char *chart : {"timeline", "kv-cache", "latency"}) {
                const QString base = folder + QLatin1Char('/') + QLatin1String(chart);
                QCOMPARE(QImage(base + QStringLiteral(".png")).size(), QSize(1600, 900));
                QString error;
                QVERIFY(!textsOf(contentOf(base + QStringLiteral(".svg")), &error).isEmpty());
                QVERIFY2(error.isEmpty(), qPrintable(error));
                QVERIFY(contentOf(base + QStringLiteral(".pdf")).startsWith("%PDF-"));
            }
            QCOMPARE(contentOf(folder + QStringLiteral("/tokens.csv")).count('\n'), 1 + 11 + 46);
            QVERIFY(loadRun((folder + QStringLiteral("/run.lectern.json")).toStdString()));
        }
    }

    void whatLastsLongShowsProgressAndCanBeCancelled()
    {
        addRun();
        Gate gate(queue());
        QVERIFY(saveRunTo(target() + QStringLiteral("/late.lectern.json")));
        QTRY_VERIFY_WITH_TIMEOUT(m_window->messageText().contains(QStringLiteral("0 of 2")), test::kRunMs);
        auto *cancel = m_window->findChild<QPushButton *>(QStringLiteral("messageAction"));
        QTRY_VERIFY_WITH_TIMEOUT(cancel->isVisible(), test::kRunMs);
        queue()->start({[] { return Result<void>(); }}, [](const Result<void> &) {});
        QTRY_VERIFY_WITH_TIMEOUT(m_window->messageText().contains(QStringLiteral("0 of 3")), test::kRunMs);
        QTest::mouseClick(cancel, Qt::LeftButton);
        gate.open();
        const QString said = outcome();
        QVERIFY2(said.contains(QStringLiteral("left out of %1: late.lectern.json.").arg(target())), qPrintable(said));
        QVERIFY(filesIn(target()).isEmpty());
    }

    void aCancelledFolderNamesTheFilesLeftOut()
    {
        addRun();
        Gate gate(queue());
        const QString folder = target() + QStringLiteral("/run");
        for (const QString &into : {folder, target() + QStringLiteral("/other")})
            m_window->exports()->writeBundle(*m_window->runs()->current(), into, [](const Result<QStringList> &) {});
        m_window->exports()->cancel();
        gate.open();
        const QString said = outcome();
        const QString files = QStringLiteral("run.lectern.json, tokens.csv, series.csv, metrics.csv, ….");
        QVERIFY2(said.contains(QStringLiteral("13 ")), qPrintable(said));
        QVERIFY2(said.contains(QStringLiteral("left out of %1: %2").arg(folder, files)), qPrintable(said));
        QVERIFY2(said.contains(QStringLiteral("left out of %1/other: %2").arg(target(), files)), qPrintable(said));
    }

    // As in a job with --screenshot, which shows no message of its own.
    void progressGoesWhenAllIsDone()
    {
        addRun();
        Gate gate(queue());
        int written = 0;
        m_window->exports()->writeBundle(*m_window->runs()->current(), target(), [&](const Result<QStringList> &paths) {
            written = paths ? static_cast<int>(paths->size()) : -1;
        });
        QTRY_VERIFY_WITH_TIMEOUT(m_window->messageText().contains(QStringLiteral("Writing files")), test::kRunMs);
        gate.open();
        outcome();
        QCOMPARE(written, 13);
        QVERIFY(m_window->findChild<MessageBar *>()->isHidden());
    }

    void closingWaitsForTheFile()
    {
        addRun();
        Gate gate(queue());
        const QString path = target() + QStringLiteral("/last.lectern.json");
        QVERIFY(saveRunTo(path));
        m_window->close();
        QVERIFY(m_window->isVisible());
        QVERIFY(m_window->messageText().contains(QStringLiteral("closes")));
        gate.open();
        QTRY_VERIFY_WITH_TIMEOUT(!m_window->isVisible(), test::kRunMs);
        QVERIFY(loadRun(path.toStdString()));
    }

    void cancellingKeepsTheWindowOpen()
    {
        addRun();
        Gate gate(queue());
        QVERIFY(saveRunTo(target() + QStringLiteral("/last.lectern.json")));
        m_window->close();
        auto *cancel = m_window->findChild<QPushButton *>(QStringLiteral("messageAction"));
        QVERIFY(cancel->isVisible());
        QTest::mouseClick(cancel, Qt::LeftButton);
        gate.open();
        const QString said = outcome();
        QVERIFY2(said.contains(QStringLiteral("cancelled")), qPrintable(said));
        QVERIFY(m_window->isVisible());
        QVERIFY(filesIn(target()).isEmpty());
    }

    void failuresAreSaidTogetherAfterWhatWasWritten()
    {
        addRun();
        Gate gate(queue());
        for (const char *name : {"one.csv", "good.csv", "two.csv", "last.csv"}) {
            const QString path = target() + QLatin1Char('/') + QLatin1String(name);
            action("tokensCsv")->trigger();
            QVERIFY(chooseFile(path));
            if (qstrcmp(name, "one.csv") == 0 || qstrcmp(name, "two.csv") == 0)
                QVERIFY(QDir().mkpath(path)); // cannot be replaced by a file
        }
        gate.open();
        const QString said = outcome();
        QVERIFY2(said.contains(QStringLiteral("one.csv")) && said.contains(QStringLiteral("two.csv")),
                 qPrintable(said));
        QCOMPARE(label("messageText").count(QStringLiteral("Writing failed.")), 1);
        QCOMPARE(filesIn(target()), QStringList({QStringLiteral("good.csv"), QStringLiteral("last.csv")}));
    }

    void aFailureKeepsTheWindowOpenAndTheOldFileInPlace()
    {
        addRun();
        const QString taken = target() + QStringLiteral("/taken.csv"); // a folder by then
        Gate gate(queue());
        action("tokensCsv")->trigger();
        QVERIFY(chooseFile(taken));
        QVERIFY(QDir().mkpath(taken + QStringLiteral("/inside")));
        m_window->close();
        gate.open();
        const QString said = outcome();
        QVERIFY2(said.contains(QStringLiteral("taken.csv")), qPrintable(said));
        QVERIFY(m_window->isVisible());
        QVERIFY(QFileInfo::exists(taken + QStringLiteral("/inside")));
    }

    void aWindowThatGoesWritesFirstWhatWasAskedFor()
    {
        m_window->runs()->add(largeRecord(), QStringLiteral("large"));
        const QString path = target() + QStringLiteral("/last.lectern.json");
        QVERIFY(saveRunTo(path));
        m_window.reset();
        const auto loaded = loadRun(path.toStdString());
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QCOMPARE(loaded->outputTokens.size(), std::size_t(8'000));
    }

    // Mounts need rights of their own: the test runs itself once more in a user and mount namespace.
    void fullAndReadOnlyDisks()
    {
        if (qEnvironmentVariableIsSet(kDisksVariable)) {
            const QString disks = qEnvironmentVariable(kDisksVariable);
            expectFailure(disks + QStringLiteral("/full"), QStringLiteral("No space left on device"));
            if (!QTest::currentTestFailed())
                expectFailure(disks + QStringLiteral("/readonly"), QStringLiteral("Read-only file system"));
            return;
        }
        const QString script = QStringLiteral(
            "cd \"$1\" && for name in full readonly; do mkdir -p $name && mount -t tmpfs -o size=64k tmpfs $name && "
            "printf old > $name/run.lectern.json && printf old > $name/chart.png || exit 77; done; "
            "mount -o remount,ro readonly || exit 77; shift; exec \"$@\"");
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QLatin1String(kDisksVariable), target());
        process.setProcessEnvironment(environment);
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start(QStringLiteral("unshare"),
                      {QStringLiteral("-rm"), QStringLiteral("sh"), QStringLiteral("-c"), script, QStringLiteral("sh"),
                       target(), QCoreApplication::applicationFilePath(), QStringLiteral("fullAndReadOnlyDisks")});
        const bool isDone = process.waitForStarted() && process.waitForFinished(test::kRunMs);
        const QByteArray said = process.readAll();
        if (!isDone || (process.exitCode() != 0 && !said.contains("Totals:")))
            QSKIP("a tmpfs cannot be mounted here (unshare -rm)");
        QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0, said.constData());
        QVERIFY2(said.contains("3 passed, 0 failed, 0 skipped"), said.constData());
    }
};

QTEST_MAIN(TestExports)
#include "tst_exports.moc"
