// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/frame_clock.h"

#include <QCoreApplication>

#include <algorithm>
#include <ctime>
#include <limits>
#include <utility>

namespace lectern {

namespace {

// A frame posts layouts, those post repaints, each behind what was posted before: after so many turns of an event that
// always queues last, all of it has been done. A timer of 0 ms saw half of the cost.
constexpr int kTurns = 4;

std::int64_t threadCpuNs()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

} // namespace

FrameClock::FrameClock(QObject *parent)
    : QObject(parent)
{
    m_timer.setSingleShot(true);
    m_timer.setTimerType(Qt::PreciseTimer); // a coarse timer may be late by 5 %: uneven frames are visible
    m_timer.setInterval(kFrameMs);
    connect(&m_timer, &QTimer::timeout, this, &FrameClock::runFrame);
}

void FrameClock::setIntervalMs(int ms)
{
    m_intervalMs = ms;
    m_timer.setInterval(ms);
}

void FrameClock::request()
{
    if (!m_timer.isActive())
        m_timer.start();
}

void FrameClock::runFrame()
{
    m_clock.start();
    m_cpuBeginNs = threadCpuNs();
    Q_EMIT frame();
    if (std::exchange(m_turnsLeft, kTurns) == 0) // else the one before is still waiting: one event is enough
        waitForRepaints();
}

void FrameClock::waitForRepaints()
{
    QCoreApplication::postEvent(this, new QEvent(QEvent::User), std::numeric_limits<int>::min());
}

void FrameClock::customEvent(QEvent *)
{
    if (--m_turnsLeft > 0) {
        waitForRepaints();
        return;
    }
    constexpr double kNewPart = 0.25;
    m_costNs += kNewPart * (static_cast<double>(threadCpuNs() - m_cpuBeginNs) - m_costNs);
    m_timer.setInterval(std::max(m_intervalMs, static_cast<int>(m_costNs * m_costShare / 1e6)));
    Q_EMIT frameDone(m_clock.nsecsElapsed());
}

} // namespace lectern
