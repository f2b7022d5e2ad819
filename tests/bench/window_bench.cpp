// SPDX-License-Identifier: GPL-3.0-or-later
// What the window costs. Not a test: it prints figures and judges nothing. Run it alone on the machine.
//
//   window_bench frames [TOKENS] [RATE]     frames of the real window while a made-up run of TOKENS (8000) comes in at
//                                           RATE (1000) tokens a second
//   window_bench decode [TOKENS] [ROUNDS]   a decode step of the real model: engine alone against the same request in
//                                           the window, in turns
//
// Frames are timed from taking the events to the end of the last repaint. Offscreen unless QT_QPA_PLATFORM says
// otherwise.
#include "app/main_window.h"
#include "tests/bench/stream_driver.h"
#include "tests/support/models.h"
#include "tests/support/tiny_model.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QThread>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

using namespace lectern;

namespace {

const QString kPrompt = QStringLiteral("Write a long story about a lighthouse keeper and the sea.");

double threadCpuMs()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Knows the longest time that one event kept the GUI thread.
class TimedApplication : public QApplication
{
public:
    using QApplication::QApplication;

    bool notify(QObject *receiver, QEvent *event) override
    {
        if (QThread::currentThread() != thread() || m_depth > 0)
            return QApplication::notify(receiver, event);
        ++m_depth;
        QElapsedTimer timer;
        timer.start();
        const bool result = QApplication::notify(receiver, event);
        longestMs = std::max(longestMs, static_cast<double>(timer.nsecsElapsed()) / 1e6);
        --m_depth;
        return result;
    }

    double longestMs = 0;

private:
    int m_depth = 0;
};

double quantile(std::vector<double> values, double part)
{
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5)];
}

void printSpread(const char *name, const std::vector<double> &values)
{
    std::printf("  %-22s median %7.3f   p95 %7.3f   max %7.3f   n %zu\n", name, quantile(values, 0.5),
                quantile(values, 0.95), quantile(values, 1), values.size());
}

// The window as it is after start-up, with its frames written down.
class Bench
{
public:
    Bench(std::unique_ptr<EngineDriver> driver, int maxTokens)
        : m_settings(m_folder.filePath(QStringLiteral("settings.ini")))
    {
        m_settings.setMaxTokens(maxTokens);
        m_window = std::make_unique<MainWindow>(&m_settings, std::move(driver));
        m_window->resetLayout({1280, 800});
        m_window->show();
        QObject::connect(m_window->session()->frameClock(), &FrameClock::frameDone, m_window.get(),
                         [this](qint64 nanoseconds) { frameMs.push_back(static_cast<double>(nanoseconds) / 1e6); });
    }

    bool load(const std::filesystem::path &path, const QString &prompt)
    {
        bool isLoaded = false;
        QEventLoop loop;
        QObject::connect(m_window.get(), &MainWindow::loadEnded, &loop, [&](bool loaded) {
            isLoaded = loaded;
            loop.quit();
        });
        m_window->loadModel(QString::fromStdString(path.string()));
        loop.exec();
        m_window->setPrompt(prompt);
        settle();
        return isLoaded;
    }

    // Until the run has ended and everything is drawn.
    std::shared_ptr<RunRecord> run()
    {
        frameMs.clear();
        const double before = threadCpuMs();
        QEventLoop loop;
        QObject::connect(m_window.get(), &MainWindow::runEnded, &loop, &QEventLoop::quit);
        m_window->startRun();
        loop.exec();
        guiCpuMs = threadCpuMs() - before;
        settle();
        return m_window->runs()->current()->record;
    }

    // Of the last run.
    std::vector<double> frameMs;
    double guiCpuMs = 0;

private:
    static void settle()
    {
        QEventLoop loop;
        QTimer::singleShot(300, &loop, &QEventLoop::quit);
        loop.exec();
    }

    QTemporaryDir m_folder;
    Settings m_settings;
    std::unique_ptr<MainWindow> m_window;
};

