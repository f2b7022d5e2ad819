// SPDX-License-Identifier: GPL-3.0-or-later
// Text in a QTextDocument, unit for unit. A document has one kind of line end and marks of its own, so a carriage
// return, NUL, U+2029, U+FDD0, U+FDD1 and U+FFFC cannot live in it, and other control characters have no width in some
// fonts: each is shown as a sign of one UTF-16 unit that remembers, in its format, what it stands for. Positions in the
// text and in the document are the same, and a sign that somebody typed stays that sign.
#pragma once

#include <QString>
#include <QTextCursor>
#include <QTextDocument>

namespace lectern {

constexpr int kSoftBreak = 1; // QTextBlock::userState of a block that only the layout ended: no line end in the text

// Replaces the cursor's selection, as one edit.
void insertExact(QTextCursor &cursor, const QString &text);

// The text of document positions [begin, end), with what the signs stand for and without soft breaks.
QString exactText(const QTextDocument &document, int begin, int end);
QString exactText(const QTextDocument &document);

} // namespace lectern
