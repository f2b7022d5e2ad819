// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_line.h"
#include "app/job.h"
#include "app/main_window.h"
#include "app/translations.h"

#include <QApplication>
#include <QDir>
#include <QScreen>
#include <QTemporaryDir>

#include <csignal>
#include <cstdio>
#include <cstdlib>

using namespace lectern;

namespace {

bool hasDisplay()
{
    return qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY") ||
           qEnvironmentVariableIsSet("QT_QPA_PLATFORM");
}

QtMessageHandler nextHandler = nullptr;

// Qt's plugin for machines without a display says this of every window: nothing that the user could change.
void leaveOutSizeHints(QtMsgType type, const QMessageLogContext &context, const QString &message)
{
    if (message != QLatin1String("This plugin does not support propagateSizeHints()"))
        nextHandler(type, context, message);
}

QStringList rawArguments(int argc, char **argv)
{
    QStringList arguments;
    for (int i = 0; i < argc; ++i)
        arguments << QString::fromLocal8Bit(argv[i]);
    return arguments;
}

} // namespace

int main(int argc, char **argv)
{
    std::signal(SIGXFSZ, SIG_IGN); // a file above the shell's limit fails as any other that cannot be written
    QCoreApplication::setApplicationName(QStringLiteral("lectern"));
    QCoreApplication::setApplicationVersion(QStringLiteral(LECTERN_VERSION));
    const CommandLine line = parseCommandLine(rawArguments(argc, argv));
    if (!hasDisplay()) {
        if (!line.quits) {
            std::fprintf(stderr, "lectern: there is no display. Without one use --run PROMPT --export DIR --quit, or "
                                 "--screenshot FILE.\n");
            return 1;
        }
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }

    QApplication application(argc, argv);
    if (QGuiApplication::platformName() == QLatin1String("offscreen"))
        nextHandler = qInstallMessageHandler(leaveOutSizeHints);
    QGuiApplication::setApplicationDisplayName(QStringLiteral("Lectern"));
    QGuiApplication::setDesktopFileName(QStringLiteral("io.lectern.Lectern"));
    QGuiApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/lectern.svg")));

    // A job starts from the defaults and leaves what the user set in the window alone.
    // Qt takes "/" for a temporary folder that is not there.
    const QString named = qEnvironmentVariable("TMPDIR");
    const QString temporary = named.isEmpty() ? QDir::tempPath() : named;
    const QTemporaryDir jobFolder(temporary + QStringLiteral("/lectern-XXXXXX"));
    if (line.quits && !jobFolder.isValid()) {
        std::fprintf(stderr, "lectern: the temporary folder %s cannot be written: %s\n", qUtf8Printable(temporary),
                     qUtf8Printable(jobFolder.errorString()));
        return 1;
    }
    Settings settings(line.quits ? jobFolder.filePath(QStringLiteral("settings.ini")) : QString());
    installTranslations(application, settings.language());
    MainWindow window(&settings);
    if (line.theme || line.isProjector)
        window.setTheme(line.theme.value_or(settings.theme()), line.isProjector || settings.isProjector());
    if (!line.windowSize.isEmpty())
        window.resetLayout(line.windowSize);
    else if (const QSize room = window.screen()->availableSize();
             !line.quits && window.size().boundedTo(room) != window.size())
        window.resetLayout(window.size().boundedTo(room)); // a first start on a small projector

    Job job(&window, line);
    QObject::connect(&job, &Job::finished, &application, [&line](int exitCode) {
        if (line.quits)
            QCoreApplication::exit(exitCode);
    });
    window.show();
    QMetaObject::invokeMethod(&job, &Job::start, Qt::QueuedConnection); // its end needs the running event loop
    return QApplication::exec();
}
