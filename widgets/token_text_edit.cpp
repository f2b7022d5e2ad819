// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/token_text_edit.h"

#include "app/core/error_text.h"
#include "widgets/document_text.h"
#include "widgets/token_layout.h"

#include <QApplication>
#include <QFontDatabase>
#include <QGlyphRun>
#include <QHelpEvent>
#include <QMimeData>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace lectern {

namespace {

constexpr double kTextScale = 1.15; // prompt and answer are what a class looks at
constexpr double kLeastLines = 2.5; // in a view of less, a cut line is better than none
constexpr double kTolerance = 1;    // pixels of a line without ink
constexpr double kTouching = 0.01;  // pixels; glyphs this close make one box

// Any character that makes the layout reorder: below U+0590 there is none.
bool hasRightToLeft(const QString &text)
{
    return std::any_of(text.begin(), text.end(), [](QChar c) {
        if (c.unicode() < 0x0590)
            return false;
        if (c.isSurrogate())
            return c.unicode() >= 0xD802 && c.unicode() <= 0xD83B; // U+10800..U+1EFFF holds those of other planes
        switch (c.direction()) {
        case QChar::DirR:
        case QChar::DirAL:
        case QChar::DirRLE:
        case QChar::DirRLO:
        case QChar::DirRLI:
            return true;
        default:
            return false;
        }
    });
}

} // namespace

TokenTextEdit::TokenTextEdit(QWidget *parent)
    : QPlainTextEdit(parent)
    , m_theme(Theme::light())
{
    auto *document = new QTextDocument(this);
    m_layout = new TokenLayout(document, &m_spans);
    document->setDocumentLayout(m_layout);
    setDocument(document);
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
    m_layout->forgetLines(m_spans);
    m_layout->forgetLines(spans);
    m_spans = std::move(spans);
    m_hoveredSpan = -1;
    if (m_selection)
        showHovered(m_selection->hovered());
    viewport()->update();
}

void TokenTextEdit::setLeftOut(std::vector<LeftOutSpan> spans)
{
    m_leftOut = std::move(spans);
    viewport()->update();
}

std::vector<TokenTextEdit::ShownLine> TokenTextEdit::linesIn(const QRect &rect) const
{
    std::vector<ShownLine> lines;
    QTextBlock block = firstVisibleBlock();
    QPointF origin = blockBoundingGeometry(block).translated(contentOffset()).topLeft();
    for (; block.isValid() && origin.y() <= rect.bottom(); block = block.next()) {
        const double height = blockBoundingRect(block).height(); // lays the block out
        const QTextLayout *layout = block.layout();
        const bool isMixed = hasRightToLeft(block.text());
        for (int i = 0; i < layout->lineCount(); ++i) {
            const QTextLine line = layout->lineAt(i);
            const double top = origin.y() + line.y();
            if (top > rect.bottom())
                break;
            if (top + line.height() >= rect.top())
                lines.push_back({block, line, origin, isMixed});
        }
        origin.ry() += height;
    }
    return lines;
}

// The spans with characters on the line, its line end included.
template <class Span>
std::span<const Span> TokenTextEdit::spansOn(const std::vector<Span> &spans, const ShownLine &shown) const
{
    const int begin = shown.block.position() + shown.line.textStart();
    const bool isLast = shown.line.lineNumber() + 1 == shown.block.layout()->lineCount();
    const int end = begin + shown.line.textLength() + (isLast ? 1 : 0);
    const auto first =
        std::partition_point(spans.begin(), spans.end(), [begin](const Span &span) { return span.end <= begin; });
    const auto last = std::partition_point(first, spans.end(), [end](const Span &span) { return span.begin < end; });
    return {first, last};
}

