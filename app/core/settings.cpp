// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings.h"

#include "engine/trace/request_limits.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QLocale>
#include <QStandardPaths>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>

namespace lectern {

namespace {

// Every key of the file. What a value may be is said where it is read: anything else falls back to the default there.
namespace key {
constexpr auto kTheme = u"window/theme";                 // auto, light, dark
constexpr auto kProjector = u"window/projector";         // false, true
constexpr auto kLanguage = u"window/language";           // "", "de", "pt_BR"
constexpr auto kGeometry = u"window/geometry";           // bytes
constexpr auto kLayout = u"window/layout";               // bytes
constexpr auto kPromptMode = u"prompt/mode";             // chat, raw
constexpr auto kSystemPrompt = u"prompt/system";         // any text
constexpr auto kParsesSpecial = u"prompt/parsesSpecial"; // false, true
constexpr auto kAnswerLens = u"answer/lens";             // plain, tokens, latency, probability
constexpr auto kTemperature = u"sampling/temperature";
constexpr auto kTopK = u"sampling/topK";
constexpr auto kTopP = u"sampling/topP";
constexpr auto kMinP = u"sampling/minP";
constexpr auto kPenalty = u"sampling/repetitionPenalty";
constexpr auto kSeed = u"sampling/seed";
constexpr auto kMaxTokens = u"run/maxTokens";         // 1..kMaxOutputTokens
constexpr auto kKvCache = u"run/kvCache";             // true, false
constexpr auto kReusesPrefix = u"run/reusesPrefix";   // false, true
constexpr auto kUsesReference = u"run/usesReference"; // false, true
constexpr auto kContextTokens = u"run/contextTokens"; // 0..kMaxContextTokens
constexpr auto kRecentModels = u"files/recentModels";
constexpr auto kRecentRuns = u"files/recentRuns";
constexpr auto kExportFolder = u"files/exportFolder";     // an existing folder
constexpr auto kLoadingModel = u"files/loadingModel";     // set while a model loads
constexpr auto kLoadingProcess = u"files/loadingProcess"; // which window loads it
} // namespace key

constexpr std::array kThemeNames{"auto", "light", "dark"};
constexpr std::array kModeNames{"chat", "raw"};
constexpr std::array kLensNames{"plain", "tokens", "latency", "probability"};
constexpr int kDefaultMaxTokens = 128;

QString name(const char16_t *key)
{
    return QString::fromUtf16(key);
}

template <class Enum, std::size_t N>
Enum readEnum(const QSettings &settings, const char16_t *key, const std::array<const char *, N> &names, Enum fallback)
{
    const QString text = settings.value(name(key)).toString();
    for (std::size_t i = 0; i < N; ++i)
        if (text == QLatin1String(names[i]))
            return static_cast<Enum>(i);
    return fallback;
}

template <class Enum, std::size_t N>
void writeEnum(QSettings &settings, const char16_t *key, const std::array<const char *, N> &names, Enum value)
{
    settings.setValue(name(key), QString::fromLatin1(names[static_cast<std::size_t>(value)]));
}

bool readBool(const QSettings &settings, const char16_t *key, bool fallback)
{
    const QString text = settings.value(name(key)).toString();
    return text == QLatin1String("true") ? true : text == QLatin1String("false") ? false : fallback;
}

// Numbers are kept as the shortest text that reads back as the same number.
template <class Number>
Number readNumber(const QSettings &settings, const char16_t *key, Number fallback)
{
    const QByteArray text = settings.value(name(key)).toString().toUtf8();
    Number value{};
    const char *end = text.constData() + text.size();
    const auto [stopped, error] = std::from_chars(text.constData(), end, value);
    return error == std::errc() && stopped == end ? value : fallback;
}

template <class Number>
void writeNumber(QSettings &settings, const char16_t *key, Number value)
{
    std::array<char, 48> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
    settings.setValue(name(key), QString::fromLatin1(text.data(), static_cast<qsizetype>(end - text.data())));
}

QString cleanPath(const QString &path)
{
    return QDir::cleanPath(QFileInfo(path).absoluteFilePath());
}

QStringList readPaths(const QSettings &settings, const char16_t *key)
{
    QStringList paths;
    for (const QString &path : settings.value(name(key)).toStringList())
        if (QDir::isAbsolutePath(path) && !paths.contains(path) && paths.size() < Settings::kMaxRecentFiles)
            paths.push_back(path);
    return paths;
}

void addPath(QSettings &settings, const char16_t *key, const QString &path)
{
    QStringList paths = readPaths(settings, key);
    const QString clean = cleanPath(path);
    paths.removeAll(clean);
    paths.prepend(clean);
    settings.setValue(name(key), QStringList(paths.mid(0, Settings::kMaxRecentFiles)));
}

QString settingsFile(const QString &filePath)
{
    if (!filePath.isEmpty())
        return filePath;
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) +
           QStringLiteral("/lectern/lectern.ini");
}

} // namespace

