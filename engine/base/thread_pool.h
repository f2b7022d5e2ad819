// SPDX-License-Identifier: GPL-3.0-or-later
// Persistent workers for parallel loops. The caller is worker 0. Workers spin briefly, then sleep on a futex: a UI
// thread on the same cores must be able to run (one lost scheduler quantum per barrier costs 4 ms and more).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace lectern {

class ThreadPool
{
public:
    explicit ThreadPool(int threads); // at least 1; threads - 1 workers are started
    ~ThreadPool();
    ThreadPool(const ThreadPool &) = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;

    int threads() const;

    // Runs job(threadIndex) once on every thread and returns when all are done. Not re-entrant. What
    // a job throws (std::bad_alloc: memory that every call needs is better taken before) is thrown again here, when all
    // threads are done.
    void run(const std::function<void(int)> &job);

    // Calls body(begin, end) for pieces of [0, count) of at most `grain`; free threads take the next piece.
    void forEach(std::int64_t count, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)> &body);

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace lectern