std::vector<QRectF> TokenTextEdit::boxesOf(int spanBegin, int spanEnd, const ShownLine &shown) const
{
    const QTextLine &line = shown.line;
    const int lineEnd = line.textStart() + line.textLength();
    const int begin = std::max(spanBegin - shown.block.position(), line.textStart());
    const int end = std::min(spanEnd - shown.block.position(), lineEnd);
    std::vector<QRectF> boxes;
    const auto add = [&](double from, double to) {
        const double left = shown.origin.x() + std::min(from, to);
        const double right = shown.origin.x() + std::max(from, to);
        if (right <= left)
            return;
        for (QRectF &box : boxes) {
            if (left <= box.right() + kTouching && right >= box.left() - kTouching) {
                box.setLeft(std::min(box.left(), left));
                box.setRight(std::max(box.right(), right));
                return;
            }
        }
        boxes.emplace_back(left, shown.origin.y() + line.y(), right - left, line.height());
    };
    if (!shown.isMixed && begin < end) {
        add(line.cursorToX(begin), line.cursorToX(end));
    } else if (begin < end) {
        // Where the direction changes, the cursors before and after a character are not its two sides: ask the glyphs.
        for (const QGlyphRun &run : line.glyphRuns(begin, end - begin))
            add(run.boundingRect().left(), run.boundingRect().right());
        for (int i = begin; i < end; ++i)
            if (document()->characterAt(shown.block.position() + i) == QLatin1Char('\t')) // has no glyph
                add(line.cursorToX(i), line.cursorToX(i, QTextLine::Trailing));
    }
    // A line end belongs to a token too: a short box on the side where reading ends.
    const bool isSeparator = begin < end && end == lineEnd &&
                             document()->characterAt(shown.block.position() + end - 1) == QChar::LineSeparator;
    const int blockEnd = shown.block.length() - 1;
    const bool isBlockEnd = lineEnd == blockEnd && shown.block.userState() != kSoftBreak &&
                            spanBegin - shown.block.position() <= blockEnd &&
                            spanEnd - shown.block.position() > blockEnd;
    if (isSeparator || isBlockEnd) {
        const double width = fontMetrics().averageCharWidth() * 0.6;
        const QRectF natural = line.naturalTextRect();
        if (shown.isMixed && shown.block.textDirection() == Qt::RightToLeft)
            add(natural.left() - width, natural.left());
        else if (shown.isMixed)
            add(natural.right(), natural.right() + width);
        else
            add(line.cursorToX(lineEnd), line.cursorToX(lineEnd) + width);
    }
    return boxes;
}

void TokenTextEdit::paintEvent(QPaintEvent *event)
{
    QPainter painter(viewport());
    painter.setClipRect(event->rect());
    QRect whole = event->rect();
    std::vector<QRect> leftOut; // hatched behind the text, struck out over it
    for (const ShownLine &line : linesIn(event->rect())) {
        if (const QRect rest = withoutCutLine(whole, line); rest != whole) {
            whole = rest;
            continue;
        }
        for (const TokenSpan &span : spansOn(m_spans, line)) {
            const auto i = static_cast<std::size_t>(&span - m_spans.data());
            const bool isHovered = static_cast<int>(i) == m_hoveredSpan;
            const BoxStyle style = boxStyle(i);
            if (!style.fill.isValid() && !style.isOutlined && !isHovered)
                continue;
            for (const QRectF &box : boxesOf(span.begin, span.end, line))
                paintBox(painter, box, style, isHovered);
        }
        for (const LeftOutSpan &span : spansOn(m_leftOut, line)) {
            for (const QRectF &box : boxesOf(span.begin, span.end, line)) {
                leftOut.push_back(box.toRect().adjusted(0, 1, -1, -1));
                painter.fillRect(leftOut.back(), QBrush(m_theme.warning, Qt::BDiagPattern));
            }
        }
    }
    painter.end();
    QPaintEvent inner(whole);
    QPlainTextEdit::paintEvent(&inner);
    if (leftOut.empty())
        return;
    painter.begin(viewport());
    painter.setClipRect(whole);
    for (const QRect &box : leftOut)
        strikeOut(painter, box);
}

