// SPDX-License-Identifier: GPL-3.0-or-later
// Turns Ctrl+C (SIGINT), SIGTERM and the end of the terminal or session (SIGHUP) into a call, so that a program ends
// its work with what it has made instead of being ended.
#pragma once

#include <functional>
#include <thread>

namespace lectern {

class Interrupt
{
public:
    // The first signal calls `action`, once, on a thread of its own: it may take locks. The second SIGINT or SIGTERM
    // ends the process at once with 128 + its number. A signal that the process was started to ignore (nohup, a
    // background job of a script) stays ignored. From now on writing to a pipe that nobody reads is an error, not the
    // end of the process. One at a time.
    explicit Interrupt(std::function<void()> action);
    ~Interrupt(); // signals do again what they did before
    Interrupt(const Interrupt &) = delete;
    Interrupt &operator=(const Interrupt &) = delete;

private:
    std::thread m_thread;
};

} // namespace lectern
