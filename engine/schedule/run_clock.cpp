// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/run_clock.h"

#include <utility>

namespace lectern {

RunClock::RunClock(ClockFunction now)
    : m_now(std::move(now))
    , m_startNs(m_now())
{
}

std::int64_t RunClock::now() const
{
    const std::lock_guard lock(m_mutex);
    return (m_standsStill ? m_pauseBeginNs : m_now()) - m_startNs - m_pausedNs;
}

std::int64_t RunClock::pausedNs() const
{
    const std::lock_guard lock(m_mutex);
    return m_pausedNs + (m_standsStill ? m_now() - m_pauseBeginNs : 0);
}

void RunClock::pause()
{
    const std::lock_guard lock(m_mutex);
    if (m_isPaused)
        return;
    m_isPaused = true;
    if (!m_isInStep) {
        m_standsStill = true;
        m_pauseBeginNs = m_now();
    }
}

void RunClock::resume()
{
    const std::lock_guard lock(m_mutex);
    m_isPaused = false;
    if (m_standsStill)
        m_pausedNs += m_now() - m_pauseBeginNs;
    m_standsStill = false;
}

bool RunClock::isPaused() const
{
    const std::lock_guard lock(m_mutex);
    return m_isPaused;
}

bool RunClock::tryBeginStep()
{
    const std::lock_guard lock(m_mutex);
    m_isInStep = !m_isPaused;
    return m_isInStep;
}

void RunClock::endStep()
{
    const std::lock_guard lock(m_mutex);
    m_isInStep = false;
    if (m_isPaused && !m_standsStill) {
        m_standsStill = true;
        m_pauseBeginNs = m_now();
    }
}

} // namespace lectern
