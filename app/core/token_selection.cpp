// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/token_selection.h"

namespace lectern {

void TokenSelection::setHovered(TokenRef token)
{
    if (!token.isValid())
        token = {}; // one way to say "none"
    if (token == m_hovered)
        return;
    m_hovered = token;
    Q_EMIT hoveredChanged(token);
}

} // namespace lectern
