// SPDX-License-Identifier: GPL-3.0-or-later
// A submitted request: what the engine thread and the threads that cancel or pause it share.
#pragma once

#include "engine/base/stop_flag.h"
#include "engine/schedule/run_clock.h"
#include "engine/trace/event.h"

#include <string>
#include <utility>

namespace lectern {

struct Ticket
{
    Ticket(RequestId requestId, Request wanted, EventSink &eventSink, std::string created, ClockFunction now)
        : id(requestId)
        , request(std::move(wanted))
        , sink(eventSink)
        , createdUtc(std::move(created))
        , clock(std::move(now))
    {
    }

    // Engine thread.
    void emitEvent(EventBody body);

    const RequestId id;
    const Request request;
    EventSink &sink;
    const std::string createdUtc;
    RunClock clock;           // any thread
    StopFlag stop;            // any thread
    bool isAnnounced = false; // Queued was emitted; engine thread
    bool isAdmitted = false;  // the scheduler has it; engine thread
};

} // namespace lectern