// Lines that the upper or lower edge would cut are left out, unless there is hardly room for one.
QRect TokenTextEdit::withoutCutLine(QRect rect, const ShownLine &shown) const
{
    const int height = viewport()->height();
    const double top = shown.origin.y() + shown.line.y(), bottom = top + shown.line.height();
    if (height < kLeastLines * fontMetrics().lineSpacing())
        return rect;
    if (top < -kTolerance)
        rect.setTop(std::max(rect.top(), static_cast<int>(std::ceil(bottom))));
    else if (bottom > height + kTolerance)
        rect.setBottom(std::min(rect.bottom(), static_cast<int>(top) - 1));
    return rect;
}

// Fills stand on whole pixels: sharp edges, and a third of the time that smoothed round corners take.
void TokenTextEdit::paintBox(QPainter &painter, const QRectF &whole, const BoxStyle &style, bool isHovered) const
{
    const int left = qRound(whole.left()), right = std::max(left + 1, qRound(whole.right()) - 1);
    const int top = qRound(whole.top()) + 1, bottom = qRound(whole.bottom()) - 1;
    if (style.fill.isValid()) {
        const int corner = right - left > 4 ? 1 : 0;
        painter.fillRect(left + corner, top, right - left - 2 * corner, bottom - top, style.fill);
        if (corner > 0) {
            painter.fillRect(left, top + 1, 1, bottom - top - 1, style.fill);
            painter.fillRect(right - 1, top + 1, 1, bottom - top - 1, style.fill);
        }
    }
    if (style.underline.isValid())
        painter.fillRect(left, bottom - style.underlineWidth + 1, right - left, style.underlineWidth, style.underline);
    if (style.isOutlined || isHovered) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(isHovered ? m_theme.text : m_theme.mutedText, isHovered ? 1.8 : 1.0));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(left, top, right - left, bottom - top).adjusted(0.5, -0.5, -0.5, 0.5), 2.5, 2.5);
        painter.setRenderHint(QPainter::Antialiasing, false);
    }
}

// What is left out is not there for the model.
void TokenTextEdit::strikeOut(QPainter &painter, const QRect &box) const
{
    const int width = qCeil(m_theme.lineWidth());
    painter.setPen(QPen(m_theme.warning, 1, Qt::DashLine));
    painter.drawRect(box.adjusted(0, 0, -1, -1));
    painter.fillRect(box.left(), box.center().y() - width / 2, box.width(), width, m_theme.warning);
}

template <class Span>
const Span *TokenTextEdit::spanUnder(const std::vector<Span> &spans, const QPoint &viewportPosition) const
{
    for (const ShownLine &line : linesIn(QRect(viewportPosition, QSize(1, 1))))
        for (const Span &span : spansOn(spans, line))
            for (const QRectF &box : boxesOf(span.begin, span.end, line))
                if (box.contains(viewportPosition))
                    return &span;
    return nullptr;
}

// A character that is left out in part, or that a token goes across, has both.
QString TokenTextEdit::toolTipAt(const QPoint &viewportPosition) const
{
    QString html;
    if (const LeftOutSpan *span = spanUnder(m_leftOut, viewportPosition))
        html = QStringLiteral("<p>%1</p>").arg(leftOutHeadline(span->bytes).toHtmlEscaped());
    if (const TokenSpan *span = spanUnder(m_spans, viewportPosition))
        html += toolTipOf(*span);
    return html;
}

QMimeData *TokenTextEdit::createMimeDataFromSelection() const
{
    const QTextCursor cursor = textCursor();
    auto *data = new QMimeData;
    data->setText(exactText(*document(), cursor.selectionStart(), cursor.selectionEnd()));
    return data;
}

void TokenTextEdit::mouseMoveEvent(QMouseEvent *event)
{
    QPlainTextEdit::mouseMoveEvent(event);
    if (!m_selection)
        return;
    const TokenSpan *span = spanUnder(m_spans, event->position().toPoint());
    m_selection->setHovered(span ? refOf(*span) : TokenRef{});
}

bool TokenTextEdit::viewportEvent(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        auto *help = static_cast<QHelpEvent *>(event);
        QToolTip::showText(help->globalPos(), toolTipAt(help->pos()), viewport()); // "" hides it
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
