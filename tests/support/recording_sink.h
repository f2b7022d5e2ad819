// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps every event and the record that they make; a hook may act on each event as it comes.
#pragma once

#include "engine/trace/event.h"

#include <functional>
#include <string>
#include <vector>

namespace lectern::test {

class RecordingSink : public EventSink
{
public:
    void emitEvent(Event event) override
    {
        apply(event, record);
        events.push_back(event);
        if (onEvent)
            onEvent(events.back());
    }

    // "queued tokenized grew chunk token ... finished", load progress left out.
    std::string story() const
    {
        static constexpr const char *kNames[] = {"",     "queued", "tokenized", "chunk",    "token",
                                                 "grew", "traced", "preempted", "finished", "failed"};
        static_assert(std::size(kNames) == std::variant_size_v<EventBody>);
        std::string text;
        for (const Event &event : events)
            if (event.body.index() > 0)
                text += (text.empty() ? "" : " ") + std::string(kNames[event.body.index()]);
        return text;
    }

    int ends() const
    {
        int count = 0;
        for (const Event &event : events)
            count += std::holds_alternative<Finished>(event.body) || std::holds_alternative<Failed>(event.body) ? 1 : 0;
        return count;
    }

    template <class Body>
    int count() const
    {
        int found = 0;
        for (const Event &event : events)
            found += std::holds_alternative<Body>(event.body) ? 1 : 0;
        return found;
    }

    std::vector<TokenId> outputIds() const
    {
        std::vector<TokenId> ids;
        for (const TokenRecord &token : record.outputTokens)
            ids.push_back(token.id);
        return ids;
    }

    std::vector<Event> events;
    RunRecord record; // of the last request
    std::function<void(const Event &)> onEvent;
};

} // namespace lectern::test
