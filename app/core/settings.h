// SPDX-License-Identifier: GPL-3.0-or-later
// What is remembered between starts: one table of key, type, default and range; damaged values fall back to the
// default. Kept in QSettings (XDG config folder). GUI thread.
#pragma once

#include "engine/sampling/sampler.h"

#include <QByteArray>
#include <QObject>
#include <QSettings>
#include <QString>
#include <QStringList>

namespace lectern {

enum class ThemeChoice
{
    Auto,
    Light,
    Dark
};
enum class PromptMode
{
    Chat,
    Raw
};
enum class AnswerLens
{
    Plain,
    Tokens,
    Latency,
    Probability
};

class Settings : public QObject
{
    Q_OBJECT

public:
    static constexpr int kMaxRecentFiles = 8;

    // `filePath` empty: the user's own; tests give a file.
    explicit Settings(const QString &filePath = {}, QObject *parent = nullptr);

    ThemeChoice theme() const;
    void setTheme(ThemeChoice theme);
    bool isProjector() const; // larger text and lines
    void setProjector(bool on);
    QString language() const; // "" for the system's
    void setLanguage(const QString &language);
    PromptMode promptMode() const;
    void setPromptMode(PromptMode mode);
    bool parsesSpecial() const; // raw prompts: control tokens written in the text count
    void setParsesSpecial(bool on);
    AnswerLens answerLens() const;
    void setAnswerLens(AnswerLens lens);
    QString systemPrompt() const;
    void setSystemPrompt(const QString &text);
    SamplingParams sampling() const;
    void setSampling(const SamplingParams &sampling);
    int maxTokens() const; // 1..100000, default 128
    void setMaxTokens(int count);
    bool usesKvCache() const;
    void setUsesKvCache(bool on);

    bool reusesPrefix() const; // default off: every run then costs the same
    void setReusesPrefix(bool on);
    bool usesReference() const; // the reference backend instead of the fast one
    void setUsesReference(bool on);

    int contextTokens() const; // 0, the default: the model's own
    void setContextTokens(int count);

    QStringList recentModels() const; // newest first, absolute paths
    void addRecentModel(const QString &path);
    QStringList recentRuns() const;
    void addRecentRun(const QString &path);
    void forgetRecent(const QString &path);

    QString exportFolder() const;
    void setExportFolder(const QString &folder);

    // Set while a model loads: still there at the next start, the program ended in between and must not load it by
    // itself again (a crash loop otherwise). "" when none.
    QString loadingModel() const; // of a Lectern that ended while it loaded; empty while that one is still at it
    void setLoadingModel(const QString &path);

    QByteArray windowGeometry() const;
    QByteArray windowLayout() const; // with the layout version the caller gave
    void setWindow(const QByteArray &geometry, const QByteArray &layout);

Q_SIGNALS:
    void themeChanged();
    void projectorChanged();
    void recentFilesChanged();

private:
    QSettings m_settings;
};

} // namespace lectern
