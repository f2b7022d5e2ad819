// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/token_layout.h"

#include <QTextBlock>
#include <QTextDocument>
#include <QTextLayout>

#include <algorithm>
#include <cmath>

namespace lectern {

TokenLayout::TokenLayout(QTextDocument *document, const std::vector<TokenSpan> *spans)
    : QPlainTextDocumentLayout(document)
    , m_spans(spans)
{
}

QRectF TokenLayout::blockBoundingRect(const QTextBlock &block) const
{
    const QRectF usual = QPlainTextDocumentLayout::blockBoundingRect(block); // lays out
    if (!block.isValid() || !block.isVisible() || !cutsSpecial(block))
        return usual;
    breakAround(block);
    return QPlainTextDocumentLayout::blockBoundingRect(block);
}

// The special token that a line break at `position` cuts in two.
const TokenSpan *TokenLayout::specialAcross(int position) const
{
    const int index = spanAt(*m_spans, position);
    const TokenSpan *span = index < 0 ? nullptr : &(*m_spans)[static_cast<std::size_t>(index)];
    return span && span->isSpecial && span->begin < position ? span : nullptr;
}

// A token that is longer than a line has to be cut: it begins its line and fills it.
bool TokenLayout::cutsSpecial(const QTextBlock &block) const
{
    const QTextLayout *layout = block.layout();
    if (!layout->preeditAreaText().isEmpty()) // shifts the positions while an input method composes
        return false;
    for (int i = 0; i + 1 < layout->lineCount(); ++i) {
        const QTextLine line = layout->lineAt(i), next = layout->lineAt(i + 1);
        const TokenSpan *span = specialAcross(block.position() + next.textStart());
        if (!span)
            continue;
        const int second = layout->nextCursorPosition(next.textStart());
        const double character = std::abs(next.cursorToX(second) - next.cursorToX(next.textStart()));
        if (span->begin > block.position() + line.textStart() || line.naturalTextWidth() + character <= line.width())
            return true;
    }
    return false;
}

// As QPlainTextDocumentLayout lays out, except that a line may end sooner.
void TokenLayout::breakAround(const QTextBlock &block) const
{
    QTextLayout *layout = block.layout();
    const double width = layout->lineAt(0).width(), left = layout->lineAt(0).x();
    const QTextOption option = layout->textOption();
    QTextOption anywhere = option;
    anywhere.setWrapMode(QTextOption::WrapAnywhere);
    double top = 0;
    layout->beginLayout();
    for (QTextLine line = layout->createLine(); line.isValid(); line = layout->createLine()) {
        line.setLeadingIncluded(true);
        line.setLineWidth(width);
        const int start = block.position() + line.textStart();
        if (const TokenSpan *span = specialAcross(start + line.textLength())) {
            layout->setTextOption(anywhere);
            const auto endAt = [&line, width](int length) {
                // Columns are glyphs, of which there may be fewer than UTF-16 units.
                for (int columns = length; columns > 0; --columns) {
                    line.setNumColumns(columns, width);
                    if (line.textLength() <= length)
                        break;
                }
                return line.textLength() == length;
            };
            if (!endAt(span->end - start) && span->begin > start)
                endAt(span->begin - start);
            layout->setTextOption(option);
        }
        line.setPosition({left, top});
        top += line.height() + (line.leading() < 0 ? std::ceil(line.leading()) : 0);
    }
    layout->endLayout();
    if (block.lineCount() == layout->lineCount())
        return;
    QTextBlock(block).setLineCount(layout->lineCount());
    auto *self = const_cast<TokenLayout *>(this); // as the layout that this one corrects
    Q_EMIT self->documentSizeChanged(documentSize());
}

void TokenLayout::forgetLines(const std::vector<TokenSpan> &changed)
{
    for (const TokenSpan &span : changed)
        if (span.isSpecial)
            if (const QTextBlock block = document()->findBlock(span.begin); block.isValid())
                block.layout()->clearLayout();
}

} // namespace lectern
