// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/event_queue.h"

#include <utility>

namespace lectern {

void EventQueue::emitEvent(Event event)
{
    bool wasEmpty = false;
    {
        const std::lock_guard lock(m_mutex);
        wasEmpty = m_events.empty();
        m_events.push_back(std::move(event));
    }
    if (wasEmpty)
        Q_EMIT pendingAvailable();
}

std::vector<Event> EventQueue::take()
{
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_events, {});
}

} // namespace lectern
