// SPDX-License-Identifier: GPL-3.0-or-later
// Writes files in the background, one export after the other in the order asked for: the GUI thread only hears how each
// of them ended.
#pragma once

#include "app/core/mailbox.h"
#include "engine/base/result.h"
#include "engine/base/stop_flag.h"

#include <QElapsedTimer>
#include <QObject>
#include <QThreadPool>
#include <QTimer>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace lectern {

// Makes and writes one file, on a background thread: holds values and immutable records only.
using ExportStep = std::function<Result<void>()>;

class ExportQueue : public QObject
{
    Q_OBJECT

public:
    using Done = std::function<void(const Result<void> &)>; // in the queue's own thread, by one queued call

    explicit ExportQueue(QObject *parent = nullptr);
    ~ExportQueue() override; // waits until everything asked for is written; `done` is not called any more

    // The first step that fails ends it: what was written before stays.
    void start(std::vector<ExportStep> steps, Done done);
    bool isBusy() const { return m_running > 0; }
    void cancel(); // steps that have not begun are left out; their exports end as Cancelled

Q_SIGNALS:
    // Of all that is asked for, when it lasts over half a second; `canCancel` when over two. Only after a change.
    void progressed(int doneSteps, int steps, bool canCancel);
    void idle(); // nothing is left; after the last `done`

private:
    void finish(const Result<void> &result, const Done &done);
    void tellProgress();
    Mailbox m_inbox;
    QTimer m_timer;
    QElapsedTimer m_clock;
    std::shared_ptr<StopFlag> m_stop = std::make_shared<StopFlag>();
    std::atomic<int> m_doneSteps{0};
    int m_steps = 0;
    int m_running = 0; // exports
    int m_toldDone = -1;
    int m_toldSteps = 0;
    bool m_toldCancel = false;
    QThreadPool m_pool; // the last member: goes first
};

} // namespace lectern
