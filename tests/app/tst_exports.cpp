// SPDX-License-Identifier: GPL-3.0-or-later
// The Export menu in the real window, driven by keys and mouse: dialogs, files, clipboard, failures, and that the GUI
// thread goes on meanwhile. On a disk that is full the program runs itself: see fullAndReadOnlyDisks.
#include "app/chart_export_dialog.h"
#include "app/export_actions.h"
#include "engine/trace/run_json.h"
#include "tests/app/window_fixture.h"
#include "tests/support/sample_record.h"
#include "widgets/message_bar.h"
#include "widgets/run_chart.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QImage>
#include <QLineEdit>
#include <QMessageBox>
#include <QMimeData>
#include <QProcess>
#include <QPushButton>
#include <QSemaphore>
#include <QXmlStreamReader>

using namespace lectern;

namespace {

constexpr const char *kDisksVariable = "LECTERN_TEST_DISKS"; // folder with the mounts "full" and "readonly"

QByteArray contentOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

std::shared_ptr<RunRecord> largeRecord()
{
    SampleRun run;
    run.outputTokens = 8'000;
    auto record = std::make_shared<RunRecord>(sampleRecord(run));
    for (TokenRecord &token : record->outputTokens)
        for (int i = 0; i < 20; ++i)
            token.top.push_back({i, -0.25f * static_cast<float>(i + 1)});
    return record;
}

QString textsOf(const QByteArray &svg, QString *error)
{
    QStringList texts;
    QXmlStreamReader xml(svg);
    while (!xml.atEnd())
        if (xml.readNext() == QXmlStreamReader::StartElement && xml.name() == u"text")
            texts << xml.readElementText(QXmlStreamReader::IncludeChildElements);
    *error = xml.hasError() ? xml.errorString() : QString();
    return texts.join(u'|');
}

} // namespace

class TestExports : public test::WindowFixture
{
    Q_OBJECT

private:
    QSemaphore m_gate;

    // Of this test alone.
    QString target() const
    {
        const QString folder = m_folder.filePath(QLatin1String(QTest::currentTestFunction()) + QStringLiteral(" ü"));
        QDir().mkpath(folder);
        return folder;
    }

    ExportQueue *queue() const { return m_window->exports()->queue(); }
    QStringList filesIn(const QString &folder) const { return QDir(folder).entryList(QDir::Files | QDir::Hidden); }

    int addRun(const QString &title = QStringLiteral("capital of France?"))
    {
        return m_window->runs()->add(std::make_shared<RunRecord>(sampleRecord()), title);
    }

    // Nothing is written until m_gate is released once.
    void block()
    {
        queue()->start({[this]() -> Result<void> { return m_gate.acquire(), Result<void>(); }},
                       [](const Result<void> &) {});
    }

    template <class Dialog>
    Dialog *openedDialog() const
    {
        auto *dialog = qobject_cast<Dialog *>(QApplication::activeModalWidget());
        return dialog && QTest::qWaitForWindowExposed(dialog) ? dialog : nullptr;
    }

    static void enter(QAbstractSpinBox *box, const QString &text)
    {
        box->setFocus();
        box->selectAll();
        QTest::keyClicks(box, text);
        QTest::keyClick(box, Qt::Key_Tab);
    }

    ChartExportDialog *chooseInDialog(const char *chart, int formatsDown, const QString &width, const QString &height,
                                      const QString &scale)
    {
        action(qPrintable(QStringLiteral("export-") + QLatin1String(chart)))->trigger();
        auto *dialog = openedDialog<ChartExportDialog>();
        if (!dialog)
            return nullptr;
        auto *format = dialog->findChild<QComboBox *>(QStringLiteral("format"));
        format->setFocus();
        QTest::keyClick(format, Qt::Key_Home);
        for (int i = 0; i < formatsDown; ++i)
            QTest::keyClick(format, Qt::Key_Down);
        enter(dialog->findChild<QSpinBox *>(QStringLiteral("width")), width);
        enter(dialog->findChild<QSpinBox *>(QStringLiteral("height")), height);
        enter(dialog->findChild<QDoubleSpinBox *>(QStringLiteral("scale")), scale);
        return dialog;
    }

    static void press(QDialog *dialog, QDialogButtonBox::StandardButton button)
    {
        QTest::mouseClick(dialog->findChild<QDialogButtonBox *>()->button(button), Qt::LeftButton);
    }

    // Types `path` and Return into the file dialog that is open; an old file is replaced. False: there was no dialog.
    bool chooseFile(const QString &path)
    {
        auto *dialog = openedDialog<QFileDialog>();
        if (!dialog)
            return false;
        auto *name = dialog->findChild<QLineEdit *>(QStringLiteral("fileNameEdit"));
        name->selectAll();
        name->insert(path); // keyClicks() has ASCII only
        QTimer confirm; // the question whether to replace has an event loop of its own
        connect(&confirm, &QTimer::timeout, this, [] {
            if (auto *question = qobject_cast<QMessageBox *>(QApplication::activeModalWidget()))
                QTest::mouseClick(question->button(QMessageBox::Yes), Qt::LeftButton);
        });
        confirm.start(0);
        QTest::keyClick(name, Qt::Key_Return);
        return true;
    }

