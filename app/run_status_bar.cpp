// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/run_status_bar.h"

#include "app/core/format.h"
#include "widgets/still_label.h"

#include <QLabel>
#include <QProgressBar>

namespace lectern {

RunStatusBar::RunStatusBar(QWidget *parent)
    : QStatusBar(parent)
    , m_theme(Theme::light())
{
    setObjectName(QStringLiteral("statusBar"));
    setSizeGripEnabled(false);
    m_facts = new StillLabel(this);
    m_facts->label()->setObjectName(QStringLiteral("statusFacts"));
    m_facts->setToolTip(
        tr("Context: tokens of prompt and answer against the most the context holds. KV: memory of keys and values "
           "against its budget. It holds one token less than the context: no forward pass has read the last token yet. "
           "Weights: memory of the model."));
    m_facts->label()->setTextFormat(Qt::PlainText);
    m_progress = new QProgressBar(this);
    m_progress->setObjectName(QStringLiteral("loadProgress"));
    m_progress->setTextVisible(false);
    m_progress->setMaximumHeight(fontMetrics().height());
    m_progress->setFixedWidth(fontMetrics().averageCharWidth() * 24);
    m_progress->setAccessibleName(tr("Loading"));
    m_progress->hide();
    m_state = new QLabel(this);
    m_state->setObjectName(QStringLiteral("statusState"));
    addWidget(m_facts, 1);
    addPermanentWidget(m_progress);
    addPermanentWidget(m_state);
}

void RunStatusBar::setTheme(const Theme &theme)
{
    m_theme = theme;
    m_progress->setMaximumHeight(fontMetrics().height());
    m_progress->setFixedWidth(fontMetrics().averageCharWidth() * 24);
    setState(m_sessionState, m_model, m_isDecoding);
}

void RunStatusBar::setState(SessionState state, const LoadedModelPtr &model, bool isDecoding)
{
    m_sessionState = state;
    m_model = model;
    m_isDecoding = isDecoding;
    m_progress->setVisible(state == SessionState::Loading);
    QString text;
    QColor color = m_theme.mutedText;
    switch (state) {
    case SessionState::NoModel:
        text = tr("no model");
        break;
    case SessionState::Loading:
        text = tr("loading");
        color = m_theme.accent;
        m_progress->setRange(0, 0);
        break;
    case SessionState::Ready:
        text = tr("ready");
        break;
    case SessionState::Running: {
        text = isDecoding ? tr("running · decode") : tr("running · prefill");
        color = isDecoding ? m_theme.decodeColor : m_theme.prefillColor;
        break;
    }
    case SessionState::Paused:
        text = tr("paused · F10 for the next token");
        color = m_theme.accent;
        break;
    case SessionState::Stopping:
        text = tr("stopping");
        break;
    }
    m_state->setText(QStringLiteral("<b style='color:%1'>%2</b>").arg(color.name(), text));
    updateFacts();
}

void RunStatusBar::setLoadProgress(LoadPhase phase, quint64 doneBytes, quint64 totalBytes)
{
    if (totalBytes > 0) {
        m_progress->setRange(0, 1000);
        m_progress->setValue(
            static_cast<int>(1000.0 * static_cast<double>(doneBytes) / static_cast<double>(totalBytes)));
    }
    QString text = tr("loading");
    if (phase == LoadPhase::Weights && totalBytes > 0)
        text = tr("loading weights: %1 of %2").arg(formatBytes(doneBytes), formatBytes(totalBytes));
    else if (phase == LoadPhase::Tokenizer)
        text = tr("loading vocabulary");
    m_state->setText(QStringLiteral("<b style='color:%1'>%2</b>").arg(m_theme.accent.name(), text));
}

void RunStatusBar::setRun(std::shared_ptr<const RunRecord> run)
{
    m_run = std::move(run);
    updateFacts();
}

void RunStatusBar::setProblemCount(int count)
{
    m_problems = count;
    updateFacts();
}

void RunStatusBar::updateFacts()
{
    QStringList parts;
    const EngineInfo *engine = m_run ? &m_run->engine : m_model ? &m_model->engine : nullptr;
    if (engine) {
        const bool isRecorded = !m_run || !m_run->kv.empty(); // without a run nothing is held
        const KvSample held = m_run && isRecorded ? m_run->kv.back() : KvSample{};
        const int used = m_run && !m_run->outputTokens.empty()
                             ? static_cast<int>(m_run->promptTokens.size() + m_run->outputTokens.size())
                             : held.tokens;
        const QString kv = isRecorded ? formatBytes(held.usedBytes) : formatNumber(std::nullopt);
        parts << tr("context %1 / %2").arg(formatCount(used), formatCount(engine->contextTokens));
        parts << tr("KV %1 of %2").arg(kv, formatBytes(engine->kvBudgetBytes));
        parts << tr("weights %1").arg(formatBytes(engine->weightBytes));
        parts << QStringLiteral("%1 · %2").arg(backendName(engine->backend),
                                               QString::fromStdString(engine->instructionSet));
        parts << tr("%n thread(s)", nullptr, engine->threads);
    }
    if (m_problems > 0)
        parts << tr("problems %1").arg(m_problems);
    m_facts->setText(parts.join(QStringLiteral("  ·  ")));
}

} // namespace lectern
