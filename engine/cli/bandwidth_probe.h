// SPDX-License-Identifier: GPL-3.0-or-later
// How fast this machine reads memory right now. It changes from second to second on shared machines, so a benchmark
// asks in every round.
#pragma once

#include "engine/base/aligned_buffer.h"
#include "engine/base/thread_pool.h"

#include <memory>

namespace lectern::cli {

class BandwidthProbe
{
public:
    // Far larger than any cache.
    static constexpr std::size_t kBytes = 256u << 20;

    static Result<BandwidthProbe> create(int threads);

    // Reads the whole buffer once, every thread its own part from front to back. Bytes per second.
    double measure();

private:
    AlignedBuffer m_buffer;
    std::unique_ptr<ThreadPool> m_pool;
    std::uint64_t m_sum = 0; // keeps the reads from being optimised away
};

} // namespace lectern::cli
