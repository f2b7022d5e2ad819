// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/job.h"

#include "app/core/run_export.h"
#include "app/export_actions.h"
#include "app/main_window.h"
#include "widgets/chart_export.h"

#include <QPixmap>
#include <QTimer>

#include <cstdio>

namespace lectern {

namespace {

constexpr int kSettleMs = 250; // docks and charts are in place and painted

} // namespace

Job::Job(MainWindow *window, CommandLine line)
    : QObject(window)
    , m_window(window)
    , m_line(std::move(line))
{
}

void Job::start()
{
    connect(m_window, &MainWindow::openFailed, this, [this](const Error &error) {
        if (!m_isDone && !m_hasRun) {
            std::fprintf(stderr, "lectern: %s\n", error.text().c_str());
            m_exitCode = 1;
        }
    });
    connect(m_window, &MainWindow::runEnded, this, &Job::finishRun);
    connect(m_window, &MainWindow::openingEnded, this, &Job::runWhenReady);
    m_window->openAtStart(m_line);
    if (!m_window->isOpening())
        runWhenReady();
}

void Job::runWhenReady()
{
    if (m_isDone || m_hasRun)
        return;
    m_hasRun = true;
    if (!m_line.prompt)
        finishRun(m_window->runs()->currentId());
    else if (m_window->session()->state() == SessionState::Ready)
        m_window->startRun();
    else if (m_exitCode == 0)
        fail(m_window->messageText());
    else
        finish(); // the reason has been printed
}

void Job::finishRun(int runId)
{
    if (m_isDone || !m_hasRun)
        return;
    const RunEntry *run = m_window->runs()->find(runId);
    if (m_line.prompt && !run)
        return fail(m_window->messageText());
    if (run && run->record->error)
        return fail(QString::fromStdString(run->record->error->text()));
    if (m_line.exportFolder.isEmpty())
        return finish();
    if (!run)
        return fail(tr("There is no run to export."));
    m_isDone = true; // what the user starts meanwhile in the window is no part of the job
    m_window->exports()->writeBundle(*run, m_line.exportFolder, [this](const Result<QStringList> &written) {
        if (!written)
            return fail(QString::fromStdString(written.error().text()));
        for (const QString &path : *written)
            std::printf("%s\n", qUtf8Printable(path));
        finish();
    });
}

void Job::fail(const QString &message)
{
    std::fprintf(stderr, "lectern: %s\n", qUtf8Printable(message));
    m_exitCode = 1;
    finish();
}

void Job::finish()
{
    m_isDone = true;
    if (m_line.screenshotPath.isEmpty())
        Q_EMIT finished(m_exitCode);
    else
        QTimer::singleShot(kSettleMs, this, &Job::takePicture);
}

void Job::takePicture()
{
    if (m_window->session()->frameClock()->isPending()) { // a chart has not had its turn
        QTimer::singleShot(kSettleMs, this, &Job::takePicture);
        return;
    }
    const auto write = [image = m_window->grab().toImage(), path = m_line.screenshotPath]() -> Result<void> {
        const Result<QByteArray> png = pngBytes(image);
        return png ? writeBytes(path, *png) : tl::unexpected(png.error());
    };
    m_window->exports()->queue()->start({write}, [this](const Result<void> &result) {
        if (result) {
            std::printf("%s\n", qUtf8Printable(m_line.screenshotPath));
        } else {
            std::fprintf(stderr, "lectern: %s\n", result.error().text().c_str());
            m_exitCode = 1;
        }
        Q_EMIT finished(m_exitCode);
    });
}

} // namespace lectern
