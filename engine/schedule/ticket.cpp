// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/ticket.h"

namespace lectern {

// Not inline: g++ 12 then takes the alternatives that a moved variant does not hold for uninitialised members.
void Ticket::emitEvent(EventBody body)
{
    sink.emitEvent({id, std::move(body)});
}

} // namespace lectern
