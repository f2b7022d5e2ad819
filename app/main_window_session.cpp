// SPDX-License-Identifier: GPL-3.0-or-later
// MainWindow: opening files, and what follows from the session's signals.
#include "app/main_window.h"

#include "app/core/file_path.h"
#include "app/export_actions.h"
#include "app/run_status_bar.h"
#include "app/run_toolbar.h"
#include "engine/trace/run_json.h"
#include "widgets/answer_pane.h"
#include "widgets/message_bar.h"
#include "widgets/prompt_edit.h"
#include "widgets/prompt_pane.h"
#include "widgets/runs_view.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QFuture>
#include <QtConcurrent>

namespace lectern {

namespace {

// Of a run that was saved without a title.
QString titleOfFile(const QString &path)
{
    const QString name = QFileInfo(path).fileName();
    const QString suffix = QStringLiteral(".lectern.json");
    return name.size() > suffix.size() && name.endsWith(suffix, Qt::CaseInsensitive)
               ? name.chopped(suffix.size())
               : QFileInfo(path).completeBaseName();
}

} // namespace

void MainWindow::connectSession()
{
    connect(m_session, &SessionController::stateChanged, this, [this](SessionState state) {
        if (state != SessionState::Loading && !m_settings->loadingModel().isEmpty())
            m_settings->setLoadingModel({});
        updateState();
    });
    connect(m_session, &SessionController::modelChanged, this, &MainWindow::takeModel);
    connect(m_session, &SessionController::loadProgressed, m_status, &RunStatusBar::setLoadProgress);
    connect(m_session, &SessionController::loadFailed, this, [this](const QString &path, const Error &error) {
        m_settings->forgetRecent(path);
        // Memory and settings apart, the file that is pinned loads: this is another one.
        if (path == m_fetch->destination() && error.code != ErrorCode::OutOfMemory &&
            error.code != ErrorCode::InvalidInput)
            m_isFetchedModelDamaged = true;
        showError(error, ErrorTask::LoadModel);
        updateOffer();
        Q_EMIT openFailed(error);
        Q_EMIT loadEnded(false);
        endOpening();
    });
    connect(m_session, &SessionController::runEnded, this, &MainWindow::finishRun);
    connect(&m_store, &RunStore::runGrew, this, [this](int id) {
        if (id == m_store.currentId())
            m_answer->appendNew();
    });
    connect(&m_store, &RunStore::runChanged, this, &MainWindow::updateRun);
    connect(m_session->frameClock(), &FrameClock::frame, this, &MainWindow::updateNextChart);
    connect(&m_store, &RunStore::currentChanged, this, &MainWindow::showCurrentRun);
    connect(&m_store, &RunStore::runEdited, this, [this](int id) {
        updateRun(id); // its name stands above its prompt
        updateCharts();
    });
    connect(&m_store, &RunStore::runRemoved, this, &MainWindow::updateCharts);
    connect(m_tokenizer, &PromptTokenizer::ready, this, &MainWindow::showPromptTokens);
    connect(m_prompt, &PromptPane::edited, this, &MainWindow::requestTokens);
    connect(m_prompt, &PromptPane::modeChosen, m_settings, &Settings::setPromptMode);
    connect(m_prompt, &PromptPane::parsesSpecialChosen, m_settings, &Settings::setParsesSpecial);
    connect(m_toolBar, &RunToolBar::maxTokensChanged, m_prompt, &PromptPane::setMaxTokens);
    connect(m_prompt, &PromptPane::fileDropped, this, &MainWindow::openFile);
    connect(m_prompt, &PromptPane::editRunPromptRequested, this, &MainWindow::editPromptOf);
    connect(m_answer, &AnswerPane::lensChanged, this, [this](AnswerLens lens) {
        if (!m_appliesCommandLine)
            m_settings->setAnswerLens(lens);
    });
    connect(m_runsView, &RunsView::removeRequested, this, &MainWindow::removeRun);
    connect(m_runsView, &RunsView::saveRequested, m_exports, &ExportActions::saveRunAs);
    connect(m_exports, &ExportActions::exported, this,
            [this](const QString &text) { m_messages->showMessage(MessageBar::Kind::Info, text); });
    connect(m_exports, &ExportActions::progressed, this, [this](const QString &text, bool canCancel) {
        m_exportProgress = text;
        m_messages->showProgress(text, canCancel ? tr("Cancel") : QString(), [this] { m_exports->cancel(); });
    });
    connect(m_exports, &ExportActions::ended, this, [this] {
        if (!m_exportProgress.isEmpty() && m_messages->text() == m_exportProgress)
            m_messages->dismiss();
        m_exportProgress.clear();
    });
    connect(m_exports, &ExportActions::failed, this,
            [this](const std::vector<Error> &errors) { showErrors(errors, ErrorTask::Export); });
    connect(m_toolBar, &RunToolBar::loadOptionsChanged, this, [this] {
        m_loadOptions.backend = m_toolBar->backend();
        m_loadOptions.contextTokens = m_toolBar->contextTokens();
        m_loadOptions.takesLessContext = true;
        if (!m_session->modelPath().isEmpty())
            loadModel(m_session->modelPath());
    });
}

void MainWindow::takeModel()
{
    const LoadedModelPtr model = m_session->model();
    m_tokenizer->setModel(model);
    m_prompt->setModelAvailable(model != nullptr, model ? model->engine.contextTokens : 0);
    if (model) {
        m_prompt->setChatAvailable(model->chatTemplate != nullptr,
                                   model->chatTemplateProblem.empty()
                                       ? tr("This model's file has no chat template.")
                                       : QString::fromStdString(model->chatTemplateProblem));
        m_settings->addRecentModel(m_session->modelPath());
        showModelWarnings();
        requestTokens();
        if (m_answer->isOffered() || !focusWidget())
            m_prompt->editor()->setFocus(); // what comes next
        Q_EMIT loadEnded(true);
    }
    updateState();
    if (model)
        endOpening();
}

void MainWindow::openAtStart(const CommandLine &line)
{
    m_appliesCommandLine = true; // holds for this start, not for the next
    m_toolBar->setRemembers(false);
    m_loadOptions = line.load;
    m_loadOptions.hashesFile = true; // a saved run says which file it was
    if (line.load.backend == BackendChoice::Auto)
        m_loadOptions.backend = m_toolBar->backend();
    else
        m_toolBar->setBackend(line.load.backend);
    if (line.contextTokens)
        m_toolBar->setContextTokens(*line.contextTokens);
    m_loadOptions.contextTokens = m_toolBar->contextTokens();
    m_loadOptions.takesLessContext = !line.contextTokens; // remembered from another model, perhaps
    if (line.maxTokens)
        m_toolBar->setMaxTokens(*line.maxTokens);
    SamplingParams sampling = m_toolBar->sampling();
    sampling.temperature = line.temperature.value_or(sampling.temperature);
    sampling.seed = line.seed.value_or(sampling.seed);
    m_toolBar->setSampling(sampling);
    if (line.usesKvCache)
        m_toolBar->setUsesKvCache(*line.usesKvCache);
    if (line.promptMode)
        m_prompt->setMode(*line.promptMode);
    if (line.lens)
        m_answer->setLens(*line.lens);
    if (!line.systemPrompt.isEmpty())
        m_prompt->setSystemPrompt(line.systemPrompt);
    if (line.prompt)
        setPrompt(*line.prompt);
    m_toolBar->setRemembers(true);
    m_appliesCommandLine = false;

    if (line.overlaysRuns)
        connect(&m_store, &RunStore::runAdded, this, [this](int id) { m_store.setOverlaid(id, true); });
    for (const QString &file : line.files)
        openFile(file);
    if (!line.model.isEmpty())
        loadModel(line.model);
    else if (m_session->state() == SessionState::NoModel)
        loadLastModel();
    m_hasStarted = true;
    updateOffer();
}

void MainWindow::openFile(const QString &path)
{
    QFile file(path);
    // A pipe or device would block here; the engine refuses it by name.
    const bool isModel = QFileInfo(path).isFile() && file.open(QIODevice::ReadOnly) && file.peek(4) == "GGUF";
    file.close();
    if (isModel || path.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive)) {
        loadModel(path);
        return;
    }
    // A long run is megabytes of JSON: read and checked in the background.
    using Opened = std::shared_ptr<Result<RunRecord>>;
    const QString absolute = QFileInfo(path).absoluteFilePath();
    ++m_runsBeingOpened;
    QtConcurrent::run(&m_opener, [absolute] {
        return std::make_shared<Result<RunRecord>>(loadRun(toFilePath(absolute)));
    }).then(this, [this, absolute](const Opened &opened) {
        --m_runsBeingOpened;
        takeOpenedRun(absolute, *opened);
        endOpening();
    });
}

