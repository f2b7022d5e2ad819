// SPDX-License-Identifier: GPL-3.0-or-later
// The clock of one run: nanoseconds since it was submitted, standing still while the run is paused.
//
// Any thread. A pause asked for while the engine is inside a step begins when that step ends: the work of the step has
// been done and is counted.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

namespace lectern {

using ClockFunction = std::function<std::int64_t()>; // steady nanoseconds; any thread

class RunClock
{
public:
    explicit RunClock(ClockFunction now); // starts at 0

    std::int64_t now() const;
    std::int64_t pausedNs() const;

    void pause();
    void resume();
    bool isPaused() const;
    bool tryBeginStep(); // false while paused: no step may begin
    void endStep();

private:
    ClockFunction m_now;
    mutable std::mutex m_mutex;
    std::int64_t m_startNs;
    std::int64_t m_pausedNs = 0;     // pauses that are over
    std::int64_t m_pauseBeginNs = 0; // while m_standsStill
    bool m_standsStill = false;
    bool m_isPaused = false;
    bool m_isInStep = false;
};

} // namespace lectern
