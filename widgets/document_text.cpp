// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/document_text.h"

#include <QTextBlock>
#include <QTextFragment>

#include <algorithm>

namespace lectern {

namespace {

// What is shown for a unit that a document cannot hold or show; the unit itself for all others.
QChar signFor(QChar unit)
{
    const char16_t code = unit.unicode();
    if (code < 0x20 && code != u'\t' && code != u'\n')
        return QChar(static_cast<char16_t>(0x2400 + code)); // Unicode's pictures of control characters
    switch (code) {
    case 0x007F:
        return QChar(0x2421);
    case 0x2029: // paragraph separator
        return QChar(0x00B6);
    case 0xFDD0:
    case 0xFDD1:
    case 0xFFFC:
        return QChar(QChar::ReplacementCharacter);
    default:
        return unit;
    }
}

} // namespace

void insertExact(QTextCursor &cursor, const QString &text)
{
    cursor.beginEditBlock();
    cursor.removeSelectedText();
    qsizetype from = 0;
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar unit = text[i], sign = signFor(unit);
        if (sign == unit)
            continue;
        cursor.insertText(text.mid(from, i - from), QTextCharFormat());
        const qsizetype first = i;
        while (i + 1 < text.size() && text[i + 1] == unit)
            ++i;
        // The object type, because it is the property that text typed after the sign does not inherit.
        QTextCharFormat format;
        format.setObjectType(QTextFormat::UserObject + unit.unicode());
        cursor.insertText(QString(i + 1 - first, sign), format);
        from = i + 1;
    }
    cursor.insertText(text.mid(from), QTextCharFormat());
    cursor.endEditBlock();
}

QString exactText(const QTextDocument &document, int begin, int end)
{
    QString text;
    for (QTextBlock block = document.findBlock(begin); block.isValid() && block.position() < end;
         block = block.next()) {
        for (auto it = block.begin(); !it.atEnd(); ++it) {
            const QTextFragment fragment = it.fragment();
            const int from = std::max(begin - fragment.position(), 0);
            const int to = std::min(end - fragment.position(), fragment.length());
            if (from >= to)
                continue;
            QString part = fragment.text().mid(from, to - from);
            const QChar unit(static_cast<char16_t>(fragment.charFormat().objectType() - QTextFormat::UserObject));
            if (fragment.charFormat().objectType() >= QTextFormat::UserObject)
                part.replace(signFor(unit), unit);
            text += part;
        }
        const bool isEnded = block.userState() != kSoftBreak && block.next().isValid();
        if (isEnded && end > block.position() + block.length() - 1)
            text += QLatin1Char('\n');
    }
    return text;
}

QString exactText(const QTextDocument &document)
{
    return exactText(document, 0, document.characterCount());
}

} // namespace lectern
