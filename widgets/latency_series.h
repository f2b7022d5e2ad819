// SPDX-License-Identifier: GPL-3.0-or-later
// What the latency chart keeps of a run: one number a token, appended as the run grows.
#pragma once

#include "widgets/latency_chart.h"

#include <map>
#include <vector>

namespace lectern {

struct LatencyChart::Series
{
    std::vector<double> ms; // [0]: time to first token; then the step of each token; NaN where the clock did not move
    double largestStep = 0; // of the decode steps
    double stepSum = 0, indexSum = 0;
    std::size_t steps = 0; // finite ones
    double top = 0;        // of the axis that shows these steps: their largest, or less when a few stick out far
};

struct LatencyChart::Private
{
    std::map<int, Series> series; // by run
    double liveTokens = 0, liveMs = 0;
    bool hasTextLine = true; // above the bars
    double axisTop = 1;      // of the values; the axis itself leaves room for a line of text above
};

} // namespace lectern
