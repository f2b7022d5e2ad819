// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine_worker.h"

#include "app/core/file_path.h"

#include <mutex>

namespace lectern {

namespace {

// Passes events on and keeps what the worker must know about its run. Engine thread.
class RunSink final : public EventSink
{
public:
    explicit RunSink(EventQueue *queue)
        : m_queue(queue)
    {
    }

    void begin()
    {
        tokens = 0;
        hasEnded = false;
    }

    void emitEvent(Event event) override
    {
        if (std::holds_alternative<TokenProduced>(event.body))
            ++tokens;
        else if (std::holds_alternative<Finished>(event.body) || std::holds_alternative<Failed>(event.body))
            hasEnded = true;
        m_queue->emitEvent(std::move(event));
    }

    int tokens = 0; // output tokens since begin() or the last pause
    bool hasEnded = true;

private:
    EventQueue *m_queue;
};

// Progress of one load; silent once the load is cancelled, so that it never mixes with the next one's.
class LoadSink final : public EventSink
{
public:
    LoadSink(EventQueue *queue, const StopFlag &stop)
        : m_queue(queue)
        , m_stop(stop)
    {
    }
    void emitEvent(Event event) override
    {
        if (!m_stop.isRequested())
            m_queue->emitEvent(std::move(event));
    }

private:
    EventQueue *m_queue;
    const StopFlag &m_stop;
};

Error cancelledError()
{
    return {ErrorCode::Cancelled, "Loading was cancelled", {}, {}};
}

} // namespace

struct EngineWorker::State
{
    State(std::unique_ptr<EngineDriver> engineDriver, EventQueue *eventQueue)
        : queue(eventQueue)
        , sink(eventQueue)
        , driver(std::move(engineDriver))
    {
    }

    // Any thread.
    std::mutex loadMutex; // guards cancelledThrough and loadingId
    int cancelledThrough = 0;
    int loadingId = 0; // 0: none
    StopFlag loadStop;
    std::atomic<bool> isShuttingDown{false};
    std::atomic<RequestId> runId{0}; // 0: none

