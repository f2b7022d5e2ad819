// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/document_text.h"

#include <QTextBlock>
#include <QTextFragment>

#include <algorithm>

namespace lectern {

namespace {

// What is shown for a unit that a document cannot hold; the unit itself for all others.
QChar signFor(QChar unit)
{
    switch (unit.unicode()) {
    case 0x0000:
        return QChar(0x2400); // symbol for null
    case u'\r':
        return QChar(0x240D); // symbol for carriage return
    case 0x2029:              // paragraph separator
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
        const QChar sign = signFor(text[i]);
        if (sign == text[i])
            continue;
        cursor.insertText(text.mid(from, i - from), QTextCharFormat());
        // The object type, because it is the property that text typed after the sign does not inherit.
        QTextCharFormat format;
        format.setObjectType(QTextFormat::UserObject + text[i].unicode());
        cursor.insertText(sign, format);
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
