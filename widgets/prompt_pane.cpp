// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/prompt_pane.h"

#include "app/core/error_text.h"
#include "app/core/format.h"
#include "engine/trace/prompt_tokens.h"
#include "widgets/prompt_counts.h"
#include "widgets/prompt_edit.h"
#include "widgets/prompt_splitter.h"
#include "widgets/token_view.h"
#include "widgets/wrapped_label.h"

#include <QApplication>
#include <QButtonGroup>
#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace lectern {

PromptPane::PromptPane(QWidget *parent)
    : QFrame(parent)
    , m_theme(Theme::light())
{
    setObjectName(QStringLiteral("promptPane"));
    setProperty("card", true);

    m_title = new QLabel(tr("PROMPT"), this);
    m_title->setFont(paneTitleFont(font()));
    m_title->setProperty("muted", true);

    const auto modeButton = [this](const QString &text, const QString &toolTip, const char *name) {
        auto *button = new QToolButton(this);
        button->setText(text);
        button->setToolTip(toolTip);
        button->setAccessibleName(text);
        button->setObjectName(QLatin1String(name));
        button->setCheckable(true);
        button->setAutoRaise(true);
        button->setProperty("segment", true);
        return button;
    };
    m_chat =
        modeButton(tr("Chat"), tr("The text becomes a user message in the model's own chat template."), "chatMode");
    m_raw =
        modeButton(tr("Raw"), tr("The text goes to the model exactly as typed: the model continues it."), "rawMode");
    m_modes = new QButtonGroup(this);
    m_modes->addButton(m_chat, static_cast<int>(PromptMode::Chat));
    m_modes->addButton(m_raw, static_cast<int>(PromptMode::Raw));
    m_chat->setChecked(true);

    m_system = new QLineEdit(this);
    m_system->setObjectName(QStringLiteral("systemPrompt"));
    m_system->setPlaceholderText(tr("System message (optional)"));
    m_system->setAccessibleName(tr("System message"));
    m_system->setToolTip(
        tr("Instructions that the chat template puts before your message. Empty: the template decides."));

    m_parseSpecial = new QCheckBox(tr("Special tokens in the text count"), this);
    m_parseSpecial->setObjectName(QStringLiteral("parseSpecial"));
    m_parseSpecial->setToolTip(
        tr("On: text such as <|im_end|> or <s> becomes the special token of that name. Off: it stays text."));
    m_parseSpecial->hide();

    m_editor = new PromptEdit(this);
    m_editor->setObjectName(QStringLiteral("promptEdit"));
    m_editor->setAccessibleName(tr("Prompt"));
    m_editor->setPlaceholderText(tr("Type a prompt, or choose one under Samples. Tokens are coloured as you type."));

    m_counts = new WrappedLabel(this);
    m_counts->setObjectName(QStringLiteral("promptCounts"));
    m_counts->setTextFormat(Qt::RichText);
    m_noteRow = new QWidget(this);
    m_note = new WrappedLabel(m_noteRow);
    m_note->setObjectName(QStringLiteral("promptNote"));
    m_note->setTextFormat(Qt::PlainText);
    m_removeBegin = new QPushButton(tr("Remove one"), m_noteRow);
    m_removeBegin->setObjectName(QStringLiteral("removeSecondBegin"));
    m_removeBegin->setToolTip(tr("Takes the begin token out of the text. Ctrl+Z brings it back."));
    auto *noteLayout = new QHBoxLayout(m_noteRow);
    noteLayout->setContentsMargins(0, 0, 0, 0);
    noteLayout->addWidget(m_note, 1);
    noteLayout->addWidget(m_removeBegin, 0, Qt::AlignTop);
    m_noteRow->hide();

    m_sentCaption = new QLabel(this);
    m_sentCaption->setObjectName(QStringLiteral("sentCaption"));
    m_sentCaption->setTextFormat(Qt::PlainText);
    m_sentCaption->setProperty("muted", true);
    m_sentCaption->setWordWrap(true);
    m_sentCaption->setMinimumWidth(1); // a run's name may be one long word: it must not widen the window
    m_editRunPrompt = new QPushButton(tr("Edit this prompt"), this);
    m_editRunPrompt->setObjectName(QStringLiteral("editRunPrompt"));
    m_editRunPrompt->setToolTip(tr("Puts the prompt of this run into the editor."));
    m_editRunPrompt->setFlat(true);
    m_editRunPrompt->hide();
    m_sent = new TokenView(tr("Every token that goes to the model appears here, those of the chat template included."),
                           this);
    m_sent->setObjectName(QStringLiteral("sentTokens"));
    m_sent->setAccessibleName(tr("Prompt as the model sees it"));

    auto *header = new QHBoxLayout;
    header->setSpacing(2);
    header->addWidget(m_title);
    header->addStretch(1);
    header->addWidget(m_chat);
    header->addWidget(m_raw);

    auto *top = new QWidget(this);
    auto *topLayout = new QVBoxLayout(top);
    topLayout->setContentsMargins(0, 0, 0, 0);
    topLayout->setSpacing(3);
    topLayout->addWidget(m_system);
    topLayout->addWidget(m_parseSpecial);
    topLayout->addWidget(m_editor, 1);
    topLayout->addWidget(m_counts);
    topLayout->addWidget(m_noteRow);

    m_sentPart = new QWidget(this);
    auto *bottomLayout = new QVBoxLayout(m_sentPart);
    bottomLayout->setContentsMargins(0, 0, 0, 0);
    bottomLayout->setSpacing(0);
    auto *captionRow = new QHBoxLayout;
    captionRow->addWidget(m_sentCaption, 1);
    captionRow->addWidget(m_editRunPrompt);
    bottomLayout->addLayout(captionRow);
    bottomLayout->addWidget(m_sent, 1);

    m_splitter = new PromptSplitter(this);
    m_splitter->setObjectName(QStringLiteral("promptSplitter"));
    m_splitter->addWidget(top);
    m_splitter->addWidget(m_sentPart);
    m_splitter->setChildrenCollapsible(true);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 6, 12, 8);
    layout->setSpacing(4);
    layout->addLayout(header);
    layout->addWidget(m_splitter, 1);

    connect(m_editor, &PromptEdit::promptChanged, this, [this] {
        m_editor->setRunId(0);
        m_tokens.reset();
        updateCounts();
        Q_EMIT edited();
    });
    connect(m_editor, &PromptEdit::fileDropped, this, &PromptPane::fileDropped);
    connect(m_system, &QLineEdit::textChanged, this, &PromptPane::edited);
    connect(m_parseSpecial, &QCheckBox::toggled, this, &PromptPane::edited);
    connect(m_parseSpecial, &QCheckBox::clicked, this, &PromptPane::parsesSpecialChosen);
    connect(m_removeBegin, &QPushButton::clicked, this, &PromptPane::removeSecondBegin);
    connect(m_modes, &QButtonGroup::idToggled, this, [this](int id, bool checked) {
        if (!checked)
            return;
        m_system->setVisible(static_cast<PromptMode>(id) == PromptMode::Chat);
        m_parseSpecial->setVisible(static_cast<PromptMode>(id) == PromptMode::Raw);
        m_tokens.reset();
        Q_EMIT edited();
    });
    connect(m_modes, &QButtonGroup::idClicked, this, [this](int id) {
        m_chosenMode = static_cast<PromptMode>(id);
        Q_EMIT modeChosen(m_chosenMode);
    });
    connect(m_editRunPrompt, &QPushButton::clicked, this, [this] { Q_EMIT editRunPromptRequested(m_sentRunId); });
    updateCounts();
}

