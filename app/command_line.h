// SPDX-License-Identifier: GPL-3.0-or-later
// What the program was asked to do on its command line.
#pragma once

#include "app/core/settings.h"
#include "engine/engine.h"

#include <QSize>
#include <QString>
#include <QStringList>

#include <optional>

namespace lectern {

struct CommandLine
{
    QStringList files; // models (*.gguf) and saved runs (*.lectern.json) to open
    QString model;     // --model
    LoadOptions load;
    std::optional<QString> prompt; // --run
    QString systemPrompt;          // --system
    std::optional<PromptMode> promptMode;
    std::optional<int> contextTokens; // 0: the model's own; load.contextTokens stays as it is
    std::optional<int> maxTokens;
    std::optional<float> temperature;
    std::optional<std::uint64_t> seed;
    std::optional<bool> usesKvCache;
    QString exportFolder;   // --export
    QString screenshotPath; // --screenshot
    QSize windowSize;       // --size; empty: remembered
    std::optional<ThemeChoice> theme;
    std::optional<AnswerLens> lens;
    bool isProjector = false;
    bool overlaysRuns = false; // --overlay: opened runs are laid over each other
    bool quits = false;        // --quit, or implied by --screenshot
};

// Parses argv before any QApplication exists (a job without a display needs to choose the platform plug-in first). On
// --help and --version prints and ends the process with 0; on a wrong call prints one line to stderr and ends it
// with 2.
CommandLine parseCommandLine(const QStringList &arguments);

} // namespace lectern
