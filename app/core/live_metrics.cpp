// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/live_metrics.h"

#include <utility>

namespace lectern {

LiveMetrics::LiveMetrics(std::shared_ptr<const RunRecord> record)
    : m_record(std::move(record))
    , m_extent(extent())
    , m_metrics(metricsOf(*m_record))
{
}

const Metrics &LiveMetrics::now()
{
    if (const auto extentNow = extent(); extentNow != m_extent) {
        m_extent = extentNow;
        m_metrics = metricsOf(*m_record);
    }
    return m_metrics;
}

std::array<std::size_t, 5> LiveMetrics::extent() const
{
    return {m_record->outputTokens.size(), m_record->promptTokens.size(), m_record->prefillChunks.size(),
            m_record->kv.size(), static_cast<std::size_t>(m_record->state)};
}

} // namespace lectern
