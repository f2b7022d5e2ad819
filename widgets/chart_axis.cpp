// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/chart_axis.h"

#include <QLocale>

#include <algorithm>
#include <cmath>

namespace lectern {

AxisUnit timeUnit(double largestMs)
{
    if (largestMs >= 10'000) {
        return {1000, QStringLiteral("s")};
    }
    if (largestMs < 1) {
        return {0.001, QStringLiteral("µs")};
    }
    return {1, QStringLiteral("ms")};
}

AxisUnit byteUnit(double largest)
{
    if (largest >= 1e9) {
        return {1e9, QStringLiteral("GB")};
    }
    if (largest >= 1e6) {
        return {1e6, QStringLiteral("MB")};
    }
    if (largest >= 1e3) {
        return {1e3, QStringLiteral("kB")};
    }
    return {1, QStringLiteral("B")};
}

double stepUp(double value)
{
    const double magnitude = std::pow(10.0, std::floor(std::log10(value)));
    for (const double mantissa : {1.0, 2.0, 5.0}) {
        if (mantissa * magnitude >= value * (1 - 1e-9)) {
            return mantissa * magnitude;
        }
    }
    return 10 * magnitude;
}

double liveEnd(double needed, double shown, double smallest)
{
    return std::max(shown, stepUp(std::max(needed, smallest)));
}

double UnitTicker::getTickStep(const QCPRange &range)
{
    const double size = std::max(range.size(), 1e-12) / m_unit.factor;
    const double wanted = size / std::max(1, mTickCount);
    double magnitude = std::pow(10.0, std::floor(std::log10(wanted)));
    double step = 10 * magnitude;
    for (const double mantissa : {5.0, 2.5, 2.0, 1.0}) {
        if (mantissa * magnitude >= wanted * (1 - 1e-9)) {
            step = mantissa * magnitude;
        }
    }
    if (step > size) {
        magnitude = std::pow(10.0, std::floor(std::log10(size)));
        for (const double mantissa : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
            step = mantissa * magnitude <= size * (1 + 1e-9) ? mantissa * magnitude : step;
        }
    }
    if (m_isInteger) {
        step = std::max(1.0, std::ceil(step));
    }
    // 2.5 needs one decimal more than 2 or 5.
    const double shown = step / magnitude;
    const bool isQuarter = std::abs(shown - std::round(shown)) > 1e-6;
    m_decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step * 1.0000001))) + (isQuarter ? 1 : 0));
    return step * m_unit.factor;
}

int UnitTicker::getSubTickCount(double)
{
    return 0;
}

QString UnitTicker::getTickLabel(double tick, const QLocale &, QChar, int)
{
    const double shown = std::abs(tick) < 1e-12 ? 0 : tick / m_unit.factor;
    m_lastTick = tick;
    m_lastLabel = shown == 0 ? QStringLiteral("0") : QLocale().toString(shown, 'f', m_decimals);
    return m_lastLabel;
}

} // namespace lectern
