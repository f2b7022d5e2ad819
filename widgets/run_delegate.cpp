// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/run_delegate.h"

#include "app/core/run_table_model.h"
#include "widgets/chart_paint.h"

#include <QApplication>
#include <QMouseEvent>
#include <QPainter>

#include <cmath>

namespace lectern {

int RunDelegate::markerRoom(const QStyleOptionViewItem &option) const
{
    return option.fontMetrics.height() + 6;
}

// Own drawing: Fusion's unchecked box cannot be told from a dark card.
void RunDelegate::drawCheckBox(QPainter *painter, const QRect &cell, int lineHeight, bool isChecked) const
{
    const double side = std::round(lineHeight * 0.85);
    const QRectF box(std::floor(cell.center().x() - side / 2) + 0.5, std::floor(cell.center().y() - side / 2) + 0.5,
                     side, side);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(isChecked ? m_theme.accent : m_theme.mutedText, 1));
    painter->setBrush(isChecked ? m_theme.accent : m_theme.card);
    painter->drawRoundedRect(box, 2.5, 2.5);
    if (isChecked) {
        QPen pen(m_theme.palette().color(QPalette::HighlightedText), side * 0.15);
        pen.setCapStyle(Qt::RoundCap);
        painter->setPen(pen);
        painter->setBrush(Qt::NoBrush);
        const auto at = [&](double x, double y) { return QPointF(box.left() + x * side, box.top() + y * side); };
        painter->drawPolyline(QPolygonF{at(0.22, 0.52), at(0.42, 0.72), at(0.78, 0.28)});
    }
    painter->restore();
}

void RunDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    QStyleOptionViewItem cell = option;
    initStyleOption(&cell, index);
    const QStyle *style = cell.widget ? cell.widget->style() : QApplication::style();
    const bool isCurrent = index.data(RunTableModel::IsCurrentRole).toBool();
    if (isCurrent || cell.state.testFlag(QStyle::State_Selected)) {
        painter->fillRect(cell.rect, mixed(m_theme.card, m_theme.accent, isCurrent ? 0.14 : 0.08));
    }
    if (index.column() == RunTableModel::Overlay) {
        drawCheckBox(painter, cell.rect, cell.fontMetrics.height(),
                     index.data(Qt::CheckStateRole).toInt() == Qt::Checked);
    } else {
        const int margin = style->pixelMetric(QStyle::PM_FocusFrameHMargin, nullptr, cell.widget) + 4;
        QRect text = cell.rect.adjusted(margin, 0, -margin, 0);
        if (index.column() == RunTableModel::Title) {
            const int room = markerRoom(cell);
            const RunStyle &look = runStyle(m_theme, index.data(RunTableModel::StyleRole).toInt());
            painter->save();
            painter->setRenderHint(QPainter::Antialiasing);
            drawMarker(painter, QPointF(text.left() + room / 2.0 - 2, text.center().y() + 0.5), room * 0.52,
                       look.marker, look.color);
            painter->restore();
            text.setLeft(text.left() + room);
        }
        QFont font = cell.font;
        font.setBold(isCurrent && index.column() == RunTableModel::Title);
        painter->setFont(font);
        painter->setPen(index.column() == RunTableModel::Title || isCurrent
                            ? m_theme.text
                            : mixed(m_theme.text, m_theme.mutedText, 0.5));
        const QString shown = QFontMetrics(font).elidedText(cell.text, Qt::ElideRight, text.width());
        painter->drawText(text, static_cast<int>(cell.displayAlignment), shown);
    }
    if (cell.state.testFlag(QStyle::State_HasFocus)) {
        painter->setPen(QPen(m_theme.accent, 1));
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(QRectF(cell.rect).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

QSize RunDelegate::sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    if (index.column() == RunTableModel::Title) {
        QFont bold = option.font; // so that becoming current does not elide
        bold.setBold(true);
        size.setWidth(QFontMetrics(bold).horizontalAdvance(index.data().toString()) + markerRoom(option) + 16);
    } else {
        size.rwidth() += 6;
    }
    size.setHeight(option.fontMetrics.height() * 3 / 2 + 2);
    return size;
}

bool RunDelegate::editorEvent(QEvent *event, QAbstractItemModel *model, const QStyleOptionViewItem &option,
                              const QModelIndex &index)
{
    if (index.column() != RunTableModel::Overlay) {
        return QStyledItemDelegate::editorEvent(event, model, option, index);
    }
    // The whole cell is the box's target: easier to hit than the small square.
    const bool isClick =
        event->type() == QEvent::MouseButtonRelease && static_cast<QMouseEvent *>(event)->button() == Qt::LeftButton;
    if (!isClick) {
        return false;
    }
    const bool isOn = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
    return model->setData(index, isOn ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
}

void RunDelegate::updateEditorGeometry(QWidget *editor, const QStyleOptionViewItem &option,
                                       const QModelIndex &index) const
{
    QRect rect = option.rect;
    if (index.column() == RunTableModel::Title) {
        rect.setLeft(rect.left() + markerRoom(option) + 2);
    }
    editor->setGeometry(rect);
}

} // namespace lectern
