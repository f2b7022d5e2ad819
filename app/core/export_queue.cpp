// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/export_queue.h"

#include <new>
#include <utility>

namespace lectern {

namespace {

constexpr int kLookMs = 100;
constexpr int kShowMs = 500;
constexpr int kCancelMs = 2000;

Result<void> runSteps(const std::vector<ExportStep> &steps, const StopFlag &stop, std::atomic<int> &done)
{
    try {
        for (const ExportStep &step : steps) {
            if (stop.isRequested())
                return fail(ErrorCode::Cancelled, ExportQueue::tr("stopped").toStdString());
            if (const Result<void> result = step(); !result)
                return result;
            ++done;
        }
    } catch (const std::bad_alloc &) {
        return fail(ErrorCode::OutOfMemory,
                    ExportQueue::tr("there is too little memory to make this file").toStdString());
    }
    return {};
}

} // namespace

ExportQueue::ExportQueue(QObject *parent)
    : QObject(parent)
{
    m_pool.setMaxThreadCount(1);
    m_timer.setInterval(kLookMs);
    connect(&m_timer, &QTimer::timeout, this, &ExportQueue::tellProgress);
}

ExportQueue::~ExportQueue()
{
    m_pool.waitForDone();
}

void ExportQueue::start(std::vector<ExportStep> steps, Done done)
{
    if (m_running++ == 0) {
        m_doneSteps = 0;
        m_steps = 0;
        m_toldDone = -1;
        m_toldCancel = false;
        m_clock.start();
        m_timer.start();
    }
    m_steps += static_cast<int>(steps.size());
    m_pool.start([this, steps = std::move(steps), stop = m_stop, done = std::move(done)]() mutable {
        Result<void> result = runSteps(steps, *stop, m_doneSteps);
        steps.clear(); // large records go here, not on the GUI thread
        m_inbox.post([this, result = std::move(result), done = std::move(done)] { finish(result, done); });
    });
}

void ExportQueue::cancel()
{
    m_stop->request();
    m_stop = std::make_shared<StopFlag>(); // for what is asked for from now on
}

void ExportQueue::finish(const Result<void> &result, const Done &done)
{
    const bool isLast = --m_running == 0;
    if (isLast)
        m_timer.stop();
    done(result);
    if (isLast && m_running == 0) // `done` may have asked for more
        Q_EMIT idle();
}

void ExportQueue::tellProgress()
{
    const qint64 elapsed = m_clock.elapsed();
    const int doneSteps = m_doneSteps;
    const bool canCancel = elapsed >= kCancelMs;
    if (elapsed < kShowMs || (doneSteps == m_toldDone && m_steps == m_toldSteps && canCancel == m_toldCancel))
        return;
    m_toldDone = doneSteps;
    m_toldSteps = m_steps;
    m_toldCancel = canCancel;
    Q_EMIT progressed(doneSteps, m_steps, canCancel);
}

} // namespace lectern
