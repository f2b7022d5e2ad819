// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/frame_clock.h"

namespace lectern {

FrameClock::FrameClock(QObject *parent)
    : QObject(parent)
{
    m_timer.setSingleShot(true);
    m_timer.setTimerType(Qt::PreciseTimer); // a coarse timer may be late by 5 %: uneven frames are visible
    m_timer.setInterval(kFrameMs);
    connect(&m_timer, &QTimer::timeout, this, &FrameClock::frame);
}

void FrameClock::setIntervalMs(int ms)
{
    m_timer.setInterval(ms); // a running timer goes on with the new interval
}

void FrameClock::request()
{
    if (!m_timer.isActive())
        m_timer.start();
}

} // namespace lectern
