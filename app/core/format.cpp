// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/format.h"

#include "engine/base/utf8.h"

#include <QCoreApplication>

#include <array>
#include <cmath>
#include <utility>

namespace lectern {

namespace {

constexpr QChar kThinSpace{0x2009};
constexpr int kDigits = 3;

QString missing()
{
    return QStringLiteral("—");
}

QString withUnit(const QString &number, const QString &unit)
{
    return number + kThinSpace + unit;
}

// The value at three significant digits, as a reader sees it: 999.96 is already 1000 there.
double rounded(double value)
{
    if (std::abs(value) < 1e-300)
        return 0;
    const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
    const double scale = std::pow(10.0, kDigits - 1 - exponent);
    return std::round(value * scale) / scale;
}

QString threeDigits(double value, const QLocale &locale)
{
    const double shown = rounded(value);
    if (shown == 0)
        return locale.toString(0);
    const int exponent = static_cast<int>(std::floor(std::log10(std::abs(shown) * (1 + 1e-12))));
    return locale.toString(shown, 'f', std::max(0, kDigits - 1 - exponent));
}

struct Unit
{
    double size;
    const char *name;
};

// The largest unit in which the rounded value is at least 1; the smallest for everything below.
template <std::size_t N>
const Unit &unitFor(double value, const std::array<Unit, N> &smallestFirst)
{
    for (std::size_t i = N; i-- > 1;)
        if (rounded(value / smallestFirst[i].size) >= 1)
            return smallestFirst[i];
    return smallestFirst[0];
}

QString minutesAndSeconds(double ns, const QLocale &locale)
{
    const auto seconds = static_cast<std::int64_t>(std::llround(ns / 1e9));
    const std::int64_t hours = seconds / 3600;
    const std::int64_t minutes = seconds / 60 % 60;
    const auto part = [&](std::int64_t value, const char *unit) {
        return withUnit(locale.toString(static_cast<qlonglong>(value)), QString::fromLatin1(unit));
    };
    if (hours > 0)
        return part(hours, "h") + u' ' + part(minutes, "min");
    return part(minutes, "min") + u' ' + part(seconds % 60, "s");
}

// Characters that a reader cannot see or that would disturb the line they stand in.
bool isHidden(char32_t c)
{
    if (c == 0xA0 || c == 0xAD || c == 0x61C || c == 0xFEFF || c == 0x3000 || c == 0x1680 || c == 0x180E)
        return true;
    return (c >= 0x80 && c <= 0x9F) || (c >= 0x2000 && c <= 0x200F) || (c >= 0x2028 && c <= 0x202F) ||
           (c >= 0x205F && c <= 0x206F) || (c >= 0xFFF9 && c <= 0xFFFB);
}

QString visibleCharacter(char32_t c)
{
    switch (c) {
    case U' ':
        return QStringLiteral("␣");
    case U'\n':
        return QStringLiteral("⏎");
    case U'\t':
        return QStringLiteral("⇥");
    case 0x7F:
        return QStringLiteral("␡");
    default:
        break;
    }
    if (c < 0x20)
        return QChar(static_cast<char16_t>(0x2400 + c)); // Unicode's pictures of control characters
    if (isHidden(c))
        return QStringLiteral("⟨U+%1⟩").arg(static_cast<uint>(c), 4, 16, QLatin1Char('0')).toUpper();
    return QString::fromUcs4(&c, 1);
}

} // namespace

QString formatDuration(std::optional<double> ns, const QLocale &locale)
{
    if (!ns || !std::isfinite(*ns))
        return missing();
    if (*ns < 0)
        return locale.negativeSign() + formatDuration(-*ns, locale);
    if (rounded(*ns / 1e9) >= 60)
        return minutesAndSeconds(*ns, locale);
    static constexpr std::array<Unit, 4> kUnits{{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}};
    const Unit &unit = unitFor(*ns, kUnits);
    return withUnit(threeDigits(*ns / unit.size, locale), QString::fromUtf8(unit.name));
}

QString formatBytes(std::uint64_t bytes, const QLocale &locale)
{
    static constexpr std::array<Unit, 6> kUnits{
        {{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}, {1e15, "PB"}}};
    const auto value = static_cast<double>(bytes);
    if (bytes < 1000)
        return withUnit(locale.toString(static_cast<qulonglong>(bytes)), QStringLiteral("B"));
    const Unit &unit = unitFor(value, kUnits);
    return withUnit(threeDigits(value / unit.size, locale), QString::fromLatin1(unit.name));
}

QString formatRate(std::optional<double> tokensPerSecond, const QLocale &locale)
{
    if (!tokensPerSecond || !std::isfinite(*tokensPerSecond) || *tokensPerSecond <= 0)
        return missing();
    return withUnit(threeDigits(*tokensPerSecond, locale),
                    QCoreApplication::translate("lectern::Format", "tok/s", "tokens per second, short"));
}

QString formatCount(std::int64_t count, const QLocale &locale)
{
    return locale.toString(static_cast<qlonglong>(count));
}

QString formatNumber(std::optional<double> value, const QLocale &locale)
{
    if (!value || !std::isfinite(*value))
        return missing();
    return threeDigits(*value, locale);
}

QString formatPercent(double fraction, const QLocale &locale)
{
    if (!std::isfinite(fraction))
        return missing();
    const double percent = fraction * 100;
    const double size = std::abs(percent);
    if (size != 0 && size < 0.005)
        return QStringLiteral("< ") + withUnit(locale.toString(0.01, 'f', 2), locale.percent());
    const int decimals = size == 0 || size >= 9.95 ? 0 : size >= 0.995 ? 1 : 2;
    return withUnit(locale.toString(percent, 'f', decimals), locale.percent());
}

QString backendName(const std::string &backend)
{
    if (backend == "cpu")
        return QCoreApplication::translate("lectern::Format", "CPU");
    if (backend == "reference")
        return QCoreApplication::translate("lectern::Format", "Reference");
    return QString::fromStdString(backend);
}

QString visibleTokenText(const std::string &bytes)
{
    QString text;
    for (std::size_t offset = 0; offset < bytes.size();) {
        const CodePoint point = codePointAt(bytes, offset);
        if (point.isValid)
            text += visibleCharacter(point.value);
        else
            text += QStringLiteral("⟨%1⟩").arg(hexBytes(bytes.substr(offset, 1)));
        offset += point.bytes;
    }
    return text;
}

QString hexBytes(const std::string &bytes)
{
    return QString::fromLatin1(
        QByteArray::fromRawData(bytes.data(), static_cast<qsizetype>(bytes.size())).toHex(' ').toUpper());
}

QString byteValues(const std::string &bytes)
{
    constexpr qsizetype kMost = 8;
    QStringList values;
    std::array<bool, 256> isNamed{};
    for (const char byte : bytes) {
        if (std::exchange(isNamed[static_cast<unsigned char>(byte)], true))
            continue;
        if (values.size() == kMost)
            return values.join(QStringLiteral(", ")) + QStringLiteral(" …");
        values << QStringLiteral("0x") + hexBytes(std::string(1, byte));
    }
    return values.join(QStringLiteral(", "));
}

QString shortened(const QString &text, qsizetype most)
{
    return text.size() <= most ? text : text.left(most - 1).trimmed() + QChar(0x2026);
}

} // namespace lectern
