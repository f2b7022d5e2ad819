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
    void runWhenReady(); // everything named on the command line has been opened or refused
    void finishRun(int runId);
    void fail(const QString &message);
    void finish(); // picture, if wanted, then the end: a failure can be looked at too
    void takePicture();
    MainWindow *m_window;
    CommandLine m_line;
    bool m_hasRun = false;
    bool m_isDone = false;
    int m_exitCode = 0;
};

} // namespace lectern
