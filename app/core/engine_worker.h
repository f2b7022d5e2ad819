// SPDX-License-Identifier: GPL-3.0-or-later
// Owns the Engine and lives in the worker thread. Everything that it has to say leaves through the EventQueue (events
// of runs, load progress) or through its signals (results of loading).
#pragma once

#include "app/core/event_queue.h"
#include "engine/engine.h"

#include <QObject>
#include <QString>

#include <atomic>
#include <memory>

namespace lectern {

using LoadedModelPtr = std::shared_ptr<const LoadedModel>;

// What the worker drives. The real one forwards to Engine; tests inject scripted ones.
class EngineDriver
{
public:
    virtual ~EngineDriver() = default;
    virtual Result<LoadedModelPtr> load(const std::filesystem::path &path, const LoadOptions &options, EventSink &sink,
                                        const StopFlag &stop) = 0;
    virtual void unload() {} // of a load that was cancelled too late to fail
    virtual RequestId submit(Request request, EventSink &sink) = 0;
    virtual void cancel(RequestId id) = 0; // any thread
    virtual void pause(RequestId id) = 0;
    virtual void resume(RequestId id) = 0;
    virtual bool step() = 0;
};
std::unique_ptr<EngineDriver> createEngineDriver();

// Does one engine step per turn of its event loop, so that queued slots act between steps. Slots run in the worker
// thread (queued). cancelLoad(), requestStop() and requestShutdown() may be called from any thread and act at once
// through atomics.
class EngineWorker : public QObject
{
    Q_OBJECT

public:
    EngineWorker(std::unique_ptr<EngineDriver> driver, EventQueue *queue);
    ~EngineWorker() override;

    // Cancels this load and all older ones, whether waiting, loading or loaded but not yet delivered: the engine ends
    // up without a model. Whoever receives `loaded` drops the ids that it has cancelled.
    void cancelLoad(int loadId);
    void requestStop(lectern::RequestId id);
    void requestShutdown(); // stops loading and running; nothing starts any more

public Q_SLOTS:
    // loadId increases with every call; an older load still running is cancelled.
    void load(int loadId, const QString &path, const lectern::LoadOptions &options);
    // Starts a run. `tokenAllowance` < 0: run to the end; n >= 0: pause after n output tokens.
    void start(int ticket, const lectern::Request &request, int tokenAllowance);
    void allow(lectern::RequestId id, int tokenAllowance); // continue a paused run, same meaning

Q_SIGNALS:
    void loaded(int loadId, const lectern::LoadedModelPtr &model);
    void loadFailed(int loadId, const lectern::Error &error); // code Cancelled when cancelled
    void started(int ticket, lectern::RequestId id);          // always before the events of the run
    void paused(lectern::RequestId id);                       // after the events up to the pause

private:
    void schedule();
    void takeTurn();
    void endRun();
    void dropCancelledModel();
    bool isCancelled(int loadId) const;
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace lectern