void MainWindow::takeOpenedRun(const QString &path, Result<RunRecord> &opened)
{
    if (!opened) {
        m_settings->forgetRecent(path);
        showError(opened.error(), ErrorTask::OpenRun);
        Q_EMIT openFailed(opened.error());
        return;
    }
    const QString title =
        opened->request.title.empty() ? titleOfFile(path) : QString::fromStdString(opened->request.title);
    m_settings->addRecentRun(path);
    m_store.add(std::make_shared<RunRecord>(std::move(*opened)), title, path);
}

void MainWindow::loadModel(const QString &path)
{
    if (m_session->state() != SessionState::NoModel || m_runsBeingOpened == 0)
        m_messages->dismiss();
    const QString absolute = QFileInfo(path).absoluteFilePath();
    m_settings->setLoadingModel(absolute);
    m_session->loadModel(absolute, m_loadOptions);
}

void MainWindow::stopLoading()
{
    const QString path = m_session->modelPath();
    m_session->cancelLoad();
    m_messages->showMessage(MessageBar::Kind::Info, tr("Loading was stopped. No model is loaded."), tr("Load it"),
                            [this, path] { loadModel(path); });
    endOpening();
}

bool MainWindow::isOpening() const
{
    return m_runsBeingOpened > 0 || m_session->state() == SessionState::Loading;
}

void MainWindow::endOpening()
{
    if (!isOpening())
        Q_EMIT openingEnded();
}

void MainWindow::editPromptOf(int runId)
{
    const RunEntry *run = m_store.find(runId);
    if (!run)
        return;
    const Request &request = run->record->request;
    if (request.kind != PromptKind::Chat) {
        m_prompt->setMode(PromptMode::Raw);
        m_prompt->setParsesSpecial(request.parseSpecial);
        m_prompt->setPromptText(QString::fromStdString(request.text));
        return;
    }
    m_prompt->setMode(PromptMode::Chat);
    const bool hasSystem = !request.messages.empty() && request.messages.front().role == "system";
    m_prompt->setSystemPrompt(hasSystem ? QString::fromStdString(request.messages.front().content) : QString());
    if (!request.messages.empty())
        m_prompt->setPromptText(QString::fromStdString(request.messages.back().content));
}

} // namespace lectern
