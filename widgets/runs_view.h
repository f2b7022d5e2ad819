// SPDX-License-Identifier: GPL-3.0-or-later
// Table of runs: marker and colour as in the charts, current run highlighted, overlay check box, rename, delete with undo.
#pragma once

#include "app/core/run_table_model.h"
#include "widgets/theme.h"

#include <QTableView>

namespace lectern
{

class RunsView : public QTableView
{
    Q_OBJECT

public:
    explicit RunsView(RunStore *store, QWidget *parent = nullptr);
    void setTheme(const Theme &theme);

Q_SIGNALS:
    void removeRequested(int runId); // Delete key or context menu
    void saveRequested(int runId);

private:
    RunStore *m_store;
    RunTableModel *m_model;
};

} // namespace lectern
