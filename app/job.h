// SPDX-License-Identifier: GPL-3.0-or-later
// What the command line asked for beyond showing the window: run a prompt, export, take a picture, quit.
#pragma once

#include "app/command_line.h"

#include <QObject>

namespace lectern {

class MainWindow;

class Job : public QObject
{
    Q_OBJECT

public:
    Job(MainWindow *window, CommandLine line);
    void start(); // opens files and models; the rest follows by signals

Q_SIGNALS:
    void finished(int exitCode); // 0 or 1; every file written is named on stdout, every failure on stderr

private:
    void run();
    void finishRun(int runId);
    void takePicture();
    void fail(const QString &message);
    MainWindow *m_window;
    CommandLine m_line;
    bool m_isDone = false;
};

} // namespace lectern
