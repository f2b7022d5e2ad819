// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/prompt_splitter.h"

#include <algorithm>
#include <cmath>

namespace lectern {

namespace {

constexpr double kSentShare = 0.55;

}

PromptSplitter::PromptSplitter(QWidget *parent)
    : QSplitter(Qt::Vertical, parent)
{
    connect(this, &QSplitter::splitterMoved, this, [this] { m_isMoved = true; });
}

void PromptSplitter::setHeights(int line, int margins, int aroundUpper, int aroundLower)
{
    m_line = line;
    m_margins = margins;
    m_aroundUpper = aroundUpper;
    m_aroundLower = aroundLower;
    share();
}

void PromptSplitter::reset()
{
    m_isMoved = false;
    share();
}

void PromptSplitter::resizeEvent(QResizeEvent *event)
{
    share();
    QSplitter::resizeEvent(event);
}

void PromptSplitter::share()
{
    if (m_isMoved)
        return;
    const int room = height() - handleWidth();
    const int lines = (room - m_aroundUpper - m_aroundLower - 2 * m_margins) / m_line;
    const int sentLines = std::clamp(static_cast<int>(std::ceil(kSentShare * lines)), 1, std::max(1, lines - 1));
    const int sent = m_aroundLower + m_margins + sentLines * m_line;
    setSizes({std::max(1, room - sent), sent});
}

} // namespace lectern