void PromptPane::setTheme(const Theme &theme)
{
    m_theme = theme;
    m_title->setFont(paneTitleFont(QApplication::font()));
    m_editor->setTheme(theme);
    m_sent->setTheme(theme);
    m_note->setStyleSheet(QStringLiteral("color: %1").arg(theme.warning.name()));
    const int line = m_editor->fontMetrics().lineSpacing();
    m_editor->setMinimumHeight(line * 3 / 2); // in small windows the rest is reached by scrolling
    m_sent->setMinimumHeight(1);
    updateCounts();
    const int above = m_system->sizeHint().height() + m_counts->fontMetrics().height() + 6; // and two spaces of 3
    m_splitter->setHeights(line, static_cast<int>(2 * m_sent->document()->documentMargin()) + 1, above,
                           std::max(m_sentCaption->fontMetrics().height(), m_editRunPrompt->sizeHint().height()));
}

void PromptPane::resetLayout()
{
    m_splitter->reset();
}

void PromptPane::setSelection(TokenSelection *selection)
{
    m_editor->setSelection(selection);
    m_sent->setSelection(selection);
}

QString PromptPane::promptText() const
{
    return m_editor->promptText();
}

void PromptPane::setPromptText(const QString &text)
{
    m_editor->replaceText(text);
}

