// SPDX-License-Identifier: GPL-3.0-or-later
// The runs as a table: one row a run, oldest first. GUI thread.
#pragma once

#include "app/core/run_store.h"

#include <QAbstractTableModel>

namespace lectern
{

class RunTableModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { Title, Model, Backend, Prompt, Output, Ttft, Tpot, DecodeRate, Kv, Outcome, Overlay, ColumnCount };
    enum Role { RunIdRole = Qt::UserRole, StyleRole, IsCurrentRole, SortRole };

    explicit RunTableModel(RunStore *store, QObject *parent = nullptr);

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;         // tooltips give the metric's definition with its numbers
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex &index) const override;             // Overlay is checkable, Title is editable
    bool setData(const QModelIndex &index, const QVariant &value, int role) override;
    int rowOf(int runId) const; // -1 if unknown

private:
    RunStore *m_store;
};

} // namespace lectern
