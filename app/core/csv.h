// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of CSV files: RFC 4180, UTF-8, C locale, and no text that a spreadsheet takes for a formula.
//
// A text that begins with = + - @ (also full-width), a tab or CR, behind spaces and quotation marks or not, gets an
// apostrophe in front. So does each part of it behind a semicolon, tab, CR or LF: where those separate the cells, it is
// a cell of its own. So does an apostrophe in these places, to be readable back: a reader takes one away at the
// beginning of a text and behind every semicolon, tab, CR and LF.
#pragma once

#include <QByteArray>

#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <type_traits>

namespace lectern {

class CsvCell
{
public:
    CsvCell() = default; // empty: not measured
    // A text, valid UTF-8; a NUL is shown as U+2400.
    CsvCell(const QByteArray &text);
    CsvCell(const char *text)
        : CsvCell(QByteArray(text))
    {
    }
    // The shortest decimal text that reads back as the same number; never an exponent. Infinities and NaN are empty.
    template <class Number>
    static CsvCell number(Number value)
    {
        std::array<char, 400> text{};
        std::to_chars_result result{};
        CsvCell cell;
        if constexpr (std::is_floating_point_v<Number>) {
            if (!std::isfinite(value))
                return cell;
            result = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
        } else {
            result = std::to_chars(text.data(), text.data() + text.size(), value);
        }
        cell.m_field = QByteArray(text.data(), result.ptr - text.data());
        return cell;
    }

    const QByteArray &field() const { return m_field; } // as it stands in the file

private:
    QByteArray m_field;
};

// With its line end.
QByteArray csvRow(std::initializer_list<CsvCell> cells);

} // namespace lectern