PromptMode PromptPane::mode() const
{
    return m_chat->isChecked() ? PromptMode::Chat : PromptMode::Raw;
}

void PromptPane::setMode(PromptMode mode)
{
    m_chosenMode = mode;
    (mode == PromptMode::Chat && m_chat->isEnabled() ? m_chat : m_raw)->setChecked(true);
}

QString PromptPane::systemPrompt() const
{
    return m_system->text();
}

void PromptPane::setSystemPrompt(const QString &text)
{
    m_system->setText(text);
}

bool PromptPane::parsesSpecial() const
{
    return m_parseSpecial->isChecked();
}

void PromptPane::setParsesSpecial(bool on)
{
    m_parseSpecial->setChecked(on);
}

void PromptPane::setChatAvailable(bool available, const QString &reason)
{
    m_chat->setEnabled(available);
    m_chat->setToolTip(available ? tr("The text becomes a user message in the model's own chat template.") : reason);
    (available && m_chosenMode == PromptMode::Chat ? m_chat : m_raw)->setChecked(true);
}

void PromptPane::setModelAvailable(bool available, int contextTokens)
{
    m_hasModel = available;
    m_contextTokens = contextTokens;
    if (!available) {
        m_tokens.reset();
        m_sent->clearTokens();
        m_sentCaption->clear();
    }
    updateCounts();
}

void PromptPane::setMaxTokens(int count)
{
    m_maxTokens = count;
    updateCounts();
}

void PromptPane::showNote(const QString &text, const QString &detail)
{
    m_removeBegin->hide();
    m_noteRow->show(); // first: a hidden label does not fit its height
    m_note->showText(detail.isEmpty() ? text : text + QLatin1Char('\n') + detail);
}

// One edit of what the user wrote: in raw mode the text that is sent is the editor's.
void PromptPane::removeSecondBegin()
{
    if (!m_tokens || !m_tokens->prepared.secondBegin || m_tokens->userText != promptText())
        return;
    const PreparedPrompt &prepared = m_tokens->prepared;
    const auto units = [&prepared](std::size_t bytes) {
        return QString::fromUtf8(prepared.text.data(), static_cast<qsizetype>(bytes)).size();
    };
    const qsizetype begin = units(prepared.secondBegin->begin), end = units(prepared.secondBegin->end);
    QString text = m_tokens->userText;
    m_editor->replaceText(text.remove(begin, end - begin));
    m_editor->setFocus();
}

void PromptPane::showTokens(const PromptTokensPtr &tokens)
{
    if (tokens->userText != promptText())
        return;
    m_tokens = tokens;
    showEditedPrompt();
}

void PromptPane::showEditedPrompt()
{
    m_editor->setRunId(0);
    m_editRunPrompt->hide();
    m_noteRow->hide();
    if (!m_tokens) {
        m_sent->clearTokens();
        m_sentCaption->clear();
        m_sentPart->setVisible(mode() == PromptMode::Chat);
        return;
    }
    const PromptTokensPtr tokens = m_tokens;
    if (tokens->error) {
        m_editor->showTokens(tokens->userText, {}, {}, {}, 0, 0);
        m_sent->clearTokens();
        m_sentCaption->clear();
        if (!tokens->userText.isEmpty())
            showNote(errorHeadline(tokens->error->code, ErrorTask::Tokenize),
                     QString::fromStdString(tokens->error->text()));
        updateCounts();
        return;
    }
    const PreparedPrompt &prepared = tokens->prepared;
    // In a chat the typed text is the last user range of the rendered template.
    TextRange own{0, prepared.text.size()};
    if (mode() == PromptMode::Chat)
        own = prepared.userRanges.empty() ? TextRange{} : prepared.userRanges.back();
    m_editor->showTokens(tokens->userText, prepared.text, prepared.tokens, prepared.leftOut, own.begin, own.end);
    showSent(0, tr("Sent to the model: %Ln token(s)", nullptr, static_cast<int>(prepared.tokens.size())), prepared.text,
             prepared.tokens, prepared.leftOut, own.begin);
    m_sentPart->setVisible(m_editor->spans().size() != m_sent->spans().size());
    showPromptNote(*tokens);
    updateCounts();
}

