// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/session_controller.h"

#include "engine/base/cpu_features.h"

#include <QThread>

#include <semaphore>
#include <utility>

namespace lectern {

namespace {

// Owns the worker, so that the engine goes in the thread that it worked in.
class EngineThread final : public QThread
{
public:
    explicit EngineThread(EngineWorker *worker)
        : m_worker(worker)
    {
        worker->moveToThread(this);
        setObjectName(QStringLiteral("engine"));
        start();
    }

    void shutDown()
    {
        m_worker->requestShutdown();
        quit();
        m_done.acquire(); // says to ThreadSanitizer what wait() cannot: all that the worker did is over
        wait();
    }

private:
    void run() override
    {
        exec();
        delete m_worker;
        m_done.release();
    }

    EngineWorker *const m_worker;
    std::binary_semaphore m_done{0};
};

} // namespace

struct SessionController::Private
{
    EventQueue queue;               // events of runs and loads, taken once per frame
    Mailbox inbox;                  // everything else that the worker says, at once
    EngineWorker *worker = nullptr; // lives in `thread` and goes with it
    std::unique_ptr<EngineThread> thread;

    int loadId = 0; // of the newest load; results of others are dropped
    QString path;

    int ticket = 0;                    // of the newest start
    RequestId requestId = 0;           // 0: not yet started, or nothing runs
    bool isStopWanted = false;         // before the id is known
    int currentBefore = 0;             // what was shown before the run
    std::shared_ptr<RunRecord> record; // of the run at hand; its row may be removed meanwhile
    std::vector<Event> early;          // events that overtook started()
    int framesToFigures = 0;           // frames that show text only until charts and figures follow
    bool areFiguresBehind = false;
};

SessionController::SessionController(RunStore *store, std::unique_ptr<EngineDriver> driver, QObject *parent)
    : QObject(parent)
    , m_store(store)
    , d(std::make_unique<Private>())
{
    d->worker = new EngineWorker(std::move(driver), &d->queue);
    connect(&d->queue, &EventQueue::pendingAvailable, &m_clock, &FrameClock::request, Qt::QueuedConnection);
    connect(&m_clock, &FrameClock::frame, this, &SessionController::onFrame);
    const auto post = [this](std::function<void()> call) { d->inbox.post(std::move(call)); };
    connect(
        d->worker, &EngineWorker::loaded, this,
        [=, this](int id, const LoadedModelPtr &model) { post([=, this] { onLoaded(id, model); }); },
        Qt::DirectConnection);
    connect(
        d->worker, &EngineWorker::loadFailed, this,
        [=, this](int id, const Error &error) { post([=, this] { onLoadFailed(id, error); }); }, Qt::DirectConnection);
    connect(
        d->worker, &EngineWorker::started, this,
        [=, this](int ticket, RequestId id) { post([=, this] { onStarted(ticket, id); }); }, Qt::DirectConnection);
    connect(
        d->worker, &EngineWorker::paused, this, [=, this](RequestId id) { post([=, this] { onPaused(id); }); },
        Qt::DirectConnection);
    connect(m_store, &RunStore::runRemoved, this, [this](int id) {
        if (id == m_runningId)
            stop(); // nobody could see it any more
    });
    d->thread = std::make_unique<EngineThread>(d->worker);
}

SessionController::~SessionController()
{
    disconnect(m_store, nullptr, this, nullptr);
    d->thread->shutDown();
    const std::vector<Event> rest = d->queue.take();
    if (!d->record)
        return;
    // The record of what ran gets its end too, for whoever still holds it.
    for (const Event &event : rest)
        if (d->requestId != 0 && event.request == d->requestId)
            apply(event, *d->record);
    if (d->record->state != RunState::Finished && d->record->state != RunState::Failed)
        apply({0, Finished{FinishReason::Cancelled, {}, {}, false, 0, 0}}, *d->record); // never reached the engine
}

QString SessionController::modelPath() const
{
    return d->path;
}

void SessionController::setState(SessionState state)
{
    if (state == m_state)
        return;
    m_state = state;
    const bool usesAllCores =
        m_runningId != 0 && state != SessionState::Paused && m_model && m_model->engine.threads >= cpuCoreCount();
    m_clock.setCostShare(usesAllCores ? FrameClock::kShareOfBusyCores : FrameClock::kShareOfFreeCore);
    Q_EMIT stateChanged(state);
}

void SessionController::setModel(LoadedModelPtr model)
{
    if (model == m_model)
        return;
    m_model = std::move(model);
    Q_EMIT modelChanged();
}

void SessionController::loadModel(const QString &path, const LoadOptions &options)
{
    if (m_state == SessionState::Loading)
        d->worker->cancelLoad(d->loadId);
    if (m_runningId != 0)
        d->requestId != 0 ? d->worker->requestStop(d->requestId) : void(d->isStopWanted = true);
    takeBatch(); // progress of an earlier load
    const int id = ++d->loadId;
    d->path = path;
    d->worker->load(id, path, options);
    setState(SessionState::Loading);
    setModel(nullptr);
}

void SessionController::cancelLoad()
{
    if (m_state != SessionState::Loading)
        return;
    d->worker->cancelLoad(d->loadId);
    takeBatch();
    d->path.clear();
    setState(SessionState::NoModel);
}

void SessionController::onLoaded(int loadId, const LoadedModelPtr &model)
{
    takeBatch(); // what was emitted before comes before
    if (loadId != d->loadId || m_state != SessionState::Loading)
        return;
    m_model = model;
    setState(SessionState::Ready);
    Q_EMIT modelChanged();
}

void SessionController::onLoadFailed(int loadId, const Error &error)
{
    takeBatch();
    if (loadId != d->loadId || m_state != SessionState::Loading)
        return;
    const QString path = std::exchange(d->path, {});
    setState(SessionState::NoModel);
    if (error.code != ErrorCode::Cancelled)
        Q_EMIT loadFailed(path, error);
}

void SessionController::run(const Request &request, const QString &title)
{
    if (m_state == SessionState::Ready)
        startRun(request, title, -1);
}

void SessionController::resume()
{
    if (m_state == SessionState::Paused)
        allowTokens(-1);
}

void SessionController::step(const Request &request, const QString &title)
{
    if (m_state == SessionState::Ready)
        startRun(request, title, 1);
    else if (m_state == SessionState::Paused)
        allowTokens(1);
}

void SessionController::startRun(const Request &request, const QString &title, int tokenAllowance)
{
    d->record = std::make_shared<RunRecord>();
    d->record->request = request;
    d->requestId = 0;
    d->isStopWanted = false;
    d->currentBefore = m_store->currentId();
    const int ticket = ++d->ticket;
    d->worker->start(ticket, request, tokenAllowance);
    m_runningId = m_store->add(d->record, title);
    setState(SessionState::Running);
    Q_EMIT runStarted(m_runningId);
}

void SessionController::allowTokens(int tokenAllowance)
{
    d->worker->allow(d->requestId, tokenAllowance);
    setState(SessionState::Running);
}

void SessionController::stop()
{
    if (m_state != SessionState::Running && m_state != SessionState::Paused)
        return;
    if (d->requestId != 0)
        d->worker->requestStop(d->requestId);
    else
        d->isStopWanted = true;
    setState(SessionState::Stopping);
}

void SessionController::onStarted(int ticket, RequestId id)
{
    if (ticket != d->ticket || m_runningId == 0)
        return;
    d->requestId = id;
    if (d->isStopWanted)
        d->worker->requestStop(id);
    takeEvents(std::exchange(d->early, {}));
}

void SessionController::onPaused(RequestId id)
{
    takeBatch();
    if (d->areFiguresBehind)
        showFigures();
    if (id == d->requestId && m_state == SessionState::Running)
        setState(SessionState::Paused);
}

void SessionController::onFrame()
{
    if (takeBatch()) {
        m_clock.request(); // the frame after the last tokens brings charts and figures up to date
        return;
    }
    if (d->areFiguresBehind)
        showFigures();
    d->framesToFigures = 0; // what comes after a rest is shown at once
}

// Text in every frame, charts and figures, which take several times as long to draw, in every fourth.
void SessionController::showGrowth()
{
    constexpr int kFiguresEvery = 4;
    m_store->notifyGrown(m_runningId);
    const bool isSteady = d->record->state == RunState::Decode && d->record->outputTokens.size() > 1;
    d->areFiguresBehind = isSteady && --d->framesToFigures > 0;
    if (d->areFiguresBehind)
        return;
    d->framesToFigures = kFiguresEvery;
    showFigures();
}

void SessionController::showFigures()
{
    d->areFiguresBehind = false;
    m_store->notifyChanged(m_runningId);
}

bool SessionController::takeBatch()
{
    return takeEvents(d->queue.take());
}

bool SessionController::takeEvents(std::vector<Event> events)
{
    bool hasGrown = false;
    bool hasEnded = false;
    std::optional<LoadProgress> progress;
    for (Event &event : events) {
        if (const auto *loading = std::get_if<LoadProgress>(&event.body)) {
            progress = *loading;
        } else if (m_runningId != 0 && d->requestId == 0) {
            d->early.push_back(std::move(event));
        } else if (m_runningId != 0 && event.request == d->requestId && !hasEnded) {
            apply(event, *d->record);
            hasGrown = true;
            hasEnded = std::holds_alternative<Finished>(event.body) || std::holds_alternative<Failed>(event.body);
        } // else: an event of a run that has ended
    }
    // Signals last: their receivers may start or load something, which takes the next batch.
    if (hasGrown)
        showGrowth();
    if (hasEnded)
        endRun();
    if (progress && m_state == SessionState::Loading)
        Q_EMIT loadProgressed(progress->phase, progress->doneBytes, progress->totalBytes);
    return hasGrown;
}

void SessionController::endRun()
{
    const int id = std::exchange(m_runningId, 0);
    const std::shared_ptr<RunRecord> record = std::exchange(d->record, nullptr);
    const int currentBefore = d->currentBefore;
    d->requestId = 0;
    d->early.clear();
    if (m_state != SessionState::Loading)
        setState(m_model ? SessionState::Ready : SessionState::NoModel);
    Q_EMIT runEnded(id);
    const bool wasRefused = record->state == RunState::Failed && record->prefillChunks.empty();
    if (!wasRefused)
        return;
    if (m_store->currentId() == id && currentBefore != 0)
        m_store->setCurrent(currentBefore);
    m_store->discard(id);
}

} // namespace lectern
