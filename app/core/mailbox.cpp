// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/mailbox.h"

#include <utility>

namespace lectern {

Mailbox::Mailbox(QObject *parent)
    : QObject(parent)
{
    connect(this, &Mailbox::filled, this, &Mailbox::makeCalls, Qt::QueuedConnection);
}

void Mailbox::post(std::function<void()> call)
{
    bool wasEmpty = false;
    {
        const std::lock_guard lock(m_mutex);
        wasEmpty = m_calls.empty();
        m_calls.push_back(std::move(call));
    }
    if (wasEmpty)
        Q_EMIT filled();
}

// Calls that are posted meanwhile wait for the next turn of the event loop.
void Mailbox::makeCalls()
{
    std::vector<std::function<void()>> calls;
    {
        const std::lock_guard lock(m_mutex);
        calls.swap(m_calls);
    }
    for (const std::function<void()> &call : calls)
        call();
}

} // namespace lectern
