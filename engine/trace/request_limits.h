// SPDX-License-Identifier: GPL-3.0-or-later
// What a user may ask for, both ends allowed: the one table for lectern-cli, lectern's command line and the window's
// fields. A model may allow less; the engine says so. Temperature and repetition penalty are in sampler.h; a seed is
// any 64 bits.
#pragma once

#include "engine/base/cpu_features.h"
#include "engine/sampling/sampler.h"

#include <cstdint>

namespace lectern {

inline constexpr int kMaxContextTokens = 1 << 24;  // from 0: the model's own, at most kDefaultContextTokens
inline constexpr int kMaxRuns = 64;                // from 1: at the same time
inline constexpr int kMaxOutputTokens = 1'000'000; // from 1
inline constexpr int kMaxTopK = 1'000'000;         // from 0: off
inline constexpr int kMaxTopCandidates = 20;       // from 0
inline constexpr std::int64_t kMaxKvBudgetBytes = std::int64_t{1} << 50; // from 0; far above any machine's memory

inline constexpr int kMaxThreadsPerCore = 4; // beyond that every barrier waits for threads without a core
inline int maxThreads()                      // from 0: all cores
{
    return cpuCoreCount() * kMaxThreadsPerCore;
}

} // namespace lectern
