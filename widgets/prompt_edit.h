// SPDX-License-Identifier: GPL-3.0-or-later
// The prompt editor: plain text, coloured by tokens as they arrive from the tokenizer. Between a key press and the new
// tokens the old boxes move along with the text, so nothing flickers.
#pragma once

#include "widgets/token_text_edit.h"

namespace lectern {

class PromptEdit : public TokenTextEdit
{
    Q_OBJECT

public:
    explicit PromptEdit(QWidget *parent = nullptr);

    // The text exactly as typed, pasted or read from a file: CR LF, no-break spaces and NUL included.
    QString promptText() const;
    // As one edit that Ctrl+Z takes back.
    void replaceText(const QString &text);

    // Tokens of promptText() and what they leave out; ranges are bytes of `text`, and the prompt's own bytes are
    // [from, to) of it (inside the chat template's output). Ignored when the text has changed meanwhile.
    void showTokens(const QString &forText, const std::string &text, const std::vector<TokenRecord> &tokens,
                    const std::vector<TextRange> &leftOut, std::size_t from, std::size_t to);
    void setRunId(int runId) { m_runId = runId; } // whose prompt tokens these are too; 0: only the edited prompt's

Q_SIGNALS:
    void promptChanged();
    void fileDropped(const QString &path);

protected:
    BoxStyle boxStyle(std::size_t spanIndex) const override;
    TokenRef refOf(const TokenSpan &span) const override;
    bool owns(const TokenRef &token) const override;
    QString toolTipOf(const TokenSpan &span) const override;
    void keyPressEvent(QKeyEvent *event) override;
    void insertFromMimeData(const QMimeData *source) override;
    bool canInsertFromMimeData(const QMimeData *source) const override;

private:
    void moveSpans(int position, int removed, int added);
    std::vector<TokenRecord> m_tokens;
    int m_runId = 0;
};

} // namespace lectern
