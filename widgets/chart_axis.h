// SPDX-License-Identifier: GPL-3.0-or-later
// Axes of the charts: units that fit the range, ticks in the reader's locale, ranges that grow in 1-2-5 steps.
#pragma once

#include <QString>
#include <qcustomplot.h>

namespace lectern {

// Values are kept in one base unit (milliseconds, bytes, tokens); an axis shows value ÷ factor.
struct AxisUnit
{
    double factor = 1;
    QString name; // "ms"; empty for counts
};

AxisUnit timeUnit(double largestMs); // µs, ms or s
AxisUnit byteUnit(double largest);   // B, kB, MB or GB, decimal as everywhere

// The smallest of 1, 2, 5 · 10^n that is not below `value` (> 0).
double stepUp(double value);

// Range end of an axis that is written live: never smaller than `shown`, so that nothing jumps back, and in 1-2-5
// steps.
double liveEnd(double needed, double shown, double smallest);

// Ticks at 1, 2, 2.5, 5 · 10^n of the shown unit; where such a step is longer than the whole range, one at a round
// value in its upper third.
class UnitTicker : public QCPAxisTicker
{
public:
    void setUnit(const AxisUnit &unit) { m_unit = unit; }
    void setIntegers(bool on) { m_isInteger = on; }
    // The last label made, and its value.
    double lastTick() const { return m_lastTick; }
    const QString &lastLabel() const { return m_lastLabel; }

protected:
    double getTickStep(const QCPRange &range) override;
    int getSubTickCount(double tickStep) override;
    QString getTickLabel(double tick, const QLocale &locale, QChar formatChar, int precision) override;

private:
    AxisUnit m_unit;
    bool m_isInteger = false;
    double m_lastTick = 0;
    QString m_lastLabel;
    int m_decimals = 0;
};

} // namespace lectern
