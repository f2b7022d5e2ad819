// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/thread_pool.h"

#include "engine/base/clock.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace lectern {

namespace {

constexpr std::int64_t kSpinNs = 20'000; // longer than the serial gaps inside a layer, shorter than a scheduler quantum
constexpr int kSpinsPerClockRead = 32;

void relax()
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// Returns once `value` differs from `old`, having spun for a moment and slept on the futex after that.
std::uint32_t waitForChange(const std::atomic<std::uint32_t> &value, std::uint32_t old)
{
    const std::int64_t end = nowNs() + kSpinNs;
    do {
        for (int i = 0; i < kSpinsPerClockRead; ++i) {
            if (const std::uint32_t now = value.load(std::memory_order_acquire); now != old)
                return now;
            relax();
        }
    } while (nowNs() < end);
    value.wait(old, std::memory_order_acquire);
    return value.load(std::memory_order_acquire);
}

} // namespace

struct ThreadPool::State
{
    int threads = 1;
    std::vector<std::thread> workers;
    // One cache line each: workers poll the first, the caller polls the second.
    alignas(64) std::atomic<std::uint32_t> round{0};
    alignas(64) std::atomic<std::uint32_t> running{0};
    alignas(64) const std::function<void(int)> *job = nullptr; // nullptr in a new round: leave. Published by `round`.

    std::mutex mutex;
    std::exception_ptr problem; // the first that a job threw in this round

    void runJob(int index) noexcept
    {
        try {
            (*job)(index);
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!problem)
                problem = std::current_exception();
        }
    }

    void work(int index)
    {
        std::uint32_t seen = 0;
        for (;;) {
            seen = waitForChange(round, seen);
            if (job == nullptr)
                return;
            runJob(index);
            if (running.fetch_sub(1, std::memory_order_acq_rel) == 1)
                running.notify_one();
        }
    }

    void startRound()
    {
        running.store(static_cast<std::uint32_t>(threads - 1), std::memory_order_relaxed);
        round.fetch_add(1, std::memory_order_release);
        round.notify_all();
    }
};

ThreadPool::ThreadPool(int threads)
    : m_state(std::make_unique<State>())
{
    m_state->threads = std::max(1, threads);
    try {
        for (int i = 1; i < m_state->threads; ++i)
            m_state->workers.emplace_back([state = m_state.get(), i] { state->work(i); });
    } catch (const std::system_error &) { // the system allows no further thread: go on with those that exist
        m_state->threads = 1 + static_cast<int>(m_state->workers.size());
    }
}

ThreadPool::~ThreadPool()
{
    m_state->job = nullptr;
    m_state->startRound();
    for (std::thread &worker : m_state->workers)
        worker.join();
}

int ThreadPool::threads() const
{
    return m_state->threads;
}

void ThreadPool::run(const std::function<void(int)> &job)
{
    if (m_state->threads == 1) {
        job(0);
        return;
    }
    m_state->job = &job;
    m_state->startRound();
    m_state->runJob(0);
    std::uint32_t left = m_state->running.load(std::memory_order_acquire);
    while (left != 0)
        left = waitForChange(m_state->running, left);
    if (m_state->problem)
        std::rethrow_exception(std::exchange(m_state->problem, nullptr));
}

void ThreadPool::forEach(std::int64_t count, std::int64_t grain,
                         const std::function<void(std::int64_t, std::int64_t)> &body)
{
    grain = std::max<std::int64_t>(1, grain);
    if (m_state->threads == 1 || count <= grain) {
        for (std::int64_t begin = 0; begin < count; begin += grain)
            body(begin, std::min(count, begin + grain));
        return;
    }
    std::atomic<std::int64_t> next{0};
    run([&](int) {
        for (;;) {
            const std::int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
            if (begin >= count)
                return;
            body(begin, std::min(count, begin + grain));
        }
    });
}

} // namespace lectern
