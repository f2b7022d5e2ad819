// SPDX-License-Identifier: GPL-3.0-or-later
// MainWindow: what the panes show.
#include "app/main_window.h"

#include "app/run_status_bar.h"
#include "app/run_toolbar.h"
#include "app/window_layout.h"
#include "widgets/answer_pane.h"
#include "widgets/message_bar.h"
#include "widgets/metric_strip.h"
#include "widgets/model_offer.h"
#include "widgets/prompt_pane.h"
#include "widgets/run_chart.h"
#include "widgets/runs_view.h"

#include <QAction>
#include <QApplication>
#include <QFileInfo>

namespace lectern {

void MainWindow::setTheme(ThemeChoice choice, bool projector)
{
    m_themeChoice = choice;
    m_theme = Theme::forChoice(choice, projector);
    const QSignalBlocker blocker(m_projectorAction);
    m_projectorAction->setChecked(projector);
    applyTheme(*qApp, m_theme);
    m_toolBar->setTheme(m_theme);
    m_messages->setTheme(m_theme);
    m_prompt->setTheme(m_theme);
    m_answer->setTheme(m_theme);
    m_offer->setTheme(m_theme);
    m_runsView->setTheme(m_theme);
    m_runsView->setMinimumHeight(fontMetrics().lineSpacing() * 9 / 2); // names, a row and a bar to scroll with
    m_runsTitle->setFont(paneTitleFont(QApplication::font()));
    m_status->setTheme(m_theme);
    for (const NamedChart &chart : m_charts)
        chart.chart->setTheme(m_theme);
}

// Large text needs another division of the window; with the small one that of before comes back.
void MainWindow::switchProjector(bool isOn)
{
    if (isOn)
        m_layoutBeforeProjector = m_layout->save();
    setTheme(m_themeChoice, isOn);
    if (isOn)
        m_layout->applyDefault();
    else if (!m_layout->restore(m_layoutBeforeProjector)) // there was none: Lectern started in this mode
        m_layout->applyDefault();
}

void MainWindow::updateState()
{
    const RunEntry *running = m_store.find(m_session->runningId());
    const RunEntry *shown = m_store.current();
    m_toolBar->setState(m_session->state(), m_session->model(), m_session->modelPath());
    m_status->setRun(shown ? shown->record : nullptr);
    m_status->setState(m_session->state(), m_session->model(), running && running->record->state == RunState::Decode);
    updateOffer();
    const QString name = QFileInfo(m_session->modelPath()).fileName();
    setWindowTitle(name.isEmpty() ? tr("Lectern") : tr("%1 – Lectern").arg(name));
}

void MainWindow::showPromptTokens(const PromptTokensPtr &tokens)
{
    m_prompt->showTokens(tokens);
    // The shown run may have been sent with these very tokens: then they are its tokens too. And beside an empty editor
    // the prompt of the shown run says more.
    const RunEntry *run = m_store.current();
    if (run && (m_prompt->isPromptOf(*run->record) || m_prompt->promptText().isEmpty()))
        m_prompt->showRunPrompt(run->id, run->title, run->record);
}

void MainWindow::showCurrentRun()
{
    m_shownPromptRun = 0;
    const RunEntry *run = m_store.current();
    m_answer->showRun(run ? run->id : 0, run ? run->record : nullptr);
    if (!run || run->record->promptTokens.empty())
        m_prompt->showEditedPrompt();
    if (run) {
        updateRun(run->id);
    } else {
        m_metrics->clear();
        m_status->setRun(nullptr);
    }
    updateCharts();
    updateOffer();
}

// For the run that grew, in every frame that shows its figures too; its text has been shown by then.
void MainWindow::updateRun(int runId)
{
    const RunEntry *run = m_store.find(runId);
    if (!run)
        return;
    m_grownRun = runId;
    m_chartsBehind = m_charts.size();
    m_session->frameClock()->request();
    if (runId == m_session->runningId())
        m_status->setState(m_session->state(), m_session->model(), run->record->state == RunState::Decode);
    if (runId != m_store.currentId())
        return;
    m_answer->updateFooter();
    m_metrics->setMetrics(run->metrics->now());
    m_status->setRun(run->record);
    // The pane below the editor shows what was sent, as soon as it is known.
    if (m_shownPromptRun != runId && !run->record->promptTokens.empty()) {
        m_shownPromptRun = runId;
        m_prompt->showRunPrompt(runId, run->title, run->record);
    }
}

// One chart a frame: all three would make it longer than 12 ms. In turn, whatever grows meanwhile: where every second
// frame brings a token, the last of them would never get its frame. They appear together when a run begins.
void MainWindow::updateNextChart()
{
    if (m_chartsBehind == 0)
        return;
    const RunEntry *run = m_store.find(m_grownRun);
    const bool isBeginning = run && run->record->outputTokens.empty();
    do {
        m_charts[m_nextChart].chart->updateRun(m_grownRun);
        m_nextChart = (m_nextChart + 1) % m_charts.size();
    } while (--m_chartsBehind > 0 && isBeginning);
    if (m_chartsBehind > 0)
        m_session->frameClock()->request();
}

void MainWindow::updateCharts()
{
    m_chartsBehind = 0;
    QVector<ShownRun> shown;
    for (const RunEntry &run : m_store.runs())
        if (run.isOverlaid || run.id == m_store.currentId())
            shown.push_back({run.id, run.title, run.record, run.style, run.id == m_store.currentId(), run.metrics});
    for (const NamedChart &chart : m_charts)
        chart.chart->setRuns(shown);
}

} // namespace lectern
