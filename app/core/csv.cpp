// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/csv.h"

#include "engine/base/utf8.h"

#include <QChar>

#include <string_view>

namespace lectern {

namespace {

constexpr std::u32string_view kFormulaStarts = U"=+-@\t\r\uFF1D\uFF0B\uFF0D\uFF20";

bool isSeparator(char c) // of cells in spreadsheets, beside the comma
{
    return c == ';' || c == '\t' || c == '\r' || c == '\n';
}

// What spreadsheets skip in front of a formula.
bool isSkipped(char32_t c)
{
    const QChar::Category category = QChar::category(c);
    return QChar::isSpace(c) || c == U'"' || category == QChar::Other_Control || category == QChar::Other_Format;
}

// `part` goes on to the end of the text; it is looked at up to its first separator.
bool needsApostrophe(std::string_view part)
{
    if (part.starts_with('\''))
        return true;
    for (std::size_t at = 0; at < part.size();) {
        const CodePoint c = codePointAt(part, at);
        if (kFormulaStarts.find(c.value) != std::u32string_view::npos)
            return true;
        if (isSeparator(part[at]) || !isSkipped(c.value))
            return false;
        at += c.bytes;
    }
    return false;
}

QByteArray withoutFormulas(std::string_view text)
{
    QByteArray safe;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((i == 0 || isSeparator(text[i - 1])) && needsApostrophe(text.substr(i)))
            safe += '\'';
        safe += text[i];
    }
    return safe.replace('\0', "\xE2\x90\x80"); // U+2400: readers end a field at a NUL
}

// RFC 4180: fields with a comma, a quote or a line end are quoted, quotes doubled.
QByteArray quoted(QByteArray text)
{
    if (text.contains(',') || text.contains('"') || text.contains('\n') || text.contains('\r'))
        return '"' + text.replace('"', "\"\"") + '"';
    return text;
}

} // namespace

CsvCell::CsvCell(const QByteArray &text)
    : m_field(quoted(withoutFormulas({text.constData(), static_cast<std::size_t>(text.size())})))
{
}

QByteArray csvRow(std::initializer_list<CsvCell> cells)
{
    QByteArray line;
    for (const CsvCell &cell : cells) {
        if (&cell != cells.begin())
            line += ',';
        line += cell.field();
    }
    return line + "\r\n";
}

} // namespace lectern