    // Worker thread.
    int heldId = 0; // load whose model the engine holds; 0: none
    int allowance = -1;
    bool isTurnPosted = false;
    EventQueue *queue;
    RunSink sink;
    std::unique_ptr<EngineDriver> driver; // last: it goes first, while what it calls is still there
};

EngineWorker::EngineWorker(std::unique_ptr<EngineDriver> driver, EventQueue *queue)
    : m_state(std::make_unique<State>(std::move(driver), queue))
    , m_calls(new Mailbox(this))
{
}

EngineWorker::~EngineWorker()
{
    {
        const std::lock_guard lock(m_state->loadMutex); // requestShutdown() is through
    }
    endRun();
}

void EngineWorker::load(int loadId, const QString &path, const LoadOptions &options)
{
    m_calls->post([=, this] { doLoad(loadId, path, options); });
}

void EngineWorker::start(int ticket, const Request &request, int tokenAllowance)
{
    m_calls->post([=, this] { doStart(ticket, request, tokenAllowance); });
}

void EngineWorker::allow(RequestId id, int tokenAllowance)
{
    m_calls->post([=, this] { doAllow(id, tokenAllowance); });
}

bool EngineWorker::isCancelled(int loadId) const
{
    return m_state->isShuttingDown || loadId <= m_state->cancelledThrough;
}

void EngineWorker::cancelLoad(int loadId)
{
    {
        const std::lock_guard lock(m_state->loadMutex);
        m_state->cancelledThrough = std::max(m_state->cancelledThrough, loadId);
        if (m_state->loadingId != 0 && m_state->loadingId <= loadId)
            m_state->loadStop.request();
    }
    m_calls->post([this] { dropCancelledModel(); });
}

void EngineWorker::requestStop(RequestId id)
{
    m_state->driver->cancel(id);
    m_calls->post([this] { schedule(); }); // a paused run takes no turns
}

void EngineWorker::requestShutdown()
{
    m_state->isShuttingDown = true;
    // doStart() stores the id and then looks at the flag: one of the two sees the other.
    if (const RequestId id = m_state->runId)
        m_state->driver->cancel(id);
    const std::lock_guard lock(m_state->loadMutex);
    m_state->loadStop.request();
}

void EngineWorker::doLoad(int loadId, const QString &path, const LoadOptions &options)
{
    endRun();
    m_state->heldId = 0;
    bool isCancelledEarly = false;
    {
        const std::lock_guard lock(m_state->loadMutex);
        isCancelledEarly = isCancelled(loadId);
        if (!isCancelledEarly) {
            m_state->loadStop.clear();
            m_state->loadingId = loadId;
        }
    }
    if (isCancelledEarly) {
        m_state->driver->unload();
        Q_EMIT loadFailed(loadId, cancelledError());
        return;
    }
    LoadSink sink(m_state->queue, m_state->loadStop);
    const Result<LoadedModelPtr> model = m_state->driver->load(toFilePath(path), options, sink, m_state->loadStop);
    bool isCancelledLate = false;
    {
        const std::lock_guard lock(m_state->loadMutex);
        m_state->loadingId = 0;
        isCancelledLate = isCancelled(loadId);
    }
    if (!model) {
        Q_EMIT loadFailed(loadId, isCancelledLate ? cancelledError() : model.error());
    } else if (isCancelledLate) {
        m_state->driver->unload();
        Q_EMIT loadFailed(loadId, cancelledError());
    } else {
        m_state->heldId = loadId;
        Q_EMIT loaded(loadId, *model);
    }
}

// A cancel that came after load() had looked but before the result was delivered.
void EngineWorker::dropCancelledModel()
{
    bool isDropped = false;
    {
        const std::lock_guard lock(m_state->loadMutex);
        isDropped = m_state->heldId != 0 && isCancelled(m_state->heldId);
    }
    if (!isDropped)
        return;
    endRun();
    m_state->heldId = 0;
    m_state->driver->unload();
}

void EngineWorker::doStart(int ticket, const Request &request, int tokenAllowance)
{
    if (m_state->isShuttingDown)
        return;
    endRun();
    m_state->sink.begin();
    m_state->allowance = tokenAllowance > 0 ? tokenAllowance : -1;
    const RequestId id = m_state->driver->submit(request, m_state->sink);
    m_state->runId = id;
    if (m_state->isShuttingDown)
        m_state->driver->cancel(id);
    Q_EMIT started(ticket, id);
    if (tokenAllowance == 0) {
        m_state->driver->pause(id);
        Q_EMIT paused(id);
    }
    schedule();
}

void EngineWorker::doAllow(RequestId id, int tokenAllowance)
{
    if (id != m_state->runId || m_state->sink.hasEnded)
        return;
    m_state->sink.tokens = 0;
    m_state->allowance = tokenAllowance;
    if (tokenAllowance == 0) {
        Q_EMIT paused(id);
        return;
    }
    m_state->driver->resume(id);
    schedule();
}

void EngineWorker::schedule()
{
    if (m_state->isTurnPosted)
        return;
    m_state->isTurnPosted = true;
    m_calls->post([this] { takeTurn(); });
}

void EngineWorker::takeTurn()
{
    m_state->isTurnPosted = false;
    const RequestId id = m_state->runId;
    if (id == 0)
        return;
    const bool hasMore = m_state->driver->step();
    if (m_state->sink.hasEnded) {
        m_state->runId = 0;
        return;
    }
    if (m_state->allowance >= 0 && m_state->sink.tokens >= m_state->allowance) {
        m_state->driver->pause(id);
        m_state->sink.tokens = 0;
        m_state->allowance = -1;
        Q_EMIT paused(id);
    }
    if (hasMore)
        schedule(); // after a pause the next step finds nothing to do and ends the turns
}

// Ends the run at hand, if there is one, and lets the engine say so.
void EngineWorker::endRun()
{
    const RequestId id = m_state->runId;
    if (id == 0)
        return;
    m_state->driver->cancel(id);
    while (!m_state->sink.hasEnded && m_state->driver->step()) {
    }
    m_state->runId = 0;
}

} // namespace lectern
