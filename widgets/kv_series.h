// SPDX-License-Identifier: GPL-3.0-or-later
// What the KV chart keeps of a run: its samples as columns, appended as the run grows. Tokens never fall.
#pragma once

#include "widgets/kv_chart.h"

#include <map>
#include <vector>

namespace lectern {

struct KvChart::Series
{
    std::vector<double> tokens{0}, used{0}, allocated{0}; // bytes
    std::size_t taken = 0;                                // samples of the record read so far

    double lastTokens() const { return tokens.back(); }
};

struct KvChart::Private
{
    std::map<int, Series> series; // by run
    double liveTokens = 0, liveBytes = 0;
};

inline bool hasNoCache(const ShownRun &run)
{
    return run.record->request.cache == CacheMode::None;
}

} // namespace lectern
