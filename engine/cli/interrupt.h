// SPDX-License-Identifier: GPL-3.0-or-later
// Turns Ctrl+C into a call: a thread of its own waits for SIGINT and SIGTERM, so the action may take locks.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace lectern::cli {

class Interrupt
{
public:
    // Make it before any other thread: they inherit that the signals go to this one. The second signal ends the
    // process.
    explicit Interrupt(std::function<void()> action);
    ~Interrupt();
    Interrupt(const Interrupt &) = delete;
    Interrupt &operator=(const Interrupt &) = delete;

private:
    sigset_t m_signals{};
    std::thread m_thread;
};

} // namespace lectern::cli
