// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/token_text_edit.h"

#include <QApplication>
#include <QFontDatabase>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QTextBlock>
#include <QTextLayout>
#include <QToolTip>

#include <algorithm>

namespace lectern {

namespace {

constexpr double kTextScale = 1.15; // prompt and answer are what a class looks at

} // namespace

TokenTextEdit::TokenTextEdit(QWidget *parent)
    : QPlainTextEdit(parent)
    , m_theme(Theme::light())
{
    setMouseTracking(true);
    viewport()->setMouseTracking(true);
    setFrameShape(QFrame::NoFrame);
    setLineWrapMode(QPlainTextEdit::WidgetWidth);
    setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    connect(this, &QPlainTextEdit::cursorPositionChanged, this, &TokenTextEdit::selectAtCursor);
}

void TokenTextEdit::setTheme(const Theme &theme)
{
    m_theme = theme;
    // Fixed width: spaces and short tokens are as easy to see as letters.
    QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    fixed.setPointSizeF(QApplication::font().pointSizeF() * kTextScale);
    setFont(fixed);
    document()->setDocumentMargin(fontMetrics().height() * 0.3);
    viewport()->update();
}

void TokenTextEdit::setSelection(TokenSelection *selection)
{
    m_selection = selection;
    connect(selection, &TokenSelection::hoveredChanged, this, &TokenTextEdit::showHovered);
}

void TokenTextEdit::setSpans(std::vector<TokenSpan> spans)
{
    m_spans = std::move(spans);
    m_hoveredSpan = -1;
    if (m_selection)
        showHovered(m_selection->hovered());
    viewport()->update();
}

void TokenTextEdit::paintEvent(QPaintEvent *event)
{
    QPainter painter(viewport());
    painter.setClipRect(event->rect());
    painter.setRenderHint(QPainter::Antialiasing);
    // Only spans between the first and the last visible block are looked at.
    QTextBlock block = firstVisibleBlock();
    const int from = block.isValid() ? block.position() : 0;
    int to = from;
    const int bottom = event->rect().bottom();
    while (block.isValid() && blockBoundingGeometry(block).translated(contentOffset()).top() <= bottom) {
        to = block.position() + block.length();
        block = block.next();
    }
    const auto first = std::lower_bound(m_spans.begin(), m_spans.end(), from,
                                        [](const TokenSpan &span, int value) { return span.end <= value; });
    for (auto span = first; span != m_spans.end() && span->begin < to; ++span) {
        const auto index = static_cast<std::size_t>(span - m_spans.begin());
        paintBox(painter, *span, boxStyle(index), static_cast<int>(index) == m_hoveredSpan);
    }
    painter.end();
    QPlainTextEdit::paintEvent(event);
}

void TokenTextEdit::paintBox(QPainter &painter, const TokenSpan &span, const BoxStyle &style, bool isHovered) const
{
    if (!style.fill.isValid() && !style.isOutlined && !isHovered)
        return;
    for (QTextBlock block = document()->findBlock(span.begin); block.isValid() && block.position() < span.end;
         block = block.next()) {
        const QTextLayout *layout = block.layout();
        const QPointF origin = blockBoundingGeometry(block).translated(contentOffset()).topLeft();
        const int begin = std::max(span.begin - block.position(), 0);
        const int end = std::min(span.end - block.position(), block.length() - 1);
        for (int i = 0; i < layout->lineCount(); ++i) {
            const QTextLine line = layout->lineAt(i);
            const int lineBegin = std::max(begin, line.textStart());
            const int lineEnd = std::min(end, line.textStart() + line.textLength());
            const bool isBreak =
                begin >= end && line.textStart() + line.textLength() >= begin && i + 1 == layout->lineCount();
            if (lineBegin >= lineEnd && !isBreak)
                continue;
            qreal left = line.cursorToX(lineBegin);
            qreal right = line.cursorToX(std::max(lineEnd, lineBegin));
            if (left > right)
                std::swap(left, right); // right-to-left text
            if (lineBegin >= lineEnd || end < span.end - block.position())
                right = std::max(right, left) +
                        fontMetrics().averageCharWidth() * 0.6; // the line break belongs to the token
            const QRectF box = QRectF(origin.x() + left, origin.y() + line.y(), right - left, line.height())
                                   .adjusted(0.5, 1, -0.5, -1);
            painter.setPen(Qt::NoPen);
            if (style.fill.isValid()) {
                painter.setBrush(style.fill);
                painter.drawRoundedRect(box, 2.5, 2.5);
            }
            if (style.underline.isValid())
                painter.fillRect(
                    QRectF(box.left(), box.bottom() - style.underlineWidth + 1, box.width(), style.underlineWidth),
                    style.underline);
            if (style.isOutlined || isHovered) {
                painter.setPen(QPen(isHovered ? m_theme.text : m_theme.mutedText, isHovered ? 1.8 : 1.0));
                painter.setBrush(Qt::NoBrush);
                painter.drawRoundedRect(box.adjusted(0.5, 0, -0.5, 0), 2.5, 2.5);
            }
        }
    }
}

int TokenTextEdit::spanUnder(const QPoint &viewportPosition) const
{
    const int position = cursorForPosition(viewportPosition).position();
    // The cursor sits between characters; the pointer may be in the box before or after it.
    for (const int candidate : {position, position - 1}) {
        const int index = spanAt(m_spans, candidate);
        if (index < 0)
            continue;
        QTextCursor cursor(document());
        const TokenSpan &span = m_spans[static_cast<std::size_t>(index)];
        cursor.setPosition(span.begin);
        const QRect beginRect = cursorRect(cursor);
        cursor.setPosition(span.end);
        const QRect endRect = cursorRect(cursor);
        if (beginRect.top() != endRect.top()) // over more than one line: good enough
            return viewportPosition.y() >= beginRect.top() && viewportPosition.y() <= endRect.bottom() ? index : -1;
        const int slack = fontMetrics().averageCharWidth() / 2;
        const int left = std::min(beginRect.left(), endRect.left());
        const int right = std::max(beginRect.left(), endRect.left());
        if (viewportPosition.x() >= left - 1 &&
            viewportPosition.x() <= right + (span.end - span.begin == 1 ? slack : 0) &&
            viewportPosition.y() >= beginRect.top() && viewportPosition.y() <= beginRect.bottom())
            return index;
    }
    return -1;
}

void TokenTextEdit::mouseMoveEvent(QMouseEvent *event)
{
    QPlainTextEdit::mouseMoveEvent(event);
    if (!m_selection)
        return;
    const int index = spanUnder(event->position().toPoint());
    m_selection->setHovered(index < 0 ? TokenRef{} : refOf(m_spans[static_cast<std::size_t>(index)]));
}

bool TokenTextEdit::viewportEvent(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        auto *help = static_cast<QHelpEvent *>(event);
        const int index = spanUnder(help->pos());
        if (index < 0)
            QToolTip::hideText();
        else
            QToolTip::showText(help->globalPos(), toolTipOf(m_spans[static_cast<std::size_t>(index)]), viewport());
        return true;
    }
    if (event->type() == QEvent::Leave && m_selection)
        m_selection->clear();
    return QPlainTextEdit::viewportEvent(event);
}

// Walking with the arrow keys selects tokens as the mouse does.
void TokenTextEdit::selectAtCursor()
{
    if (!m_selection || !hasFocus())
        return;
    const int index = spanAt(m_spans, textCursor().position());
    if (index >= 0)
        m_selection->setHovered(refOf(m_spans[static_cast<std::size_t>(index)]));
}

void TokenTextEdit::showHovered(const TokenRef &token)
{
    const int index = token.isValid() && owns(token) ? spanOfToken(m_spans, token.index) : -1;
    if (index == m_hoveredSpan)
        return;
    m_hoveredSpan = index;
    viewport()->update();
}

} // namespace lectern
