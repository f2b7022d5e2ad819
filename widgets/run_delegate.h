// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the cells of the runs table: the run's marker before its title, the current run bold, the overlay box in the
// middle.
#pragma once

#include "widgets/theme.h"

#include <QStyledItemDelegate>

namespace lectern {

class RunDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void setTheme(const Theme &theme) { m_theme = theme; }

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    bool editorEvent(QEvent *event, QAbstractItemModel *model, const QStyleOptionViewItem &option,
                     const QModelIndex &index) override;
    void updateEditorGeometry(QWidget *editor, const QStyleOptionViewItem &option,
                              const QModelIndex &index) const override;

private:
    int markerRoom(const QStyleOptionViewItem &option) const;
    void drawCheckBox(QPainter *painter, const QRect &cell, int lineHeight, bool isChecked) const;
    Theme m_theme = Theme::light();
};

} // namespace lectern
