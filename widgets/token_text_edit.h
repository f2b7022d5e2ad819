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

#include <vector>

namespace lectern {

class TokenTextEdit : public QPlainTextEdit
{
    Q_OBJECT

public:
    explicit TokenTextEdit(QWidget *parent = nullptr);

    virtual void setTheme(const Theme &theme);
    void setSelection(TokenSelection *selection);

    const std::vector<TokenSpan> &spans() const { return m_spans; }

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
    const Theme &theme() const { return m_theme; }
    TokenSelection *selection() const { return m_selection; }
    int spanUnder(const QPoint &viewportPosition) const; // index or -1

    void paintEvent(QPaintEvent *event) override;
    bool viewportEvent(QEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;

private:
    void paintBox(QPainter &painter, const TokenSpan &span, const BoxStyle &style, bool isHovered) const;
    void showHovered(const TokenRef &token);
    void selectAtCursor();
    std::vector<TokenSpan> m_spans;
    TokenSelection *m_selection = nullptr;
    Theme m_theme;
    int m_hoveredSpan = -1;
};

} // namespace lectern
