// SPDX-License-Identifier: GPL-3.0-or-later
// The one place that formats numbers for people: at most three significant digits, unit after a thin space (U+2009),
// the decimal mark and digits of the given locale. Missing values are "—".
#pragma once

#include <QLocale>
#include <QString>

#include <cstdint>
#include <optional>

namespace lectern {

QString formatDuration(std::optional<double> ns,
                       const QLocale &locale = QLocale());                   // "24.6 ms", "2.35 s", "3 min 12 s"
QString formatBytes(std::uint64_t bytes, const QLocale &locale = QLocale()); // decimal units: "1.31 MB", "98.4 MB"
QString formatRate(std::optional<double> tokensPerSecond, const QLocale &locale = QLocale()); // "476 tok/s"
QString formatCount(std::int64_t count, const QLocale &locale = QLocale());                   // grouped: "8,192"
QString formatNumber(std::optional<double> value, const QLocale &locale = QLocale()); // three significant digits
QString formatPercent(double fraction, const QLocale &locale = QLocale());            // "41 %"

// "CPU", "Reference": the name that the tool bar, the status bar and the table of runs use.
QString backendName(const std::string &backend);

// Text of a token for one-line display: spaces, line breaks and control characters made visible, invalid bytes as hex.
QString visibleTokenText(const std::string &bytes);
QString hexBytes(const std::string &bytes);   // "E9 91 AB"
QString byteValues(const std::string &bytes); // "0x04, 0xFF": each value once, the first few and "…"

QString shortened(const QString &text, qsizetype most); // in characters, “…” at its end

} // namespace lectern
