// SPDX-License-Identifier: GPL-3.0-or-later
// What the next forward pass of a sequence computes. There are no phases here: a sequence has tokens, some of them
// computed, and a pass takes the next ones (the view of vLLM's scheduler). Prefill is a pass over several tokens,
// decode one over a single token, and a sequence whose cache is thrown away starts at 0 again.
#pragma once

#include "engine/backend/backend.h"

#include <algorithm>

namespace lectern {

struct StepPlan
{
    int begin = 0; // tokens [begin, end) of the sequence
    int end = 0;
    bool wantsLogits = false; // the pass reaches the last token, so the next one can be sampled
    int count() const { return end - begin; }
};

// `computed` < `total`: at least one token is left to compute.
inline StepPlan planStep(int computed, int total)
{
    const int end = std::min(total, computed + kPassTokens);
    return {computed, end, end == total};
}

} // namespace lectern