    // What the message bar says once the export that was begun last has ended.
    QString outcome()
    {
        if (!QTest::qWaitFor([this] { return !queue()->isBusy(); }, test::kRunMs))
            return QStringLiteral("still busy");
        return m_window->messageText();
    }

    bool saveRunTo(const QString &path)
    {
        action("saveRun")->trigger();
        return chooseFile(path);
    }

    // Each with an old file; nothing else may be left, and the message says why.
    void expectFailure(const QString &folder, const QString &reason)
    {
        const QString run = folder + QStringLiteral("/run.lectern.json"), chart = folder + QStringLiteral("/chart.png");
        m_window->runs()->add(largeRecord(), QStringLiteral("large"));
        QVERIFY(saveRunTo(run));
        const QString saved = outcome();
        QVERIFY2(saved.contains(reason) && saved.contains(QStringLiteral("run.lectern.json")), qPrintable(saved));
        ChartExportDialog *dialog =
            chooseInDialog("latency", 0, QStringLiteral("2000"), QStringLiteral("2000"), QStringLiteral("2"));
        QVERIFY(dialog);
        press(dialog, QDialogButtonBox::Save);
        QVERIFY(chooseFile(chart));
        const QString drawn = outcome();
        QVERIFY2(drawn.contains(reason) && drawn.contains(QStringLiteral("chart.png")), qPrintable(drawn));
        QCOMPARE(contentOf(run), QByteArray("old"));
        QCOMPARE(contentOf(chart), QByteArray("old"));
        QCOMPARE(filesIn(folder), QStringList({QStringLiteral("chart.png"), QStringLiteral("run.lectern.json")}));
        QVERIFY(m_window->runs()->current()->filePath.isEmpty());
    }

private slots:
    void theFileHasExactlyTheSizeAndFormatThatWereChosen()
    {
        addRun();
        const struct
        {
            int formatsDown;
            const char *name;
        } cases[] = {{0, "a.png"}, {1, "b.svg"}, {2, "c.pdf"}, {1, "plain"}};
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
        for (const char *name : {"b.svg", "plain.svg"}) {
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
        QCOMPARE(filesIn(target()).size(), 4);
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
        block();
        QVERIFY(saveRunTo(path));
        int turns = 0; // of the event loop, while the file cannot have been written
        QTimer beat;
        connect(&beat, &QTimer::timeout, this, [&] { ++turns; });
        beat.start(0);
        QTRY_VERIFY(turns >= 50);
        QVERIFY(queue()->isBusy() && !QFileInfo::exists(path));
        m_gate.release();
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
        block();
        for (const char *name : {"tokensCsv", "seriesCsv", "metricsCsv"}) {
            action(name)->trigger();
            QVERIFY(chooseFile(target() + QLatin1Char('/') + QLatin1String(name)));
        }
        m_window->runs()->remove(id); // asked for before: written all the same
        m_gate.release();
        outcome();
        QCOMPARE(contentOf(target() + QStringLiteral("/tokensCsv.csv")).count('\n'), 1 + 11 + 46);
        QVERIFY(contentOf(target() + QStringLiteral("/seriesCsv.csv")).startsWith("time_ms,event,"));
        QVERIFY(contentOf(target() + QStringLiteral("/metricsCsv.csv")).contains("\r\noutput_tokens,46,"));
    }

    void everythingGoesIntoAFolderOfItsOwn()
    {
        addRun();
        block();
        for (int i = 0; i < 2; ++i) { // the second one is asked for before the first has its folder
            action("exportEverything")->trigger();
            QVERIFY(chooseFile(target()));
        }
        m_gate.release();
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
        block();
        QVERIFY(saveRunTo(target() + QStringLiteral("/late.lectern.json")));
        QTRY_VERIFY_WITH_TIMEOUT(m_window->messageText().contains(QStringLiteral("0 of 2")), test::kRunMs);
        auto *cancel = m_window->findChild<QPushButton *>(QStringLiteral("messageAction"));
        QTRY_VERIFY_WITH_TIMEOUT(cancel->isVisible(), test::kRunMs);
        QTest::mouseClick(cancel, Qt::LeftButton);
        m_gate.release();
        const QString said = outcome();
        QVERIFY2(said.contains(QStringLiteral("cancelled")), qPrintable(said));
        QVERIFY(filesIn(target()).isEmpty());
    }

    void closingWaitsForTheFile()
    {
        addRun();
        block();
        const QString path = target() + QStringLiteral("/last.lectern.json");
        QVERIFY(saveRunTo(path));
        m_window->close();
        QVERIFY(m_window->isVisible());
        QVERIFY(m_window->messageText().contains(QStringLiteral("closes")));
        m_gate.release();
        QTRY_VERIFY_WITH_TIMEOUT(!m_window->isVisible(), test::kRunMs);
        QVERIFY(loadRun(path.toStdString()));
    }

    void aFailureKeepsTheWindowOpenAndTheOldFileInPlace()
    {
        addRun();
        const QString taken = target() + QStringLiteral("/taken.csv"); // a folder by then
        block();
        action("tokensCsv")->trigger();
        QVERIFY(chooseFile(taken));
        QVERIFY(QDir().mkpath(taken + QStringLiteral("/inside")));
        m_window->close();
        m_gate.release();
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
