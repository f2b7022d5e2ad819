// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/token_view.h"

#include "widgets/document_text.h"
#include "widgets/token_tooltip.h"

#include <QScrollBar>
#include <QTextBlock>
#include <QTextLayout>

#include <algorithm>
#include <cmath>

namespace lectern {

namespace {

constexpr int kLongParagraph = 1500; // characters; about 20 lines

// Tokens that the tokenizer added, such as a begin token, stand for no bytes of the text: they appear by name.
void writeAddedTokens(std::string &text, std::vector<TokenRecord> &tokens, std::vector<TextRange> &leftOut)
{
    std::size_t shift = 0;
    for (TokenRecord &token : tokens) {
        token.begin += shift;
        token.end += shift;
        if (token.begin != token.end || !token.isSpecial)
            continue;
        text.insert(token.begin, token.bytes);
        for (TextRange &range : leftOut)
            if (range.begin >= token.begin)
                range = {range.begin + token.bytes.size(), range.end + token.bytes.size()};
        token.end += token.bytes.size();
        shift += token.bytes.size();
    }
}

// Those that begin at [from, to), moved by `base`.
template <class Span>
void appendMoved(std::vector<Span> &target, const std::vector<Span> &source, int from, int to, int base)
{
    auto span =
        std::lower_bound(source.begin(), source.end(), from, [](const Span &s, int value) { return s.begin < value; });
    for (; span != source.end() && span->begin < to; ++span) {
        Span &moved = target.emplace_back(*span);
        moved.begin += base;
        moved.end += base;
    }
}

// For a position that is inserted at `cut`.
template <class Span>
void makeRoom(std::vector<Span> &spans, int cut)
{
    for (auto span = spans.rbegin(); span != spans.rend() && span->end > cut; ++span) {
        span->end += 1;
        if (span->begin >= cut)
            span->begin += 1;
    }
}

} // namespace

TokenView::TokenView(const QString &emptyText, QWidget *parent)
    : TokenTextEdit(parent)
{
    setReadOnly(true);
    setUndoRedoEnabled(false);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setPlaceholderText(emptyText);
}

const std::vector<TokenRecord> &TokenView::tokens() const
{
    static const std::vector<TokenRecord> kNone;
    if (m_part == TokenPart::Prompt)
        return m_promptTokens;
    return m_record ? m_record->outputTokens : kNone;
}

void TokenView::setLens(AnswerLens lens)
{
    if (lens == m_lens)
        return;
    const bool textChanges = (lens == AnswerLens::Tokens) != (m_lens == AnswerLens::Tokens); // special tokens by name
    m_lens = lens;
    if (textChanges && m_part == TokenPart::Output)
        rebuild();
    viewport()->update();
}

void TokenView::clearTokens()
{
    m_record.reset();
    m_promptTokens.clear();
    m_promptText.clear();
    m_shownTokens = 0;
    m_hasTail = false;
    clear();
    setSpans({});
    setLeftOut({});
}

void TokenView::showPrompt(int runId, const std::string &text, std::vector<TokenRecord> tokens,
                           std::vector<TextRange> leftOut)
{
    clearTokens();
    m_part = TokenPart::Prompt;
    m_runId = runId;
    m_promptText = text;
    m_promptTokens = std::move(tokens);
    writeAddedTokens(m_promptText, m_promptTokens, leftOut);
    SpannedText prompt = spansOfText(m_promptText, m_promptTokens, 0, m_promptText.size());
    prompt.leftOut = leftOutSpans(m_promptText, leftOut, 0, m_promptText.size());
    insertSpans(prompt);
    moveCursor(QTextCursor::Start);
}

void TokenView::scrollToToken(int index)
{
    const auto &all = spans();
    const auto span =
        std::find_if(all.begin(), all.end(), [index](const TokenSpan &s) { return s.lastToken >= index; });
    if (span == all.end())
        return;
    moveCursor(QTextCursor::End); // scrolling up from below stops with the line at the top
    QTextCursor cursor(document());
    cursor.setPosition(span->begin);
    setTextCursor(cursor);
    ensureCursorVisible();
}

void TokenView::showAnswer(int runId, std::shared_ptr<const RunRecord> record)
{
    clearTokens();
    m_part = TokenPart::Output;
    m_runId = runId;
    m_record = std::move(record);
    m_typicalStepNs = 0;
    appendNew();
}

void TokenView::rebuild()
{
    const auto record = m_record;
    if (record)
        showAnswer(m_runId, record);
}

void TokenView::appendNew()
{
    if (!m_record || m_part != TokenPart::Output)
        return;
    const auto &output = m_record->outputTokens;
    for (std::size_t i = std::max<std::size_t>(m_shownTokens, 1); i < output.size();
         ++i) { // the first step is prefill's
        const auto step = static_cast<double>(output[i].stepNs);
        m_typicalStepNs =
            m_typicalStepNs == 0 ? step : m_typicalStepNs + (step > m_typicalStepNs ? 0.05 : -0.05) * m_typicalStepNs;
    }
    SpannedText fresh;
    appendOutputSpans(fresh, output, m_shownTokens, m_lens == AnswerLens::Tokens);
    m_shownTokens = output.size();
    if (!m_record->tailText.empty() && !m_hasTail) {
        fresh.text += QString::fromUtf8(m_record->tailText.data(), static_cast<qsizetype>(m_record->tailText.size()));
        m_hasTail = true;
    }
    if (!fresh.text.isEmpty())
        insertSpans(fresh);
}

// An answer stays at its end while it grows, unless the reader has scrolled up.
bool TokenView::followsEnd() const
{
    const QScrollBar *bar = verticalScrollBar();
    return m_part == TokenPart::Output && bar->value() >= bar->maximum() - 1;
}

// A longer line below the answer takes height away from it.
void TokenView::resizeEvent(QResizeEvent *event)
{
    const bool wasAtEnd = followsEnd();
    TokenTextEdit::resizeEvent(event);
    if (wasAtEnd)
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
}

void TokenView::insertSpans(const SpannedText &text)
{
    QScrollBar *bar = verticalScrollBar();
    const bool wasAtEnd = followsEnd();
    const int scrollValue = bar->value();

    // Inserted in portions so that no paragraph is ever laid out at more than about twice its limit.
    std::size_t nextSpan = 0;
    int from = 0;
    while (from < text.text.size()) {
        int to = std::min<int>(from + kLongParagraph, static_cast<int>(text.text.size()));
        while (nextSpan < text.spans.size() && text.spans[nextSpan].begin < to)
            to = std::max(to, text.spans[nextSpan++].end);
        to += text.text[to - 1].isHighSurrogate();
        const int base = document()->characterCount() - 1 - from;
        appendMoved(mutableSpans(), text.spans, from, to, base);
        appendMoved(mutableLeftOut(), text.leftOut, from, to, base);
        QTextCursor cursor(document());
        cursor.movePosition(QTextCursor::End);
        insertExact(cursor, text.text.mid(from, to - from));
        softenLastBlock();
        from = to;
    }
    if (selection() && owns(selection()->hovered()))
        setSpans(std::move(mutableSpans())); // the hovered token may be among the new ones
    bar->setValue(wasAtEnd ? bar->maximum() : scrollValue);
    // The document repaints the paragraph that grew; shades of the latency lens move with the typical step.
    if (m_lens == AnswerLens::Latency)
        viewport()->update();
}

// Cuts the last paragraph where its layout starts the last full line, when it has grown long.
void TokenView::softenLastBlock()
{
    const QTextBlock block = document()->lastBlock();
    if (block.length() <= kLongParagraph)
        return;
    blockBoundingRect(block); // makes sure that it is laid out
    const QTextLayout *layout = block.layout();
    if (layout->lineCount() < 2)
        return;
    const int cut = block.position() + layout->lineAt(layout->lineCount() - 1).textStart();
    QTextCursor cursor(document());
    cursor.setPosition(cut);
    cursor.insertBlock();
    document()->findBlock(cut - 1).setUserState(kSoftBreak);
    makeRoom(mutableSpans(), cut);
    makeRoom(mutableLeftOut(), cut);
}

QString TokenView::shownText() const
{
    return exactText(*document());
}

double TokenView::strengthOf(const TokenRecord &token) const
{
    if (m_lens == AnswerLens::Probability) // the less sure the model was, the stronger
        return std::clamp(1.0 - std::exp(static_cast<double>(token.logprob)), 0.0, 1.0);
    if (m_typicalStepNs <= 0)
        return 0;
    // A typical step is faint, one of twice the time is strong.
    return std::clamp(0.15 + (static_cast<double>(token.stepNs) / m_typicalStepNs - 1.0), 0.0, 1.0);
}

TokenTextEdit::BoxStyle TokenView::boxStyle(std::size_t spanIndex) const
{
    const TokenSpan &span = spans()[spanIndex];
    const auto &all = tokens();
    BoxStyle style;
    style.isOutlined = span.isSpecial;
    if (m_part == TokenPart::Prompt || m_lens == AnswerLens::Tokens) {
        const auto color = static_cast<std::size_t>(span.firstToken % kTokenColors);
        if (!span.isSpecial)
            style.fill = theme().tokenFill[color];
        style.underline = theme().tokenBorder[color];
    } else if (m_lens != AnswerLens::Plain && static_cast<std::size_t>(span.lastToken) < all.size()) {
        const double strength = strengthOf(all[static_cast<std::size_t>(span.lastToken)]);
        const QColor full = m_lens == AnswerLens::Latency ? theme().latencyShade : theme().probabilityShade;
        style.fill = mixed(theme().card, full, 0.12 + 0.88 * strength);
        style.underline = full;
        style.underlineWidth = 1 + static_cast<int>(std::lround(3 * strength)); // second cue: thicker line
    }
    return style;
}

TokenRef TokenView::refOf(const TokenSpan &span) const
{
    return {m_runId, m_part, span.lastToken};
}

bool TokenView::owns(const TokenRef &token) const
{
    return token.runId == m_runId && token.part == m_part;
}

QString TokenView::toolTipOf(const TokenSpan &span) const
{
    const int promptCount = m_record ? static_cast<int>(m_record->promptTokens.size()) : 0;
    return tokensToolTip(tokens(), span.firstToken, span.lastToken, m_part, promptCount);
}

} // namespace lectern
