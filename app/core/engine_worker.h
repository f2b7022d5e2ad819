// SPDX-License-Identifier: GPL-3.0-or-later
// Owns the Engine and lives in the worker thread. Everything that it has to say leaves through the EventQueue (events
// of runs, load progress) or through its signals (results of loading).
#pragma once

#include "app/core/event_queue.h"
#include "app/core/mailbox.h"
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

// Every public function may be called from any thread. load(), start() and allow() are done in the worker's thread, in
// their order, between two steps of the engine; cancelLoad(), requestStop() and requestShutdown() act at once through
// atomics. Signals are emitted in the worker's thread.
class EngineWorker : public QObject
{
    Q_OBJECT

public:
    EngineWorker(std::unique_ptr<EngineDriver> driver, EventQueue *queue);
    ~EngineWorker() override; // ends the run at hand; in the worker's thread

    // Stops a run and replaces the model. `loadId` increases with every call.
    void load(int loadId, const QString &path, const lectern::LoadOptions &options);
    // Cancels this load and all older ones, whether waiting, at work or loaded but not yet delivered: the engine ends
    // up without a model. Whoever receives `loaded` drops the ids that it has cancelled.
    void cancelLoad(int loadId);

    // Starts a run. `tokenAllowance` < 0: run to the end; n >= 0: pause after n output tokens.
    void start(int ticket, const lectern::Request &request, int tokenAllowance);
    void allow(lectern::RequestId id, int tokenAllowance); // continue a paused run, same meaning
    void requestStop(lectern::RequestId id);               // harmless for runs that have ended

    void requestShutdown(); // stops loading and running; nothing starts any more

Q_SIGNALS:
    void loaded(int loadId, const lectern::LoadedModelPtr &model);
    void loadFailed(int loadId, const lectern::Error &error); // code Cancelled when cancelled
    void started(int ticket, lectern::RequestId id);          // always before the events of the run
    void paused(lectern::RequestId id);                       // after the events up to the pause

private:
    void doLoad(int loadId, const QString &path, const LoadOptions &options);
    void doStart(int ticket, const Request &request, int tokenAllowance);
    void doAllow(RequestId id, int tokenAllowance);
    void schedule();
    void takeTurn();
    void endRun();
    void dropCancelledModel();
    bool isCancelled(int loadId) const;
    struct State;
    std::unique_ptr<State> m_state;
    Mailbox *m_calls; // child: moves to the thread with the worker
};

} // namespace lectern
