// SPDX-License-Identifier: GPL-3.0-or-later
// The one hovered token that all panes share. GUI thread.
#pragma once

#include <QObject>

namespace lectern {

enum class TokenPart
{
    Prompt,
    Output
};

struct TokenRef
{
    int runId = 0; // 0: the prompt being edited
    TokenPart part = TokenPart::Prompt;
    int index = -1; // -1: none

    bool isValid() const { return index >= 0; }
    bool operator==(const TokenRef &) const = default;
};

class TokenSelection : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;
    TokenRef hovered() const { return m_hovered; }
    void setHovered(TokenRef token); // emits only on change
    void clear() { setHovered({}); }

Q_SIGNALS:
    void hoveredChanged(lectern::TokenRef token);

private:
    TokenRef m_hovered;
};

} // namespace lectern
