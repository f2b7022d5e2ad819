// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/interrupt.h"

#include <cstdlib>
#include <pthread.h>
#include <utility>

namespace lectern::cli {

namespace {

constexpr int kWakeSignal = SIGUSR1; // ends the waiting thread
constexpr int kExitAfterSignal = 130;

} // namespace

Interrupt::Interrupt(std::function<void()> action)
{
    sigemptyset(&m_signals);
    for (const int signal : {SIGINT, SIGTERM, kWakeSignal})
        sigaddset(&m_signals, signal);
    pthread_sigmask(SIG_BLOCK, &m_signals, nullptr);
    m_thread = std::thread([this, act = std::move(action)] {
        for (int count = 1;; ++count) {
            int signal = 0;
            if (sigwait(&m_signals, &signal) != 0 || signal == kWakeSignal)
                return;
            if (count > 1)
                std::_Exit(kExitAfterSignal);
            act();
        }
    });
}

Interrupt::~Interrupt()
{
    pthread_kill(m_thread.native_handle(), kWakeSignal);
    m_thread.join();
}

} // namespace lectern::cli
