// SPDX-License-Identifier: GPL-3.0-or-later
// Table of runs: marker and colour as in the charts, current run highlighted, overlay check box, rename, delete with
// undo.
//
// Choosing a row makes its run the current one. Keys: F2 renames, Space switches the overlay, Delete asks for removal.
#pragma once

#include "app/core/run_table_model.h"
#include "widgets/theme.h"

#include <QTableView>

#include <array>

namespace lectern {

class RunDelegate;

class RunsView : public QTableView
{
    Q_OBJECT

public:
    explicit RunsView(RunStore *store, QWidget *parent = nullptr);
    void setTheme(const Theme &theme);

Q_SIGNALS:
    void removeRequested(int runId); // Delete key or context menu
    void saveRequested(int runId);

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;
    void paintEvent(QPaintEvent *event) override; // empty state

private:
    int runAt(const QModelIndex &index) const; // 0: none
    void selectCurrentRun();
    void sizeColumns();
    RunStore *m_store;
    RunTableModel *m_model;
    RunDelegate *m_delegate;
    Theme m_theme;
    std::array<int, RunTableModel::ColumnCount> m_wanted{}; // widths that show every cell whole
};

} // namespace lectern
