// SPDX-License-Identifier: GPL-3.0-or-later
// The prompt: editor with live tokens, chat / raw switch, counts, and below it every token that goes to the model.
#pragma once

#include "app/core/prompt_tokenizer.h"
#include "app/core/settings.h"
#include "app/core/token_selection.h"
#include "widgets/theme.h"

#include <QFrame>

class QButtonGroup;
class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QToolButton;

namespace lectern {

class PromptEdit;
class PromptSplitter;
class TokenView;
class WrappedLabel;

class PromptPane : public QFrame
{
    Q_OBJECT

public:
    explicit PromptPane(QWidget *parent = nullptr);

    void setTheme(const Theme &theme);
    void setSelection(TokenSelection *selection);

    QString promptText() const;
    void setPromptText(const QString &text); // undoable
    PromptMode mode() const;
    void setMode(PromptMode mode);
    QString systemPrompt() const;
    void setSystemPrompt(const QString &text);
    // Raw only: "<s>" and the like in the text become the control tokens that they name.
    bool parsesSpecial() const;
    void setParsesSpecial(bool on);
    // Chat needs a template; without one the switch is off and `reason` is its tooltip.
    void setChatAvailable(bool available, const QString &reason);
    void setModelAvailable(bool available, int contextTokens = 0); // limit of prompt and answer together
    void setMaxTokens(int count);                                  // longest answer: the counts say whether it fits

    // Live tokens of promptText(). Ignored when they belong to an older text.
    void showTokens(const PromptTokensPtr &tokens);
    // Was this text sent by the run, in these tokens?
    bool isPromptOf(const RunRecord &record) const;
    // Below the editor: the prompt of a run as it was sent. When it is the edited one, the editor's tokens are the
    // run's.
    void showRunPrompt(int runId, const QString &title, std::shared_ptr<const RunRecord> record);
    void resetLayout();      // the texts share the pane as in the beginning
    void showEditedPrompt(); // back to what the editor holds

    PromptEdit *editor() const { return m_editor; }

Q_SIGNALS:
    void edited();                             // text, mode, system prompt or special tokens: tokenize again
    void modeChosen(lectern::PromptMode mode); // by the user, not for want of a template
    void parsesSpecialChosen(bool on);
    void fileDropped(const QString &path);
    void editRunPromptRequested(int runId);

private:
    void updateCounts();
    void showNote(const QString &text, const QString &detail = {});
    void removeSecondBegin();
    void showPromptNote(const PromptTokens &tokens);
    void showSent(int runId, const QString &caption, const std::string &text, const std::vector<TokenRecord> &tokens,
                  const std::vector<TextRange> &leftOut,
                  std::size_t ownBegin); // byte of `text` at which the words of the user begin
    PromptEdit *m_editor;
    TokenView *m_sent;
    QLabel *m_title;
    WrappedLabel *m_counts;
    QWidget *m_noteRow;
    WrappedLabel *m_note;
    QPushButton *m_removeBegin;
    QLabel *m_sentCaption;
    QPushButton *m_editRunPrompt;
    QToolButton *m_chat;
    QToolButton *m_raw;
    QButtonGroup *m_modes;
    QLineEdit *m_system;
    QCheckBox *m_parseSpecial;
    QWidget *m_sentPart; // below the editor; hidden while it would only repeat the editor
    PromptSplitter *m_splitter;
    Theme m_theme;
    PromptTokensPtr m_tokens; // of the editor's text; nullptr while unknown
    PromptMode m_chosenMode = PromptMode::Chat;
    bool m_hasModel = false;
    int m_contextTokens = 0;
    int m_maxTokens = 0;
    int m_sentRunId = 0;
};

} // namespace lectern
