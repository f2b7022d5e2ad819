// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/frame_clock.h"

#include <algorithm>

namespace lectern {

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
    m_cost.start();
    Q_EMIT frame();
    // Runs when what the frame posted, repaints included, has been done.
    QTimer::singleShot(0, this, [this] {
        m_timer.setInterval(std::max(m_intervalMs, static_cast<int>(m_cost.elapsed()) * kCostShare));
    });
}

} // namespace lectern