int measureFrames(TimedApplication &application, int tokens, int rate)
{
    const QTemporaryDir folder;
    Bench bench(std::make_unique<test::StreamDriver>(tokens, rate), tokens);
    if (!bench.load(test::writeTinyModel(folder.path().toStdString(), "tiny.gguf"), kPrompt))
        return 1;
    application.longestMs = 0;
    const auto record = bench.run();
    const std::size_t count = bench.frameMs.size();
    std::printf("%zu of %d tokens arrived, %d a second; %zu frames in %.1f s, milliseconds:\n",
                record->outputTokens.size(), tokens, rate, count, static_cast<double>(record->endNs) / 1e9);
    constexpr std::size_t kParts = 4;
    for (std::size_t part = 0; part < kParts; ++part) {
        const auto from = static_cast<std::ptrdiff_t>(count * part / kParts);
        const auto to = static_cast<std::ptrdiff_t>(count * (part + 1) / kParts);
        const std::string name = "quarter " + std::to_string(part + 1) + " of the run";
        printSpread(name.c_str(), {bench.frameMs.begin() + from, bench.frameMs.begin() + to});
    }
    printSpread("all frames", bench.frameMs);
    std::printf("  GUI thread: %.2f ms of CPU a frame; longest event %.2f ms\n",
                bench.guiCpuMs / static_cast<double>(std::max<std::size_t>(1, count)), application.longestMs);
    return 0;
}

// Milliseconds a decode step of the request on an engine without a window; the GUI thread sleeps meanwhile.
double stepAlone(Engine &engine, const Request &request)
{
    RunRecord record;
    std::thread([&] {
        EventQueue events;
        engine.submit(request, events);
        while (engine.step()) {
        }
        for (const Event &event : events.take())
            apply(event, record);
    }).join();
    return metricsOf(record).tpotNs.value_or(0) / 1e6;
}

int measureDecode(int tokens, int rounds)
{
    const auto path = test::modelPath();
    if (!path) {
        std::printf("no model: set-up brings %s, or name one in LECTERN_TEST_MODEL\n", test::kModelFileName);
        return 1;
    }
    Engine engine;
    EventQueue progress;
    Bench bench(createEngineDriver(), tokens);
    if (!engine.load(*path, {}, progress, StopFlag()) || !bench.load(*path, kPrompt))
        return 1;
    const Request request = bench.run()->request; // the very same for both
    std::vector<double> alone, shown, ratios;
    for (int round = 0; round < rounds; ++round) {
        // In turns, and each is the first as often as the other: what the machine does meanwhile hits both alike.
        const auto shownStep = [&] { shown.push_back(metricsOf(*bench.run()).tpotNs.value_or(0) / 1e6); };
        if (round % 2 == 1)
            shownStep();
        alone.push_back(stepAlone(engine, request));
        if (round % 2 == 0)
            shownStep();
        ratios.push_back(shown.back() / alone.back());
        std::printf("  round %d: alone %.3f ms, window %.3f ms, ratio %.3f; %zu frames, GUI CPU %.1f ms a second\n",
                    round + 1, alone.back(), shown.back(), ratios.back(), bench.frameMs.size(),
                    bench.guiCpuMs * 1e3 / (shown.back() * tokens));
    }
    printSpread("alone", alone);
    printSpread("window", shown);
    printSpread("ratio", ratios);
    printSpread("frames", bench.frameMs);
    return 0;
}

int usage()
{
    std::printf("usage: window_bench frames [TOKENS] [RATE] | decode [TOKENS] [ROUNDS]\n");
    return 2;
}

} // namespace

int main(int argc, char **argv)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    TimedApplication application(argc, argv);
    const std::string what = argc > 1 ? argv[1] : "";
    const int first = argc > 2 ? std::atoi(argv[2]) : 0, second = argc > 3 ? std::atoi(argv[3]) : 0;
    if (what == "frames")
        return measureFrames(application, first > 0 ? first : 8000, second > 0 ? second : 1000);
    if (what == "decode")
        return measureDecode(first > 0 ? first : 256, second > 0 ? second : 7);
    return usage();
}