Settings::Settings(const QString &filePath, QObject *parent)
    : QObject(parent)
    , m_settings(settingsFile(filePath), QSettings::IniFormat)
{
}

ThemeChoice Settings::theme() const
{
    return readEnum(m_settings, key::kTheme, kThemeNames, ThemeChoice::Auto);
}

void Settings::setTheme(ThemeChoice choice)
{
    if (choice == theme())
        return;
    writeEnum(m_settings, key::kTheme, kThemeNames, choice);
    Q_EMIT themeChanged();
}

bool Settings::isProjector() const
{
    return readBool(m_settings, key::kProjector, false);
}

void Settings::setProjector(bool on)
{
    if (on == isProjector())
        return;
    m_settings.setValue(name(key::kProjector), on);
    Q_EMIT projectorChanged();
}

QString Settings::language() const
{
    const QString code = m_settings.value(name(key::kLanguage)).toString();
    return code == QLatin1String("en") || QLocale(code).language() != QLocale::C ? code : QString();
}

void Settings::setLanguage(const QString &code)
{
    m_settings.setValue(name(key::kLanguage), code);
}

PromptMode Settings::promptMode() const
{
    return readEnum(m_settings, key::kPromptMode, kModeNames, PromptMode::Chat);
}

void Settings::setPromptMode(PromptMode mode)
{
    writeEnum(m_settings, key::kPromptMode, kModeNames, mode);
}

bool Settings::parsesSpecial() const
{
    return readBool(m_settings, key::kParsesSpecial, false);
}

void Settings::setParsesSpecial(bool on)
{
    m_settings.setValue(name(key::kParsesSpecial), on ? QStringLiteral("true") : QStringLiteral("false"));
}

AnswerLens Settings::answerLens() const
{
    return readEnum(m_settings, key::kAnswerLens, kLensNames, AnswerLens::Tokens);
}

void Settings::setAnswerLens(AnswerLens lens)
{
    writeEnum(m_settings, key::kAnswerLens, kLensNames, lens);
}

QString Settings::systemPrompt() const
{
    return m_settings.value(name(key::kSystemPrompt)).toString();
}

void Settings::setSystemPrompt(const QString &text)
{
    m_settings.setValue(name(key::kSystemPrompt), text);
}

// The ranges are the sampler's own: a field that it refuses falls back alone.
SamplingParams Settings::sampling() const
{
    SamplingParams params;
    const auto read = [&](auto SamplingParams::*field, const char16_t *key) {
        SamplingParams candidate = params;
        candidate.*field = readNumber(m_settings, key, params.*field);
        if (validate(candidate))
            params = candidate;
    };
    read(&SamplingParams::temperature, key::kTemperature);
    read(&SamplingParams::topK, key::kTopK);
    read(&SamplingParams::topP, key::kTopP);
    read(&SamplingParams::minP, key::kMinP);
    read(&SamplingParams::repetitionPenalty, key::kPenalty);
    read(&SamplingParams::seed, key::kSeed);
    return params;
}

void Settings::setSampling(const SamplingParams &params)
{
    writeNumber(m_settings, key::kTemperature, params.temperature);
    writeNumber(m_settings, key::kTopK, params.topK);
    writeNumber(m_settings, key::kTopP, params.topP);
    writeNumber(m_settings, key::kMinP, params.minP);
    writeNumber(m_settings, key::kPenalty, params.repetitionPenalty);
    writeNumber(m_settings, key::kSeed, params.seed);
}

