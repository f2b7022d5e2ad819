// SPDX-License-Identifier: GPL-3.0-or-later
// The Export menu's dialogs by keys and mouse, and a queue that waits, for tests of exports in the real window.
#pragma once

#include "app/chart_export_dialog.h"
#include "app/export_actions.h"
#include "tests/app/window_fixture.h"
#include "tests/support/sample_record.h"

#include <QApplication>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSemaphore>
#include <QXmlStreamReader>

namespace lectern::test {

inline QByteArray contentOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

inline std::shared_ptr<RunRecord> largeRecord()
{
    SampleRun run;
    run.outputTokens = 8'000;
    auto record = std::make_shared<RunRecord>(sampleRecord(run));
    for (TokenRecord &token : record->outputTokens)
        for (int i = 0; i < 20; ++i)
            token.top.push_back({i, -0.25f * static_cast<float>(i + 1)});
    return record;
}

inline QString textsOf(const QByteArray &svg, QString *error)
{
    QStringList texts;
    QXmlStreamReader xml(svg);
    while (!xml.atEnd())
        if (xml.readNext() == QXmlStreamReader::StartElement && xml.name() == u"text")
            texts << xml.readElementText(QXmlStreamReader::IncludeChildElements);
    *error = xml.hasError() ? xml.errorString() : QString();
    return texts.join(u'|');
}

// While it is closed the queue waits. Opens when it goes, so that a test that fails ends.
class Gate
{
public:
    explicit Gate(ExportQueue *queue)
    {
        queue->start({[semaphore = m_semaphore]() -> Result<void> { return semaphore->acquire(), Result<void>(); }},
                     [](const Result<void> &) {});
    }
    ~Gate() { open(); }
    Gate(const Gate &) = delete;
    Gate &operator=(const Gate &) = delete;
    void open() { m_semaphore->release(); }

private:
    std::shared_ptr<QSemaphore> m_semaphore = std::make_shared<QSemaphore>();
};

class ExportWindow : public WindowFixture
{
protected:
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
        QTimer confirm;     // the question whether to replace has an event loop of its own
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
        if (!QTest::qWaitFor([this] { return !queue()->isBusy(); }, kRunMs))
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
};

} // namespace lectern::test
