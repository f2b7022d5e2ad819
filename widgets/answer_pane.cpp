// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/answer_pane.h"

#include "app/core/format.h"
#include "app/core/metric_text.h"
#include "widgets/still_label.h"
#include "widgets/token_view.h"

#include <QApplication>
#include <QButtonGroup>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

namespace lectern {

namespace {

// As wide as its content, and scrolled up and down where the window is small and the text large.
class OfferArea : public QScrollArea
{
public:
    explicit OfferArea(QWidget *parent)
        : QScrollArea(parent)
    {
        setFrameShape(QFrame::NoFrame);
        setWidgetResizable(true);
        setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        viewport()->setAutoFillBackground(false);
    }

    QSize minimumSizeHint() const override
    {
        const int width = widget() ? widget()->minimumSizeHint().width() : 0;
        return {width + verticalScrollBar()->sizeHint().width(), fontMetrics().lineSpacing()};
    }
};

} // namespace

AnswerPane::AnswerPane(QWidget *parent)
    : QFrame(parent)
{
    setObjectName(QStringLiteral("answerPane"));
    setProperty("card", true);
    m_title = new QLabel(tr("ANSWER"), this);
    m_title->setFont(paneTitleFont(font()));
    m_title->setProperty("muted", true);

    auto *header = new QHBoxLayout;
    header->setSpacing(2);
    header->addWidget(m_title);
    header->addStretch(1);
    m_lenses = new QButtonGroup(this);
    const auto addLens = [&](AnswerLens lens, const QString &text, const QString &toolTip) {
        auto *button = new QToolButton(this);
        button->setText(text);
        button->setToolTip(toolTip);
        button->setAccessibleName(tr("Lens: %1").arg(text));
        button->setObjectName(QStringLiteral("lens%1").arg(static_cast<int>(lens)));
        button->setCheckable(true);
        button->setAutoRaise(true);
        button->setProperty("segment", true);
        m_lenses->addButton(button, static_cast<int>(lens));
        header->addWidget(button);
    };
    addLens(AnswerLens::Plain, tr("Plain"), tr("The text alone."));
    addLens(AnswerLens::Tokens, tr("Tokens"), tr("One box for each token, special tokens by name."));
    addLens(AnswerLens::Latency, tr("Latency"),
            tr("The longer a token's step took, the darker its box and the thicker its line."));
    addLens(AnswerLens::Probability, tr("Probability"),
            tr("The less sure the model was of a token, the darker its box and the thicker its line."));

    m_view = new TokenView({}, this);
    m_view->setObjectName(QStringLiteral("answerView"));
    m_view->setAccessibleName(tr("Answer"));
    m_lenses->button(static_cast<int>(m_view->lens()))->setChecked(true);

    m_footer = new StillLabel(this);
    m_footer->label()->setObjectName(QStringLiteral("answerFooter"));
    m_footer->label()->setTextFormat(Qt::PlainText);
    m_footer->label()->setProperty("muted", true);
    m_footer->label()->setWordWrap(true); // a long outcome must not widen the pane

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 6, 12, 8);
    layout->setSpacing(4);
    layout->addLayout(header);
    m_pages = new QStackedLayout;
    m_pages->addWidget(m_view);
    layout->addLayout(m_pages, 1);
    layout->addWidget(m_footer);

    connect(m_lenses, &QButtonGroup::idToggled, this, [this](int id, bool checked) {
        if (!checked)
            return;
        m_view->setLens(static_cast<AnswerLens>(id));
        Q_EMIT lensChanged(static_cast<AnswerLens>(id));
        updateFooter();
    });
    updateFooter();
}

void AnswerPane::setTheme(const Theme &theme)
{
    m_title->setFont(paneTitleFont(QApplication::font()));
    m_view->setTheme(theme);
    m_view->setMinimumHeight(m_view->fontMetrics().lineSpacing() * 3 / 2);
}

void AnswerPane::setSelection(TokenSelection *selection)
{
    m_view->setSelection(selection);
}

AnswerLens AnswerPane::lens() const
{
    return m_view->lens();
}

void AnswerPane::setLens(AnswerLens lens)
{
    m_lenses->button(static_cast<int>(lens))->setChecked(true);
}

void AnswerPane::addOffer(QWidget *offer)
{
    auto *scroller = new OfferArea(this);
    scroller->setWidget(offer);
    offer->setAutoFillBackground(false);
    m_pages->addWidget(scroller);
}

bool AnswerPane::isOffered() const
{
    return m_pages->currentIndex() == 1;
}

void AnswerPane::setOffered(bool isOffered)
{
    m_pages->setCurrentIndex(isOffered ? 1 : 0);
    for (QAbstractButton *button : m_lenses->buttons())
        button->setVisible(!isOffered); // there is no answer to look at
}

void AnswerPane::showRun(int runId, std::shared_ptr<const RunRecord> record)
{
    m_record = std::move(record);
    if (m_record)
        m_view->showAnswer(runId, m_record);
    else
        m_view->clearTokens();
    updateFooter();
}

void AnswerPane::appendNew()
{
    m_view->appendNew();
}

void AnswerPane::updateFooter()
{
    const bool isReading = m_record && m_record->outputTokens.empty() &&
                           (m_record->state == RunState::Queued || m_record->state == RunState::Prefill);
    m_view->setPlaceholderText(isReading ? tr("The model reads the prompt (prefill). The first token comes once all of "
                                              "the prompt has been computed.")
                                         : tr("The answer streams in here, token by token. Press Run."));
    if (!m_record) {
        m_footer->setText({});
        return;
    }
    const auto &output = m_record->outputTokens;
    QStringList parts;
    if (m_record->state == RunState::Prefill && output.empty() && !m_record->promptTokens.empty()) {
        const int done = m_record->prefillChunks.empty() ? m_record->reusedTokens : m_record->prefillChunks.back().to;
        parts << tr("prefill: %1 of %2 prompt tokens")
                     .arg(formatCount(done), formatCount(static_cast<int>(m_record->promptTokens.size())));
    } else {
        parts << tr("%1 of max %2 tokens", "answer tokens so far, longest answer")
                     .arg(formatCount(static_cast<int>(output.size())), formatCount(m_record->request.maxTokens));
    }
    if (!output.empty()) {
        parts << tr("step %1").arg(formatDuration(static_cast<double>(output.back().stepNs)));
        parts << tr("KV %1", "tokens in the KV cache").arg(formatCount(output.back().kvTokens));
    }
    if (m_record->state == RunState::Finished || m_record->state == RunState::Failed) {
        QString outcome = outcomeText(*m_record);
        if (m_record->error)
            outcome += QStringLiteral(": ") + QString::fromStdString(m_record->error->text());
        parts << outcome;
    }
    if (!output.empty() && lens() == AnswerLens::Latency)
        parts << tr("faint = typical step … strong = twice as long");
    if (!output.empty() && lens() == AnswerLens::Probability)
        parts << tr("faint = sure … strong = unsure", "of a token");
    m_footer->setText(parts.join(QStringLiteral(" · ")));
}

} // namespace lectern