int Settings::maxTokens() const
{
    const int count = readNumber(m_settings, key::kMaxTokens, kDefaultMaxTokens);
    return count >= 1 && count <= kMaxOutputTokens ? count : kDefaultMaxTokens;
}

void Settings::setMaxTokens(int count)
{
    writeNumber(m_settings, key::kMaxTokens, count);
}

bool Settings::usesKvCache() const
{
    return readBool(m_settings, key::kKvCache, true);
}

void Settings::setUsesKvCache(bool on)
{
    m_settings.setValue(name(key::kKvCache), on);
}

bool Settings::reusesPrefix() const
{
    return readBool(m_settings, key::kReusesPrefix, false);
}

void Settings::setReusesPrefix(bool on)
{
    m_settings.setValue(name(key::kReusesPrefix), on ? QStringLiteral("true") : QStringLiteral("false"));
}

bool Settings::usesReference() const
{
    return readBool(m_settings, key::kUsesReference, false);
}

void Settings::setUsesReference(bool on)
{
    m_settings.setValue(name(key::kUsesReference), on ? QStringLiteral("true") : QStringLiteral("false"));
}

int Settings::contextTokens() const
{
    const int count = readNumber(m_settings, key::kContextTokens, 0);
    return count >= 0 && count <= kMaxContextTokens ? count : 0;
}

void Settings::setContextTokens(int count)
{
    writeNumber(m_settings, key::kContextTokens, count);
}

QStringList Settings::recentModels() const
{
    return readPaths(m_settings, key::kRecentModels);
}

void Settings::addRecentModel(const QString &path)
{
    addPath(m_settings, key::kRecentModels, path);
    Q_EMIT recentFilesChanged();
}

QStringList Settings::recentRuns() const
{
    return readPaths(m_settings, key::kRecentRuns);
}

void Settings::addRecentRun(const QString &path)
{
    addPath(m_settings, key::kRecentRuns, path);
    Q_EMIT recentFilesChanged();
}

void Settings::forgetRecent(const QString &path)
{
    for (const char16_t *key : {key::kRecentModels, key::kRecentRuns}) {
        QStringList paths = readPaths(m_settings, key);
        paths.removeAll(cleanPath(path));
        m_settings.setValue(name(key), paths);
    }
    Q_EMIT recentFilesChanged();
}

QString Settings::exportFolder() const
{
    const QString folder = m_settings.value(name(key::kExportFolder)).toString();
    if (QDir::isAbsolutePath(folder) && QFileInfo(folder).isDir())
        return folder;
    const QString documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    return QFileInfo(documents).isDir() ? documents : QDir::homePath();
}

void Settings::setExportFolder(const QString &folder)
{
    m_settings.setValue(name(key::kExportFolder), cleanPath(folder));
}

QString Settings::loadingModel() const
{
    const auto process = m_settings.value(name(key::kLoadingProcess)).toLongLong();
    const bool isElsewhere = process > 0 && process != QCoreApplication::applicationPid() &&
                             (kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM);
    return isElsewhere ? QString() : m_settings.value(name(key::kLoadingModel)).toString();
}

void Settings::setLoadingModel(const QString &path)
{
    if (path.isEmpty()) {
        m_settings.remove(name(key::kLoadingModel));
        m_settings.remove(name(key::kLoadingProcess));
    } else {
        m_settings.setValue(name(key::kLoadingModel), path);
        m_settings.setValue(name(key::kLoadingProcess), QCoreApplication::applicationPid());
    }
    m_settings.sync(); // has to be on disk before the load can fail
}

QByteArray Settings::windowGeometry() const
{
    return m_settings.value(name(key::kGeometry)).toByteArray();
}

QByteArray Settings::windowLayout() const
{
    return m_settings.value(name(key::kLayout)).toByteArray();
}

void Settings::setWindow(const QByteArray &geometry, const QByteArray &layout)
{
    m_settings.setValue(name(key::kGeometry), geometry);
    m_settings.setValue(name(key::kLayout), layout);
}

} // namespace lectern