// What is odd about the prompt, a line each.
void PromptPane::showPromptNote(const PromptTokens &tokens)
{
    const std::optional<TextRange> &secondBegin = tokens.prepared.secondBegin;
    QStringList lines;
    if (secondBegin)
        lines << tr("The prompt starts with two begin tokens, which makes answers worse.");
    if (!tokens.prepared.leftOut.empty())
        lines << leftOutHeadline(bytesIn(tokens.prepared.text, tokens.prepared.leftOut));
    if (tokens.replacedCount > 0)
        lines << tr("%n invalid character(s) replaced", nullptr, tokens.replacedCount);
    if (lines.isEmpty())
        return;
    showNote(lines.join(QLatin1Char('\n')));
    // Those of a template cannot be taken out here.
    m_removeBegin->setVisible(mode() == PromptMode::Raw && secondBegin && secondBegin->end > secondBegin->begin);
}

void PromptPane::showSent(int runId, const QString &caption, const std::string &text,
                          const std::vector<TokenRecord> &tokens, const std::vector<TextRange> &leftOut,
                          std::size_t ownBegin)
{
    m_sentRunId = runId;
    m_sentCaption->setText(caption);
    m_sent->showPrompt(runId, text, tokens, leftOut);
    // What the user wrote is what a reader looks for: from the control token before it.
    int first = 0;
    for (std::size_t i = 0; i < tokens.size() && tokens[i].begin < ownBegin; ++i)
        if (tokens[i].isSpecial)
            first = static_cast<int>(i);
    m_sent->scrollToToken(first);
}

bool PromptPane::isPromptOf(const RunRecord &record) const
{
    if (!m_tokens || m_tokens->error)
        return false;
    const auto &own = m_tokens->prepared.tokens, &sent = record.promptTokens;
    return m_tokens->prepared.text == record.promptText && own.size() == sent.size() &&
           std::equal(own.begin(), own.end(), sent.begin(),
                      [](const TokenRecord &a, const TokenRecord &b) { return a.id == b.id; });
}

void PromptPane::showRunPrompt(int runId, const QString &title, std::shared_ptr<const RunRecord> record)
{
    const bool isEdited = isPromptOf(*record);
    m_editor->setRunId(isEdited ? runId : 0);
    const int count = static_cast<int>(record->promptTokens.size());
    QString caption = isEdited
                          ? tr("Sent to the model: %Ln token(s)", nullptr, count)
                          : tr("Prompt of “%1”: %Ln token(s)", nullptr, count).arg(shortened(title, 30)); // one line
    if (record->reusedTokens > 0)
        caption += QStringLiteral(" · ") + tr("%1 reused from the KV cache").arg(formatCount(record->reusedTokens));
    const std::vector<TextRange> leftOut = leftOutRanges(*record);
    if (!isEdited && !leftOut.empty()) // else the note under the editor says it
        caption += QStringLiteral(" · ") + leftOutHeadline(bytesIn(record->promptText, leftOut));
    std::size_t ownBegin = 0;
    if (record->request.kind == PromptKind::Chat && !record->request.messages.empty())
        ownBegin = record->promptText.rfind(record->request.messages.back().content);
    showSent(runId, caption, record->promptText, record->promptTokens, leftOut,
             ownBegin == std::string::npos ? 0 : ownBegin);
    m_editRunPrompt->setVisible(!isEdited);
    m_sentPart->setVisible(!isEdited || record->reusedTokens > 0 || m_editor->spans().size() != m_sent->spans().size());
}

void PromptPane::updateCounts()
{
    PromptCounts counts;
    counts.text = m_editor->promptText();
    if (!m_editor->spans().empty())
        counts.tokens = m_editor->spans().back().lastToken - m_editor->spans().front().firstToken + 1;
    counts.sentTokens = m_tokens ? static_cast<int>(m_tokens->prepared.tokens.size()) : 0;
    counts.hasModel = m_hasModel;
    counts.contextTokens = m_contextTokens;
    counts.maxTokens = m_maxTokens;
    m_counts->showText(promptCountsText(counts, m_theme));
}

} // namespace lectern
