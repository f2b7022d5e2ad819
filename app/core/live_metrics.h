// SPDX-License-Identifier: GPL-3.0-or-later
// The metrics of a record as it stands, derived once after it has grown however many panes ask. GUI thread.
#pragma once

#include "engine/trace/metrics.h"

#include <array>
#include <memory>

namespace lectern {

class LiveMetrics
{
public:
    explicit LiveMetrics(std::shared_ptr<const RunRecord> record);

    // Derived anew if the record has grown or its state has changed: 0.1 ms for 8,192 tokens. The reference stays
    // valid, what it refers to follows.
    const Metrics &now();

private:
    std::array<std::size_t, 5> extent() const;
    std::shared_ptr<const RunRecord> m_record;
    std::array<std::size_t, 5> m_extent{}; // of the record when m_metrics were derived
    Metrics m_metrics;
};

} // namespace lectern
