// SPDX-License-Identifier: GPL-3.0-or-later
// The real window and files: models by path, drop, dialog and recent list, and saved runs.
#include "app/core/run_table_model.h"
#include "engine/base/file.h"
#include "engine/trace/run_json.h"
#include "tests/app/window_fixture.h"
#include "tests/support/models.h"
#include "widgets/run_chart.h"

#include <QApplication>
#include <QDir>
#include <QDropEvent>
#include <QFileDialog>
#include <QLineEdit>
#include <QMimeData>
#include <QTableView>

using namespace lectern;

class TestWindowFiles : public test::WindowFixture
{
    Q_OBJECT

private slots:
    void aFileThatIsNoModelIsNamedAndTheNextOneLoads()
    {
        const QString path = m_folder.filePath(QStringLiteral("page.gguf"));
        QVERIFY(writeFileAtomically(path.toStdString(), "<!DOCTYPE html><html></html>"));
        QVERIFY(!load(path));
        QVERIFY2(m_window->messageText().contains(QStringLiteral("page.gguf")), qPrintable(m_window->messageText()));
        QVERIFY(load(tinyPath()));
        QVERIFY(m_window->messageText().isEmpty());
    }

    void modelsInFoldersWithForeignNamesLoadByDropAndByRecentList()
    {
        const QString folder = m_folder.filePath(QStringLiteral("модели 模型 é"));
        QDir().mkpath(folder);
        const QString path = folder + QStringLiteral("/тест-ü.gguf");
        QFile::copy(tinyPath(), path);
        QSignalSpy loaded(m_window.get(), &MainWindow::loadEnded);
        QMimeData mime;
        mime.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter({10, 10}, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop({10, 10}, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &drop);
        QVERIFY(loaded.wait(test::kLoadMs) && loaded.at(0).at(0).toBool());
        QVERIFY(m_window->windowTitle().contains(QStringLiteral("тест-ü.gguf")));
        QCOMPARE(m_settings->recentModels().first(), path);
        m_window->openAtStart({}); // the recent list
        QTRY_COMPARE_WITH_TIMEOUT(m_window->session()->state(), SessionState::Ready, test::kLoadMs);
        QCOMPARE(m_window->session()->modelPath(), path);
    }

    // llama.cpp#18571
    void modelsInFoldersWithForeignNamesLoadByDialog()
    {
        const QString folder = m_folder.filePath(QStringLiteral("ü 数 ' модели é"));
        QVERIFY(QDir().mkpath(folder));
        const QString path = folder + QStringLiteral("/тест-ü ' &.gguf");
        QVERIFY(QFile::copy(tinyPath(), path));
        action("open")->trigger();
        auto *dialog = m_window->findChild<QFileDialog *>(QStringLiteral("openDialog"));
        QVERIFY(dialog && QTest::qWaitForWindowExposed(dialog));
        auto *name = dialog->findChild<QLineEdit *>(QStringLiteral("fileNameEdit"));
        name->selectAll();
        name->insert(path);
        QSignalSpy loaded(m_window.get(), &MainWindow::loadEnded);
        QTest::keyClick(name, Qt::Key_Return);
        QVERIFY(loaded.wait(test::kLoadMs) && loaded.at(0).at(0).toBool());
        QCOMPARE(m_window->session()->modelPath(), path);
        QVERIFY(m_window->windowTitle().contains(QStringLiteral("тест-ü ' &.gguf")));
    }

    void aRefusedLoadIsSaidAndAStoppedOneCanBeRepeated()
    {
        m_window->loadModel(tinyPath());
        QTest::keyClick(m_window.get(), Qt::Key_Period, Qt::ControlModifier);
        if (m_window->session()->state() == SessionState::NoModel) // otherwise it was quicker than the key
            QVERIFY(m_window->messageText().contains(QStringLiteral("stopped")));
        QVERIFY(load(tinyPath()));
    }

    void aSavedRunOpensWithTheVerySameCharts()
    {
        QVERIFY(load(tinyPath()));
        type(QStringLiteral("the model"));
        QVERIFY(run() > 0);
        QStringList before;
        for (const NamedChart &chart : m_window->charts())
            before << chart.chart->dataSummary();
        const QString path = m_folder.filePath(QStringLiteral("saved.lectern.json"));
        QVERIFY(saveRun(*m_window->runs()->current()->record, path.toStdString()));
        const int first = m_window->runs()->currentId();
        m_window->openFile(path);
        QTRY_VERIFY(m_window->runs()->currentId() != first);
        QStringList after;
        for (const NamedChart &chart : m_window->charts())
            after << chart.chart->dataSummary();
        QCOMPARE(after, before);
        QCOMPARE(answer()->shownText().isEmpty(), false);
    }

    // What was not reported is never shown as zero.
    void aSavedRunWithoutSamplesOfTheCacheSaysSo()
    {
        QVERIFY(load(tinyPath()));
        type(QStringLiteral("the model"));
        QVERIFY(run() > 0);
        RunRecord record = *m_window->runs()->current()->record;
        record.request.title.clear();
        record.kv.clear();
        const QString path = m_folder.filePath(QStringLiteral("no samples.lectern.json"));
        QVERIFY(saveRun(record, path.toStdString()));
        const int first = m_window->runs()->currentId();
        m_window->openFile(path);
        QTRY_VERIFY(m_window->runs()->currentId() != first);
        QCOMPARE(m_window->runs()->current()->title, QStringLiteral("no samples"));
        QVERIFY2(label("statusFacts").contains(QStringLiteral("KV — of")), qPrintable(label("statusFacts")));
        const auto *table = m_window->findChild<QTableView *>();
        bool isDash = false;
        for (int row = 0; row < table->model()->rowCount(); ++row)
            isDash = isDash || table->model()->index(row, RunTableModel::Kv).data().toString() == QStringLiteral("—");
        QVERIFY(isDash);
        QString said;
        for (const NamedChart &chart : m_window->charts())
            said += chart.chart->dataSummary();
        QVERIFY2(said.contains(QStringLiteral("use of the cache not recorded")), qPrintable(said));
        QVERIFY2(!said.contains(QStringLiteral(" 0\u2009B")), qPrintable(said));
    }

    void aRunWhoseNameIsOneLongWordLeavesTheWindowAsWideAsItWas()
    {
        QVERIFY(load(tinyPath()));
        type(QStringLiteral("the model"));
        QVERIFY(run() > 0);
        RunRecord record = *m_window->runs()->current()->record;
        record.request.title = std::string(100'000, 'A');
        const QString path = m_folder.filePath(QStringLiteral("word.lectern.json"));
        QVERIFY(saveRun(record, path.toStdString()));
        type(QStringLiteral("another prompt")); // the pane names the run whose prompt it shows
        const int first = m_window->runs()->currentId(), width = m_window->minimumSizeHint().width();
        m_window->openFile(path);
        QTRY_VERIFY(m_window->runs()->currentId() != first);
        QTRY_VERIFY(label("sentCaption").contains(QStringLiteral("AAAA")));
        QCOMPARE(m_window->minimumSizeHint().width(), width);
    }

    void aDamagedSavedRunIsRefusedWithItsField()
    {
        const QString path = m_folder.filePath(QStringLiteral("damaged.lectern.json"));
        QVERIFY(writeFileAtomically(path.toStdString(), "{\"schemaVersion\": 1, \"outputTokens\": 7}"));
        m_window->openFile(path);
        QTRY_VERIFY(m_window->messageText().contains(QStringLiteral("damaged.lectern.json")));
        QCOMPARE(m_window->runs()->runs().size(), std::size_t(0));
    }
};

QTEST_MAIN(TestWindowFiles)
#include "tst_window_files.moc"
