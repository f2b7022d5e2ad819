// SPDX-License-Identifier: GPL-3.0-or-later
// What the timeline keeps of a run: begin and end of every output token's step in milliseconds, appended as the run
// grows.
#pragma once

#include "widgets/timeline_chart.h"

#include <map>
#include <vector>

namespace lectern {

struct TimelineChart::Series
{
    std::vector<double> beginMs, endMs;
    double lastMs = 0; // of all phases
};

struct TimelineChart::Private
{
    std::map<int, Series> series; // by run
    double liveEndMs = 0;
};

} // namespace lectern
