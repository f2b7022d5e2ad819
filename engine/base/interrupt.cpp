// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/interrupt.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <semaphore.h>
#include <unistd.h>
#include <utility>

namespace lectern {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int kExitAfterSignal = 128; // + its number, as shells have it

// What the handler touches: it may interrupt anything, so it takes no lock.
std::atomic<int> demands{0};
std::atomic<bool> isOver{false};
sem_t arrived;
struct sigaction before[std::size(kSignals)];

// SIGHUP comes in company, so it never ends the process: the terminal and the shell send one each, and the end of a
// session sends it right behind SIGTERM.
void onSignal(int signal)
{
    if (signal != SIGHUP && demands.fetch_add(1) > 0)
        ::_exit(kExitAfterSignal + signal);
    const int kept = errno;
    ::sem_post(&arrived);
    errno = kept;
}

void waitForSignal()
{
    while (::sem_wait(&arrived) != 0) { // a signal has interrupted it
    }
}

} // namespace

Interrupt::Interrupt(std::function<void()> action)
{
    ::signal(SIGPIPE, SIG_IGN);
    ::sem_init(&arrived, 0, 0);
    demands = 0;
    isOver = false;
    struct sigaction handling
    {
    };
    handling.sa_handler = onSignal;
    handling.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < std::size(kSignals); ++i) {
        ::sigaction(kSignals[i], nullptr, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            ::sigaction(kSignals[i], &handling, nullptr);
    }
    m_thread = std::thread([act = std::move(action)] {
        waitForSignal();
        if (!isOver)
            act();
        while (!isOver)
            waitForSignal();
    });
}

Interrupt::~Interrupt()
{
    for (std::size_t i = 0; i < std::size(kSignals); ++i)
        ::sigaction(kSignals[i], &before[i], nullptr);
    isOver = true;
    ::sem_post(&arrived);
    m_thread.join();
    ::sem_destroy(&arrived);
}

} // namespace lectern
