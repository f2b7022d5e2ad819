// SPDX-License-Identifier: GPL-3.0-or-later
// Calls from any thread, made in the thread that the mailbox lives in, in the order in which they were posted.
//
// A queued invocation would do the same; this one hands the arguments over under a lock of our own, which
// ThreadSanitizer sees (the locks inside the Qt library it does not), and wakes the receiver once per batch.
#pragma once

#include <QObject>

#include <functional>
#include <mutex>
#include <vector>

namespace lectern {

class Mailbox : public QObject
{
    Q_OBJECT

public:
    explicit Mailbox(QObject *parent = nullptr);

    // Any thread. Calls that are still waiting when the mailbox goes are dropped.
    void post(std::function<void()> call);

Q_SIGNALS:
    void filled(); // the mailbox was empty; connected to makeCalls() through the event loop

private:
    void makeCalls();
    std::mutex m_mutex;
    std::vector<std::function<void()>> m_calls;
};

} // namespace lectern
