// SPDX-License-Identifier: GPL-3.0-or-later
// The presenter: owns worker, thread and frame clock, keeps the state machine, turns events into records once per
// frame. Knows no widget. GUI thread.
#pragma once

#include "app/core/engine_worker.h"
#include "app/core/frame_clock.h"
#include "app/core/run_store.h"

#include <QObject>

#include <memory>

namespace lectern {

enum class SessionState
{
    NoModel,
    Loading,
    Ready,
    Running,
    Paused,
    Stopping
};

class SessionController : public QObject
{
    Q_OBJECT

public:
    // `driver` is for tests; the default drives the real engine. The store must outlive the controller.
    explicit SessionController(RunStore *store, std::unique_ptr<EngineDriver> driver = createEngineDriver(),
                               QObject *parent = nullptr);
    ~SessionController() override; // stops what runs, ends the thread, waits; never terminates it

    SessionState state() const { return m_state; }
    LoadedModelPtr model() const { return m_model; } // nullptr if none
    QString modelPath() const;                       // of the loaded model, or of the one being loaded
    int runningId() const { return m_runningId; }    // id in the store; 0 if none
    FrameClock *frameClock() { return &m_clock; }

    void loadModel(const QString &path, const LoadOptions &options = {}); // allowed in every state; stops a run first
    void cancelLoad();                                                    // in Loading: back to NoModel
    void run(const Request &request, const QString &title);               // in Ready
    void resume();                                                        // in Paused: to the end
    void step(const Request &request,
              const QString &title); // in Ready: start and pause after one token; in Paused: one more
    void stop();                     // in Running, Paused; harmless elsewhere

Q_SIGNALS:
    void stateChanged(lectern::SessionState state);
    void loadProgressed(lectern::LoadPhase phase, quint64 doneBytes, quint64 totalBytes);
    void modelChanged();                                               // loaded, replaced or gone
    void loadFailed(const QString &path, const lectern::Error &error); // not emitted for cancelled loads
    void runStarted(int runId);
    // Its record says how. A request that was refused before anything was computed leaves the store right after this
    // signal.
    void runEnded(int runId);

private:
    struct Private;
    void setState(SessionState state);
    void startRun(const Request &request, const QString &title, int tokenAllowance);
    void allowTokens(int tokenAllowance);
    void onFrame();
    bool takeBatch(); // whether the run has grown
    bool takeEvents(std::vector<Event> events);
    void showGrowth();
    void showFigures();
    void endRun();
    void onLoaded(int loadId, const LoadedModelPtr &model);
    void onLoadFailed(int loadId, const Error &error);
    void onStarted(int ticket, RequestId id);
    void onPaused(RequestId id);
    void setModel(LoadedModelPtr model);
    RunStore *m_store;
    FrameClock m_clock;
    SessionState m_state = SessionState::NoModel;
    LoadedModelPtr m_model;
    int m_runningId = 0;
    std::unique_ptr<Private> d;
};

} // namespace lectern
