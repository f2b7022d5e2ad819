// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs_view.h"

#include "widgets/run_delegate.h"

#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>

#include <algorithm>

namespace lectern {

RunsView::RunsView(RunStore *store, QWidget *parent)
    : QTableView(parent)
    , m_store(store)
    , m_model(new RunTableModel(store, this))
    , m_delegate(new RunDelegate(this))
    , m_theme(Theme::light())
{
    setObjectName(QStringLiteral("runsView"));
    setAccessibleName(tr("Runs"));
    setModel(m_model);
    setItemDelegate(m_delegate);
    setFrameShape(QFrame::NoFrame);
    setShowGrid(false);
    setSelectionBehavior(SelectRows);
    setSelectionMode(SingleSelection);
    setEditTriggers(EditKeyPressed | DoubleClicked);
    setTabKeyNavigation(false); // Tab leaves the table
    setWordWrap(false);
    setHorizontalScrollMode(ScrollPerPixel);
    verticalHeader()->hide();
    verticalHeader()->setMinimumSectionSize(1);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSectionsClickable(false);
    horizontalHeader()->setSectionResizeMode(QHeaderView::Interactive);
    horizontalHeader()->setMinimumSectionSize(1);

    connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex &now) {
        if (const int id = runAt(now)) {
            m_store->setCurrent(id);
        }
    });
    connect(m_store, &RunStore::currentChanged, this, &RunsView::selectCurrentRun);
    for (const auto &signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved}) {
        connect(m_model, signal, this, [this] {
            sizeColumns();
            viewport()->update();
        });
    }
    // While numbers run in, columns only widen; everything is fitted again when a run comes or goes.
    connect(m_model, &QAbstractItemModel::dataChanged, this, [this](const QModelIndex &first) {
        for (int column = RunTableModel::Model; column < RunTableModel::ColumnCount; ++column) {
            if (sizeHintForIndex(first.siblingAtColumn(column)).width() > m_wanted[static_cast<std::size_t>(column)]) {
                sizeColumns();
                return;
            }
        }
    });
    sizeColumns();
    selectCurrentRun();
}

void RunsView::setTheme(const Theme &theme)
{
    m_theme = theme;
    m_delegate->setTheme(theme);
    sizeColumns();
    viewport()->update();
}

int RunsView::runAt(const QModelIndex &index) const
{
    return index.isValid() ? index.data(RunTableModel::RunIdRole).toInt() : 0;
}

void RunsView::selectCurrentRun()
{
    const int row = m_model->rowOf(m_store->currentId());
    if (row < 0) {
        clearSelection();
    } else if (currentIndex().row() != row) {
        const int column = std::max(0, currentIndex().column());
        setCurrentIndex(m_model->index(row, column));
    }
}

// Every column as wide as its longest cell; the title takes what is left. Where that is too little, long texts are
// elided: their tooltips have them whole.
void RunsView::sizeColumns()
{
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() * 3 / 2 + 2);
    const int character = fontMetrics().averageCharWidth();
    int others = 0;
    for (int column = 0; column < RunTableModel::ColumnCount; ++column) {
        if (column != RunTableModel::Title) {
            const int most = std::max(sizeHintForColumn(column), horizontalHeader()->sectionSizeHint(column));
            m_wanted[static_cast<std::size_t>(column)] = most;
            setColumnWidth(column, most);
            others += most;
        }
    }
    const int wanted = std::clamp(sizeHintForColumn(RunTableModel::Title), character * 18, character * 30);
    int missing = others + wanted - viewport()->width();
    for (const int column : {RunTableModel::Model, RunTableModel::Backend, RunTableModel::Outcome}) {
        const int give = std::clamp(missing, 0, std::max(0, columnWidth(column) - character * 12));
        setColumnWidth(column, columnWidth(column) - give);
        missing -= give;
        others -= give;
    }
    setColumnWidth(RunTableModel::Title, std::max(std::min(wanted, character * 18), viewport()->width() - others));
}

void RunsView::keyPressEvent(QKeyEvent *event)
{
    const int id = runAt(currentIndex());
    if (id && event->key() == Qt::Key_Delete) {
        Q_EMIT removeRequested(id);
        return;
    }
    if (id && event->key() == Qt::Key_F2) {
        edit(currentIndex().siblingAtColumn(RunTableModel::Title));
        return;
    }
    if (id && event->key() == Qt::Key_Space) {
        m_store->setOverlaid(id, !m_store->find(id)->isOverlaid);
        return;
    }
    QTableView::keyPressEvent(event);
}

void RunsView::contextMenuEvent(QContextMenuEvent *event)
{
    const bool isKey = event->reason() == QContextMenuEvent::Keyboard;
    const QModelIndex index = isKey ? currentIndex() : indexAt(event->pos());
    const int id = runAt(index);
    const RunEntry *run = m_store->find(id);
    if (!run) {
        return;
    }
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    QAction *overlay = menu->addAction(tr("&Overlay in all charts"));
    overlay->setCheckable(true);
    overlay->setChecked(run->isOverlaid);
    connect(overlay, &QAction::toggled, this, [this, id](bool on) { m_store->setOverlaid(id, on); });
    const QPersistentModelIndex title(index.siblingAtColumn(RunTableModel::Title));
    connect(menu->addAction(tr("&Rename")), &QAction::triggered, this, [this, title] { edit(title); });
    connect(menu->addAction(tr("&Save run…")), &QAction::triggered, this, [this, id] { Q_EMIT saveRequested(id); });
    menu->addSeparator();
    connect(menu->addAction(tr("Re&move")), &QAction::triggered, this, [this, id] { Q_EMIT removeRequested(id); });
    menu->popup(isKey ? viewport()->mapToGlobal(visualRect(index).bottomLeft()) : event->globalPos());
}

void RunsView::resizeEvent(QResizeEvent *event)
{
    QTableView::resizeEvent(event);
    sizeColumns();
}

void RunsView::changeEvent(QEvent *event)
{
    QTableView::changeEvent(event);
    if (event->type() == QEvent::FontChange && m_model) {
        sizeColumns();
    }
}

void RunsView::paintEvent(QPaintEvent *event)
{
    QTableView::paintEvent(event);
    if (m_model->rowCount() == 0) {
        QPainter painter(viewport());
        painter.setPen(m_theme.mutedText);
        const int pad = fontMetrics().height();
        painter.drawText(
            viewport()->rect().adjusted(pad, 0, -pad, 0), Qt::AlignCenter | Qt::TextWordWrap,
            tr("Runs appear here, one row each. Tick Overlay on two of them to compare them in every chart."));
    }
}

} // namespace lectern
