// SPDX-License-Identifier: GPL-3.0-or-later
// Read-only text of tokens: the streamed answer with its lenses, or a whole prompt as it goes to the model.
//
// Cost per appended token does not grow with the text: long paragraphs are cut where the layout already wraps (soft
// breaks, left out again when copying), since laying out one paragraph of 8,000 tokens anew takes seconds.
#pragma once

#include "widgets/token_text_edit.h"

#include <memory>

namespace lectern {

class TokenView : public TokenTextEdit
{
    Q_OBJECT

public:
    explicit TokenView(const QString &emptyText, QWidget *parent = nullptr);

    void setLens(AnswerLens lens);
    AnswerLens lens() const { return m_lens; }

    // The prompt of a record-like token list, with the bytes of `text` that it leaves out; `runId` 0 for the prompt
    // being edited.
    void showPrompt(int runId, const std::string &text, std::vector<TokenRecord> tokens,
                    std::vector<TextRange> leftOut);
    void scrollToToken(int index); // its line becomes the first one, where there is text enough below it
    // The answer of a run; follow with appendNew() as its record grows.
    void showAnswer(int runId, std::shared_ptr<const RunRecord> record);
    void appendNew();
    void clearTokens();

    QString shownText() const; // without soft breaks

protected:
    BoxStyle boxStyle(std::size_t spanIndex) const override;
    TokenRef refOf(const TokenSpan &span) const override;
    bool owns(const TokenRef &token) const override;
    QString toolTipOf(const TokenSpan &span) const override;
    void resizeEvent(QResizeEvent *event) override;

private:
    const std::vector<TokenRecord> &tokens() const;
    void insertSpans(const SpannedText &text);
    bool followsEnd() const;
    void softenLastBlock();
    void rebuild();
    double strengthOf(const TokenRecord &token) const; // 0..1 for the latency and probability lenses

    AnswerLens m_lens = AnswerLens::Tokens;
    TokenPart m_part = TokenPart::Output;
    int m_runId = 0;
    std::string m_promptText;
    std::vector<TokenRecord> m_promptTokens;
    std::shared_ptr<const RunRecord> m_record;
    std::size_t m_shownTokens = 0;
    bool m_hasTail = false;
    double m_typicalStepNs = 0; // median-like running value that the latency lens compares with
};

} // namespace lectern
