// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/prompt_edit.h"

#include "widgets/document_text.h"
#include "widgets/token_tooltip.h"

#include <QKeyEvent>
#include <QMimeData>
#include <QScrollBar>
#include <QUrl>

namespace lectern {

PromptEdit::PromptEdit(QWidget *parent)
    : TokenTextEdit(parent)
{
    setTabChangesFocus(true); // no focus trap; tabs can be pasted
    connect(document(), &QTextDocument::contentsChange, this, &PromptEdit::moveSpans);
    connect(this, &QPlainTextEdit::textChanged, this, &PromptEdit::promptChanged);
}

QString PromptEdit::promptText() const
{
    return exactText(*document());
}

void PromptEdit::replaceText(const QString &text)
{
    QTextCursor cursor(document());
    cursor.select(QTextCursor::Document);
    insertExact(cursor, text);
    moveCursor(QTextCursor::End); // where one goes on typing; a long text is read from its start
    verticalScrollBar()->setValue(0);
}

void PromptEdit::insertFromMimeData(const QMimeData *source)
{
    if (source->hasUrls() && !source->urls().isEmpty() && source->urls().constFirst().isLocalFile()) {
        Q_EMIT fileDropped(source->urls().constFirst().toLocalFile());
        return;
    }
    QTextCursor cursor = textCursor();
    insertExact(cursor, source->text());
    ensureCursorVisible();
}

// Shift+Enter would insert U+2028, which looks like a line end and is another character for the tokenizer.
void PromptEdit::keyPressEvent(QKeyEvent *event)
{
    if (event->matches(QKeySequence::InsertLineSeparator)) {
        textCursor().insertBlock();
        ensureCursorVisible();
        return;
    }
    TokenTextEdit::keyPressEvent(event);
}

bool PromptEdit::canInsertFromMimeData(const QMimeData *source) const
{
    return source->hasText() || source->hasUrls();
}

void PromptEdit::moveSpans(int position, int removed, int added)
{
    const auto move = [=](auto &spans) {
        std::erase_if(spans, [=](auto &span) {
            if (span.begin < position + removed)
                return span.end > position; // touched by the edit
            span.begin += added - removed;
            span.end += added - removed;
            return false;
        });
    };
    move(mutableSpans());
    move(mutableLeftOut());
}

void PromptEdit::showTokens(const QString &forText, const std::string &text, const std::vector<TokenRecord> &tokens,
                            const std::vector<TextRange> &leftOut, std::size_t from, std::size_t to)
{
    if (forText != promptText())
        return;
    m_tokens = tokens;
    setSpans(spansOfText(text, tokens, from, to).spans);
    setLeftOut(leftOutSpans(text, leftOut, from, to));
}

TokenTextEdit::BoxStyle PromptEdit::boxStyle(std::size_t spanIndex) const
{
    const TokenSpan &span = spans()[spanIndex];
    const auto color = static_cast<std::size_t>(span.firstToken % kTokenColors);
    BoxStyle style;
    style.underline = theme().tokenBorder[color];
    style.isOutlined = span.isSpecial;
    if (!span.isSpecial)
        style.fill = theme().tokenFill[color];
    return style;
}

TokenRef PromptEdit::refOf(const TokenSpan &span) const
{
    return {m_runId, TokenPart::Prompt, span.lastToken};
}

bool PromptEdit::owns(const TokenRef &token) const
{
    return token.part == TokenPart::Prompt && token.runId == m_runId;
}

QString PromptEdit::toolTipOf(const TokenSpan &span) const
{
    return tokensToolTip(m_tokens, span.firstToken, span.lastToken, TokenPart::Prompt, 0);
}

} // namespace lectern
