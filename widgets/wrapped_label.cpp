// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/wrapped_label.h"

#include <algorithm>

namespace lectern {

WrappedLabel::WrappedLabel(QWidget *parent)
    : QLabel(parent)
{
    setWordWrap(true);  // long texts must not widen the pane
    setMinimumWidth(1); // nor long words, which are cut
}

void WrappedLabel::showText(const QString &text)
{
    setText(text);
    if (isVisible()) // before, the width is not known
        fit();
}

void WrappedLabel::resizeEvent(QResizeEvent *event)
{
    QLabel::resizeEvent(event);
    fit();
}

void WrappedLabel::fit()
{
    setMinimumHeight(std::max(0, heightForWidth(width()))); // -1 without a text
}

} // namespace lectern
