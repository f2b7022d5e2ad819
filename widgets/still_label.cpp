// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/still_label.h"

#include <QEvent>

#include <algorithm>

namespace lectern {

StillLabel::StillLabel(QWidget *parent)
    : QWidget(parent)
    , m_label(new QLabel(this)) // in no layout: its wishes go no further
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    fit();
}

void StillLabel::setText(const QString &text)
{
    if (text == m_label->text())
        return;
    m_label->setText(text);
    fit();
}

int StillLabel::neededHeight() const
{
    const int line = m_label->fontMetrics().height();
    return m_label->wordWrap() && width() > 1 ? std::max(line, m_label->heightForWidth(width())) : line;
}

void StillLabel::fit()
{
    const int height = neededHeight();
    if (height == m_height)
        return;
    m_height = height;
    updateGeometry();
}

QSize StillLabel::sizeHint() const
{
    return {1, m_height};
}

void StillLabel::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    m_label->setGeometry(rect());
    fit();
}

void StillLabel::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        m_label->setFont(font()); // a style sheet keeps a parent's font from its children
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
        fit();
}

} // namespace lectern
