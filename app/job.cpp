// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/job.h"

#include "app/main_window.h"
#include "app/run_bundle.h"

#include <QBuffer>
#include <QFileInfo>
#include <QPixmap>
#include <QSaveFile>
#include <QTimer>

#include <cstdio>

namespace lectern {

Job::Job(MainWindow *window, CommandLine line)
    : QObject(window)
    , m_window(window)
    , m_line(std::move(line))
{
}

void Job::start()
{
    if (m_line.prompt) {
        connect(m_window, &MainWindow::loadEnded, this, [this](bool loaded) {
            if (loaded)
                run();
            else
                fail(m_window->messageText());
        });
        connect(m_window, &MainWindow::runEnded, this, &Job::finishRun);
    }
    connect(m_window, &MainWindow::openFailed, this,
            [this](const Error &error) { fail(QString::fromStdString(error.text())); });
    m_window->openAtStart(m_line);
    if (m_isDone)
        return;
    if (m_line.prompt) {
        if (m_window->session()->state() == SessionState::NoModel)
            fail(m_window->messageText());
    } else if (m_window->session()->state() == SessionState::Loading) {
        // A picture of the idle window shows the model it found.
        connect(m_window, &MainWindow::loadEnded, this,
                [this] { QTimer::singleShot(300, this, [this] { finishRun(m_window->runs()->currentId()); }); });
    } else {
        QTimer::singleShot(300, this, [this] { finishRun(m_window->runs()->currentId()); });
    }
}

void Job::run()
{
    m_window->startRun();
}

void Job::finishRun(int runId)
{
    if (m_isDone)
        return;
    const RunEntry *run = m_window->runs()->find(runId);
    if (m_line.prompt && !run && m_line.screenshotPath.isEmpty()) {
        fail(m_window->messageText());
        return;
    }
    if (!m_line.exportFolder.isEmpty()) {
        if (!run) {
            fail(tr("There is no run to export."));
            return;
        }
        const auto written = writeRunBundle(*run->record, m_window->charts(), m_line.exportFolder);
        if (!written) {
            fail(QString::fromStdString(written.error().text()));
            return;
        }
        for (const QString &path : *written)
            std::printf("%s\n", qUtf8Printable(path));
    }
    if (m_line.screenshotPath.isEmpty()) {
        m_isDone = true;
        Q_EMIT finished(0);
    } else {
        QTimer::singleShot(200, this, &Job::takePicture); // after the last repaint
    }
}

void Job::takePicture()
{
    if (m_isDone)
        return;
    const QPixmap picture = m_window->grab();
    QByteArray png;
    QBuffer buffer(&png);
    buffer.open(QIODevice::WriteOnly);
    picture.save(&buffer, "PNG");
    QSaveFile file(m_line.screenshotPath);
    if (!file.open(QIODevice::WriteOnly) || file.write(png) != png.size() || !file.commit()) {
        fail(tr("%1: the picture cannot be written: %2").arg(m_line.screenshotPath, file.errorString()));
        return;
    }
    std::printf("%s\n", qUtf8Printable(m_line.screenshotPath));
    m_isDone = true;
    Q_EMIT finished(0);
}

void Job::fail(const QString &message)
{
    if (m_isDone)
        return;
    if (!m_line.screenshotPath.isEmpty()) {
        std::fprintf(stderr, "lectern: %s\n", qUtf8Printable(message));
        QTimer::singleShot(200, this, &Job::takePicture); // a picture of the failure is a picture too
        return;
    }
    m_isDone = true;
    std::fprintf(stderr, "lectern: %s\n", qUtf8Printable(message));
    Q_EMIT finished(1);
}

} // namespace lectern
