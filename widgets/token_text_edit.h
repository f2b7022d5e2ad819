// SPDX-License-Identifier: GPL-3.0-or-later
// A plain text edit that paints a box behind every token. Base of the prompt editor and of the read-only token view.
//
// Boxes are painted, not formatted: changing a lens, the hovered token or the theme costs one repaint of the visible
// lines, and streaming never touches what is already there. GUI thread.
#pragma once

#include "app/core/token_selection.h"
#include "widgets/theme.h"
#include "widgets/token_spans.h"

#include <QPlainTextEdit>
#include <QTextBlock>
#include <QTextLayout>

#include <span>
#include <vector>

namespace lectern {

class TokenLayout;

class TokenTextEdit : public QPlainTextEdit
{
    Q_OBJECT

public:
    explicit TokenTextEdit(QWidget *parent = nullptr);

    virtual void setTheme(const Theme &theme);
    void setSelection(TokenSelection *selection);

    const std::vector<TokenSpan> &spans() const { return m_spans; }
    const std::vector<LeftOutSpan> &leftOut() const { return m_leftOut; } // marked over the boxes

    // A laid out line; its origin is its block's top left corner in the viewport.
    struct ShownLine
    {
        QTextBlock block;
        QTextLine line;
        QPointF origin;
        bool isMixed = false; // has right-to-left text
    };
    std::vector<ShownLine> linesIn(const QRect &rect) const; // of the viewport
    // Where positions [begin, end) lie on the line, in viewport pixels: several boxes when directions mix.
    std::vector<QRectF> boxesOf(int begin, int end, const ShownLine &line) const;

protected:
    struct BoxStyle
    {
        QColor fill;      // invalid: no box
        QColor underline; // invalid: none
        int underlineWidth = 2;
        bool isOutlined = false; // special tokens: a frame as the second cue
    };
    virtual BoxStyle boxStyle(std::size_t spanIndex) const = 0;
    virtual TokenRef refOf(const TokenSpan &span) const = 0; // what hovering it selects
    virtual bool owns(const TokenRef &token) const = 0;      // is it one of the tokens shown here?
    virtual QString toolTipOf(const TokenSpan &span) const = 0;

    void setSpans(std::vector<TokenSpan> spans);
    std::vector<TokenSpan> &mutableSpans() { return m_spans; }
    void setLeftOut(std::vector<LeftOutSpan> spans);
    std::vector<LeftOutSpan> &mutableLeftOut() { return m_leftOut; }
    const Theme &theme() const { return m_theme; }
    TokenSelection *selection() const { return m_selection; }

    void paintEvent(QPaintEvent *event) override;
    bool viewportEvent(QEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    QMimeData *createMimeDataFromSelection() const override;

private:
    template <class Span>
    std::span<const Span> spansOn(const std::vector<Span> &spans, const ShownLine &line) const;
    template <class Span>
    const Span *spanUnder(const std::vector<Span> &spans, const QPoint &viewportPosition) const; // or nullptr
    QString toolTipAt(const QPoint &viewportPosition) const;
    QRect withoutCutLine(QRect rect, const ShownLine &line) const;
    void paintBox(QPainter &painter, const QRectF &whole, const BoxStyle &style, bool isHovered) const;
    void strikeOut(QPainter &painter, const QRect &box) const;
    void showHovered(const TokenRef &token);
    void selectAtCursor();
    std::vector<TokenSpan> m_spans;
    std::vector<LeftOutSpan> m_leftOut;
    TokenLayout *m_layout; // the document's
    TokenSelection *m_selection = nullptr;
    Theme m_theme;
    int m_hoveredSpan = -1;
};

} // namespace lectern
