// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/bandwidth_probe.h"

#include "engine/base/clock.h"

#include <atomic>
#include <cstring>

namespace lectern::cli {

namespace {

// Independent sums: one alone would wait for its own additions instead of for memory.
std::uint64_t sumOf(const std::uint64_t *words, std::size_t count)
{
    constexpr std::size_t kLanes = 32;
    std::uint64_t lanes[kLanes] = {};
    for (std::size_t i = 0; i + kLanes <= count; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            lanes[lane] += words[i + lane];
    std::uint64_t sum = 0;
    for (const std::uint64_t lane : lanes)
        sum += lane;
    return sum;
}

} // namespace

Result<BandwidthProbe> BandwidthProbe::create(int threads)
{
    Result<AlignedBuffer> buffer = AlignedBuffer::create(kBytes);
    if (!buffer)
        return tl::unexpected(std::move(buffer.error()));
    BandwidthProbe probe;
    probe.m_buffer = std::move(*buffer);
    probe.m_pool = std::make_unique<ThreadPool>(threads);
    std::memset(probe.m_buffer.data(), 1, kBytes); // pages are there only once touched
    return probe;
}

double BandwidthProbe::measure()
{
    const std::size_t words = kBytes / sizeof(std::uint64_t);
    const auto threads = static_cast<std::size_t>(m_pool->threads());
    const std::uint64_t *data = m_buffer.as<std::uint64_t>();
    std::atomic<std::uint64_t> sum = m_sum;
    const std::int64_t beginNs = nowNs();
    m_pool->run([&](int thread) {
        const std::size_t index = static_cast<std::size_t>(thread);
        const std::size_t begin = words * index / threads;
        const std::size_t end = words * (index + 1) / threads;
        sum += sumOf(data + begin, end - begin);
    });
    const std::int64_t ns = nowNs() - beginNs;
    m_sum = sum;
    return static_cast<double>(kBytes) * 1e9 / static_cast<double>(ns);
}

} // namespace lectern::cli
