// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/main_window.h"

#include "app/core/prompt_text.h"
#include "app/export_actions.h"
#include "app/run_status_bar.h"
#include "app/run_toolbar.h"
#include "app/window_layout.h"
#include "widgets/answer_pane.h"
#include "widgets/kv_chart.h"
#include "widgets/latency_chart.h"
#include "widgets/message_bar.h"
#include "widgets/metric_strip.h"
#include "widgets/prompt_edit.h"
#include "widgets/prompt_pane.h"
#include "widgets/runs_view.h"
#include "widgets/timeline_chart.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QDockWidget>
#include <QLabel>
#include <QMenuBar>
#include <QMimeData>
#include <QVBoxLayout>

namespace lectern {

MainWindow::MainWindow(Settings *settings, std::unique_ptr<EngineDriver> driver, FetchTool fetchTool)
    : m_settings(settings)
    , m_session(new SessionController(&m_store, std::move(driver), this))
    , m_tokenizer(new PromptTokenizer(this))
    , m_fetch(new ModelFetch(std::move(fetchTool), this))
{
    setObjectName(QStringLiteral("mainWindow"));
    setAcceptDrops(true);
    m_opener.setMaxThreadCount(1);
    setContentsMargins(6, 0, 6, 0);
    resize(1280, 800);
    buildPanes();
    buildOffer();
    buildMenus();
    connectSession();
    setTheme(settings->theme(), settings->isProjector());
    m_prompt->setMode(settings->promptMode());
    m_prompt->setParsesSpecial(settings->parsesSpecial());
    m_prompt->setMaxTokens(m_toolBar->maxTokens());
    m_prompt->setSystemPrompt(settings->systemPrompt());
    m_answer->setLens(settings->answerLens());
    m_layout->setLocked(true);
    m_layout->applyDefault();
    if (!settings->windowGeometry().isEmpty())
        restoreGeometry(settings->windowGeometry());
    if (!m_layout->restore(settings->windowLayout()))
        m_layout->applyDefault();
    m_prompt->editor()->setFocus();
    updateState();
}

MainWindow::~MainWindow()
{
    // The worker goes first: nothing may arrive while panes are being taken down.
    delete m_session;
    m_session = nullptr;
    m_settings->setLoadingModel({}); // closed by the user, not ended by the file
    // Then the panes: they look at the store and the selection, which are members.
    qDeleteAll(findChildren<QDockWidget *>());
}

void MainWindow::buildPanes()
{
    m_layout = new WindowLayout(this);
    m_toolBar = new RunToolBar(m_settings, this);
    m_status = new RunStatusBar(this);
    setStatusBar(m_status);
    m_messages = new MessageBar(this);
    m_messages->setObjectName(QStringLiteral("messageBar"));
    m_messages->setFloor(m_status);
    auto *head = new QWidget(this);
    auto *headLayout = new QVBoxLayout(head);
    headLayout->setContentsMargins(0, 0, 0, 6);
    headLayout->setSpacing(0);
    m_menuBar = new QMenuBar(head);
    headLayout->addWidget(m_menuBar);
    headLayout->addWidget(m_toolBar);
    setMenuWidget(head);

    m_prompt = new PromptPane(this);
    m_answer = new AnswerPane(this);
    auto *timeline = new TimelineChart(this);
    m_metrics = new MetricStrip(this);
    auto *kv = new KvChart(this);
    auto *latency = new LatencyChart(this);
    m_runsView = new RunsView(&m_store, this);

    auto *timelinePane = new QFrame(this);
    timelinePane->setProperty("card", true);
    timeline->setProperty("card", false);
    auto *timelineLayout = new QVBoxLayout(timelinePane);
    timelineLayout->setContentsMargins(0, 0, 0, 6);
    timelineLayout->setSpacing(0);
    timelineLayout->addWidget(timeline, 1);
    m_metrics->setContentsMargins(12, 0, 12, 0);
    timelineLayout->addWidget(m_metrics);

    auto *runsPane = new QFrame(this);
    runsPane->setProperty("card", true);
    m_runsTitle = new QLabel(tr("RUNS"), runsPane);
    m_runsTitle->setProperty("muted", true);
    auto *runsLayout = new QVBoxLayout(runsPane);
    runsLayout->setContentsMargins(12, 6, 12, 6);
    runsLayout->setSpacing(2);
    runsLayout->addWidget(m_runsTitle);
    runsLayout->addWidget(m_runsView, 1);

    m_charts = {
        {QStringLiteral("timeline"), timeline}, {QStringLiteral("kv-cache"), kv}, {QStringLiteral("latency"), latency}};
    for (const NamedChart &chart : m_charts)
        chart.chart->setSelection(&m_selection);
    m_prompt->setSelection(&m_selection);
    m_answer->setSelection(&m_selection);

    m_layout->addPane(QStringLiteral("prompt"), tr("Prompt"), m_prompt);
    m_layout->addPane(QStringLiteral("answer"), tr("Answer"), m_answer);
    m_layout->addPane(QStringLiteral("timeline"), tr("Prefill / decode"), timelinePane);
    m_layout->addPane(QStringLiteral("kv"), tr("KV cache"), kv);
    m_layout->addPane(QStringLiteral("latency"), tr("Latency per token"), latency);
    m_layout->addPane(QStringLiteral("runs"), tr("Runs"), runsPane);
    m_exports = new ExportActions(&m_store, m_settings, m_charts, this);
}

void MainWindow::setPrompt(const QString &text)
{
    m_prompt->setPromptText(text);
}

// The first words of the prompt, until the user gives the run a name of its own. What sets runs of one prompt apart
// comes first: the end of a name may be cut.
QString MainWindow::runTitle() const
{
    constexpr int kLongest = 60;
    QString line = m_prompt->promptText().simplified();
    if (line.size() > kLongest)
        line = line.left(kLongest - 1) + QChar(0x2026);
    return m_toolBar->usesKvCache() ? line : tr("no KV cache: %1", "name of a run").arg(line);
}

Request MainWindow::currentRequest() const
{
    Request request;
    const std::string text = toPromptUtf8(m_prompt->promptText()).text;
    if (m_prompt->mode() == PromptMode::Chat) {
        request.kind = PromptKind::Chat;
        if (!m_prompt->systemPrompt().isEmpty())
            request.messages.push_back({"system", toPromptUtf8(m_prompt->systemPrompt()).text});
        request.messages.push_back({"user", text});
    } else {
        request.kind = PromptKind::Text;
        request.text = text;
        request.parseSpecial = m_prompt->parsesSpecial();
    }
    request.title = runTitle().toStdString();
    request.sampling = m_toolBar->sampling();
    request.maxTokens = m_toolBar->maxTokens();
    request.cache = m_toolBar->usesKvCache() ? CacheMode::Kv : CacheMode::None;
    request.reusesPrefix = m_toolBar->reusesPrefix();
    return request;
}

void MainWindow::requestTokens()
{
    if (!m_appliesCommandLine)
        m_settings->setSystemPrompt(m_prompt->systemPrompt());
    m_shownPromptRun = m_store.currentId(); // from now on the pane shows the edited prompt
    m_tokenizer->request(m_prompt->promptText(), currentRequest());
}

bool MainWindow::isPromptReady()
{
    // A begin token is something to evaluate, an empty message of a chat is not worth a run.
    const bool addsBegin = m_prompt->mode() == PromptMode::Raw && m_session->model() &&
                           m_session->model()->tokenizer->vocabulary().addsBos;
    if (m_prompt->promptText().isEmpty() && !addsBegin) {
        m_messages->showMessage(MessageBar::Kind::Warning,
                                tr("Nothing to evaluate: the prompt is empty. Type one, or choose one under Samples."));
        m_prompt->editor()->setFocus();
        Q_EMIT runEnded(0);
        return false;
    }
    m_messages->dismiss();
    return true;
}

void MainWindow::startRun()
{
    if (m_session->state() == SessionState::Paused)
        m_session->resume();
    else if (m_session->state() == SessionState::Ready && isPromptReady())
        m_session->run(currentRequest(), runTitle());
}

void MainWindow::stepRun()
{
    const bool isPaused = m_session->state() == SessionState::Paused;
    if (isPaused || (m_session->state() == SessionState::Ready && isPromptReady()))
        m_session->step(currentRequest(), runTitle());
}

void MainWindow::finishRun(int runId)
{
    updateRun(runId);
    const RunEntry *run = m_store.find(runId);
    if (run && run->record->error)
        showError(*run->record->error, ErrorTask::Run);
    // The session takes the row of a run that was refused before its first pass away again.
    const bool wasRefused = !run || (run->record->state == RunState::Failed && run->record->prefillChunks.empty());
    Q_EMIT runEnded(wasRefused ? 0 : runId);
}

QString MainWindow::messageText() const
{
    const QString text = m_messages->detail().isEmpty() ? m_messages->text() : m_messages->detail();
    if (!text.isEmpty() || m_session->state() != SessionState::NoModel)
        return text;
    return tr("There is no model: give one with --model FILE, or have SmolLM2-135M-Instruct brought to %1, by the "
              "window or in the source tree by packaging/run.sh.")
        .arg(QDir::toNativeSeparators(m_fetch->destination()));
}

void MainWindow::resetLayout(const QSize &size)
{
    resize(size);
    m_layout->applyDefault();
}

void MainWindow::showError(const Error &error, ErrorTask task)
{
    showErrors({error}, task);
}

void MainWindow::showErrors(const std::vector<Error> &errors, ErrorTask task)
{
    QStringList headlines, details;
    for (const Error &error : errors) {
        headlines << errorHeadline(error.code, task);
        details << QString::fromStdString(error.text());
    }
    headlines.removeDuplicates();
    m_problemCount += static_cast<int>(errors.size());
    m_status->setProblemCount(m_problemCount);
    m_messages->showProblem(MessageBar::Kind::Error, headlines.join(QLatin1Char('\n')),
                            details.join(QLatin1Char('\n')));
}

void MainWindow::showModelWarnings()
{
    QStringList headlines, details;
    for (const FileWarning &warning : m_session->model()->warnings) {
        if (!isWorthAMessage(warning.kind))
            continue; // the chooser's tooltip has all
        headlines << warningHeadline(warning.kind);
        details << QString::fromStdString(warning.text);
    }
    if (!headlines.isEmpty())
        m_messages->showProblem(MessageBar::Kind::Warning, headlines.join(QLatin1Char(' ')),
                                details.join(QStringLiteral("; ")));
}

void MainWindow::removeRun(int runId)
{
    const RunEntry *run = m_store.find(runId);
    if (!run)
        return;
    if (runId == m_session->runningId()) {
        m_messages->showMessage(MessageBar::Kind::Info, tr("This run goes on. Stop it before deleting it."));
        return;
    }
    const QString title = run->title;
    m_store.remove(runId);
    m_messages->showMessage(MessageBar::Kind::Info, tr("Run “%1” deleted.").arg(title), tr("Undo"),
                            [this] { m_store.restoreLast(); });
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    m_settings->setWindow(saveGeometry(), m_layout->save());
    QMainWindow::closeEvent(event);
}

void MainWindow::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::WindowStateChange)
        m_session->frameClock()->setIntervalMs(isMinimized() ? 500 : FrameClock::kFrameMs);
    QMainWindow::changeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent *event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    if (!urls.isEmpty() && urls.constFirst().isLocalFile())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent *event)
{
    for (const QUrl &url : event->mimeData()->urls())
        if (url.isLocalFile())
            openFile(url.toLocalFile());
    event->acceptProposedAction();
}

} // namespace lectern
