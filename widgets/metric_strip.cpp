// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/metric_strip.h"

#include "app/core/metric_text.h"
#include "widgets/still_label.h"

#include <QEvent>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include <array>

namespace lectern {

namespace {

struct CellKind
{
    MetricId id;
    const char *widest; // a long value of this metric: cells are as wide as this, whatever is in them
};

constexpr std::array<CellKind, 6> kCells{{{MetricId::Ttft, "888.8 ms"},
                                          {MetricId::Prefill, "8,888 tok/s"},
                                          {MetricId::Tpot, "88.8 ms"},
                                          {MetricId::Decode, "8,888 tok/s"},
                                          {MetricId::ItlP99, "88.8 ms"},
                                          {MetricId::Total, "888.8 ms"}}};
constexpr std::array kValueSizes{1.5, 1.35, 1.2, 1.05, 1.0};
constexpr double kNameSize = 0.92;

struct Cell
{
    QWidget *box;
    StillLabel *name;
    StillLabel *value;
};

QFont scaled(const QFont &base, double factor, bool bold)
{
    QFont font = base;
    font.setPointSizeF(base.pointSizeF() * factor);
    font.setBold(bold);
    return font;
}

} // namespace

struct MetricStrip::Private : public QObject
{
    using QObject::QObject;
    std::array<Cell, kCells.size()> cells;
};

MetricStrip::MetricStrip(QWidget *parent)
    : QWidget(parent)
    , d(new Private(this))
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->setSizeConstraint(QLayout::SetNoConstraint); // cells that do not fit are hidden instead
    for (Cell &cell : d->cells) {
        cell.box = new QWidget(this);
        cell.name = new StillLabel(cell.box);
        cell.value = new StillLabel(cell.box);
        for (const StillLabel *label : {cell.name, cell.value})
            label->label()->setTextFormat(Qt::PlainText);
        cell.name->label()->setProperty("muted", true);
        auto *column = new QVBoxLayout(cell.box);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(0);
        column->addWidget(cell.name);
        column->addWidget(cell.value);
        layout->addWidget(cell.box);
    }
    layout->addStretch(1);
    clear();
    fit();
}

void MetricStrip::setMetrics(const Metrics &metrics)
{
    for (std::size_t i = 0; i < kCells.size(); ++i) {
        const MetricText text = metricText(kCells[i].id, metrics);
        const Cell &cell = d->cells[i];
        cell.name->setText(text.name);
        cell.value->setText(text.value);
        cell.box->setToolTip(text.toolTip);
        cell.box->setAccessibleName(text.longName);
        cell.value->label()->setAccessibleName(tr("%1: %2", "metric, value").arg(text.longName, text.value));
        cell.value->label()->setAccessibleDescription(text.definition);
    }
}

void MetricStrip::clear()
{
    setMetrics({});
}

QSize MetricStrip::minimumSizeHint() const
{
    return {1, QWidget::minimumSizeHint().height()};
}

void MetricStrip::fit()
{
    const int gap = fontMetrics().averageCharWidth() * 2;
    const auto widthOf = [&](std::size_t i, double size) {
        const int value =
            QFontMetrics(scaled(font(), size, true)).horizontalAdvance(QString::fromLatin1(kCells[i].widest));
        const int name =
            QFontMetrics(scaled(font(), kNameSize, false)).horizontalAdvance(d->cells[i].name->label()->text());
        return std::max(value, name) + gap;
    };
    double size = kValueSizes.back();
    for (const double candidate : kValueSizes) {
        int total = -gap;
        for (std::size_t i = 0; i < kCells.size(); ++i) {
            total += widthOf(i, candidate);
        }
        if (total <= width()) {
            size = candidate;
            break;
        }
    }
    // Room that is left over goes between the cells, so that they spread over the pane.
    int total = -gap;
    for (std::size_t i = 0; i < kCells.size(); ++i) {
        total += widthOf(i, size);
    }
    const int spare = std::clamp((width() - total - gap) / static_cast<int>(kCells.size()), 0, gap * 3);
    int used = 0;
    for (std::size_t i = 0; i < kCells.size(); ++i) {
        const Cell &cell = d->cells[i];
        cell.name->setFont(scaled(font(), kNameSize, false));
        cell.value->setFont(scaled(font(), size, true));
        const int cellWidth = widthOf(i, size) + spare;
        used += cellWidth;
        cell.box->setFixedWidth(cellWidth);
        cell.box->setVisible(i == 0 || used - gap - spare <= width());
    }
}

void MetricStrip::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    fit();
}

void MetricStrip::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        fit();
    }
}

} // namespace lectern
