// SPDX-License-Identifier: GPL-3.0-or-later
// The runs as a table: one row a run, oldest first. GUI thread.
#pragma once

#include "app/core/run_store.h"

#include <QAbstractTableModel>

#include <vector>

namespace lectern {

class RunTableModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        Title,
        Model,
        Backend,
        Prompt,
        Output,
        Ttft,
        Tpot,
        DecodeRate,
        Kv,
        Outcome,
        Overlay,
        ColumnCount
    };
    enum Role
    {
        RunIdRole = Qt::UserRole,
        StyleRole,
        IsCurrentRole,
        SortRole
    };

    explicit RunTableModel(RunStore *store, QObject *parent = nullptr);

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index,
                  int role) const override; // tooltips give the metric's definition with its numbers
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex &index) const override; // Overlay is checkable, Title is editable
    bool setData(const QModelIndex &index, const QVariant &value, int role) override;
    int rowOf(int runId) const; // -1 if unknown

private:
    static QString backendText(const EngineInfo &engine);
    QString text(const RunEntry &run, int column) const;
    QString toolTip(const RunEntry &run, int column) const;
    QVariant sortKey(const RunEntry &run, int column) const;
    void addRun(int id);
    void dropRun(int id);
    void rowChanged(int id, const QList<int> &roles = {});

    RunStore *m_store;
    std::vector<int> m_ids; // row -> run; the model's own, since the store changes before it tells
    int m_currentId = 0;
};

} // namespace lectern
