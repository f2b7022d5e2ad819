// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_line.h"

#include "app/seed_box.h"
#include "engine/trace/request_limits.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QFileInfo>

#include <cstdio>
#include <cstdlib>

namespace lectern {

namespace {

QString str(const char *text)
{
    return QString::fromUtf8(text); // options are the same in every language, like those of other programs here
}

[[noreturn]] void usageError(const QString &message)
{
    std::fprintf(stderr, "lectern: %s (try 'lectern --help')\n", qUtf8Printable(message));
    std::exit(2);
}

[[noreturn]] void endPrinted()
{
    const bool isWritten = std::fflush(stdout) == 0 && !std::ferror(stdout);
    if (!isWritten)
        std::fputs("lectern: the output could not be written\n", stderr);
    std::exit(isWritten ? 0 : 1);
}

// A number in [least, most], or the end of the process with a message that names option, value and range.
double number(const QCommandLineParser &parser, const QString &option, double least, double most, bool isWhole)
{
    bool ok = false;
    const QString text = parser.value(option);
    const double value = isWhole ? static_cast<double>(text.toLongLong(&ok)) : text.toDouble(&ok);
    if (!ok || !(value >= least && value <= most))
        usageError(str("--%1 needs %2 from %3 to %4, not \"%5\"")
                       .arg(option, isWhole ? str("a whole number") : str("a number"), QString::number(least),
                            QString::number(most, 'g', 17), text));
    return value;
}

std::uint64_t seed(const QCommandLineParser &parser)
{
    const std::optional<quint64> value = seedIn(parser.value(str("seed")));
    if (!value)
        usageError(str("--seed needs a whole number of at most 64 bits, 0 or more, not \"%1\"")
                       .arg(parser.value(str("seed"))));
    return *value;
}

template <class T>
T choice(const QCommandLineParser &parser, const QString &option, const std::vector<std::pair<QString, T>> &choices)
{
    QStringList names;
    for (const auto &[name, value] : choices) {
        if (parser.value(option) == name)
            return value;
        names << name;
    }
    usageError(str("--%1 is one of %2, not \"%3\"").arg(option, names.join(str(", ")), parser.value(option)));
}

} // namespace

CommandLine parseCommandLine(const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(str("Desktop inference workbench: see how a language model serves a request."));
    const QCommandLineOption help({str("h"), str("help")}, str("Print this help."));
    const QCommandLineOption version({str("v"), str("version")}, str("Print the version."));
    parser.addOptions({help, version});
    parser.addPositionalArgument(str("files"), str("Models (.gguf) and saved runs (.lectern.json) to open."),
                                 str("[files...]"));
    const auto option = [&](const char *name, const char *text, const char *value = "") {
        parser.addOption(QCommandLineOption(str(name), str(text), str(value)));
    };
    option("model", "Load this model.", "FILE");
    option("backend", "auto, cpu or reference.", "NAME");
    option("threads", "Threads of the engine; 0: all cores.", "N");
    option("context", "Context length in tokens; 0: the model's, at most 8192.", "N");
    option("kv-budget", "Memory for the KV cache in bytes; 0: room for the whole context.", "BYTES");
    option("run", "Run this prompt at once.", "PROMPT");
    option("system", "System message before the prompt of --run.", "TEXT");
    option("chat", "Use the model's chat template (default of --run).");
    option("raw", "Give the prompt to the model as it is.");
    option("max-tokens", "Longest answer in tokens.", "N");
    option("temp", "Temperature; 0: always the most likely token.", "X");
    option("seed", "Seed of the random numbers.", "S");
    option("no-kv-cache", "Compute the whole context again at every step.");
    option("export", "Write charts and data of the run into this folder.", "DIR");
    option("overlay", "Lay the opened runs (and the run made) over each other in the charts.");
    option("screenshot", "Save a picture of the window as PNG (after the run), then quit.", "FILE");
    option("size", "Size of the window.", "WxH");
    option("theme", "auto, light or dark.", "NAME");
    option("lens", "Lens of the answer: plain, tokens, latency or probability.", "NAME");
    option("projector", "Large text and lines.");
    option("quit", "Quit when everything asked for is done.");

    if (!parser.parse(arguments))
        usageError(parser.errorText());
    if (parser.isSet(help)) {
        QString text = parser.helpText(); // which knows no name yet: the program begins later
        std::fputs(qUtf8Printable(text.replace(str("<executable_name>"), str("lectern"))), stdout);
        endPrinted();
    }
    if (parser.isSet(version)) {
        std::puts("lectern " LECTERN_VERSION);
        endPrinted();
    }

    for (const QString &name : parser.optionNames())
        if (parser.values(name).size() > 1)
            usageError(str("--%1 is given %2 times, expected once").arg(name).arg(parser.values(name).size()));

    CommandLine line;
    line.files = parser.positionalArguments();
    line.model = parser.value(str("model"));
    if (parser.isSet(str("backend")))
        line.load.backend = choice<BackendChoice>(parser, str("backend"),
                                                  {{str("auto"), BackendChoice::Auto},
                                                   {str("cpu"), BackendChoice::Cpu},
                                                   {str("reference"), BackendChoice::Reference}});
    if (parser.isSet(str("threads")))
        line.load.threads = static_cast<int>(number(parser, str("threads"), 0, maxThreads(), true));
    if (parser.isSet(str("context")))
        line.contextTokens = static_cast<int>(number(parser, str("context"), 0, kMaxContextTokens, true));
    if (parser.isSet(str("kv-budget")))
        line.load.kvBudgetBytes =
            static_cast<std::uint64_t>(number(parser, str("kv-budget"), 0, kMaxKvBudgetBytes, true));
    if (parser.isSet(str("run")))
        line.prompt = parser.value(str("run"));
    line.systemPrompt = parser.value(str("system"));
    if (!line.systemPrompt.isEmpty() && (!line.prompt || parser.isSet(str("raw"))))
        usageError(str("--system goes with --run in chat mode"));
    if (parser.isSet(str("chat")) && parser.isSet(str("raw")))
        usageError(str("--chat and --raw exclude each other"));
    if (parser.isSet(str("chat")))
        line.promptMode = PromptMode::Chat;
    if (parser.isSet(str("raw")))
        line.promptMode = PromptMode::Raw;
    if (parser.isSet(str("max-tokens")))
        line.maxTokens = static_cast<int>(number(parser, str("max-tokens"), 1, kMaxOutputTokens, true));
    if (parser.isSet(str("temp")))
        line.temperature = static_cast<float>(number(parser, str("temp"), 0, kMaxTemperature, false));
    if (parser.isSet(str("seed")))
        line.seed = seed(parser);
    if (parser.isSet(str("no-kv-cache")))
        line.usesKvCache = false;
    line.exportFolder = parser.value(str("export"));
    line.screenshotPath = parser.value(str("screenshot"));
    if (parser.isSet(str("size"))) {
        const QStringList parts = parser.value(str("size")).split(QLatin1Char('x'));
        const QSize size = parts.size() == 2 ? QSize(parts[0].toInt(), parts[1].toInt()) : QSize();
        if (size.width() < 400 || size.height() < 300 || size.width() > 8000 || size.height() > 8000)
            usageError(
                str("--size needs WIDTHxHEIGHT from 400x300 to 8000x8000, not \"%1\"").arg(parser.value(str("size"))));
        line.windowSize = size;
    }
    if (parser.isSet(str("theme")))
        line.theme = choice<ThemeChoice>(
            parser, str("theme"),
            {{str("auto"), ThemeChoice::Auto}, {str("light"), ThemeChoice::Light}, {str("dark"), ThemeChoice::Dark}});
    if (parser.isSet(str("lens")))
        line.lens = choice<AnswerLens>(parser, str("lens"),
                                       {{str("plain"), AnswerLens::Plain},
                                        {str("tokens"), AnswerLens::Tokens},
                                        {str("latency"), AnswerLens::Latency},
                                        {str("probability"), AnswerLens::Probability}});
    line.overlaysRuns = parser.isSet(str("overlay"));
    line.isProjector = parser.isSet(str("projector"));
    line.quits = parser.isSet(str("quit")) || parser.isSet(str("screenshot"));
    for (const char *name : {"export", "screenshot", "model"})
        if (parser.isSet(str(name)) && parser.value(str(name)).isEmpty())
            usageError(str("--%1 needs a name, not \"\"").arg(str(name)));
    const QString suffix = QFileInfo(line.screenshotPath).suffix();
    if (!suffix.isEmpty() && suffix.compare(str("png"), Qt::CaseInsensitive) != 0)
        usageError(str("--screenshot writes PNG: name a file that ends in .png, not \"%1\"").arg(line.screenshotPath));
    if (!line.exportFolder.isEmpty() && !line.prompt && line.files.isEmpty())
        usageError(str("--export needs --run or a saved run to export"));
    return line;
}

} // namespace lectern
