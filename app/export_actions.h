// SPDX-License-Identifier: GPL-3.0-or-later
// The Export menu: each chart as picture or to the clipboard, the run as JSON, its tables as CSV, everything at once.
#pragma once

#include "app/core/settings.h"
#include "app/run_bundle.h"
#include "engine/base/result.h"
#include "widgets/chart_export.h"

#include <QObject>

#include <functional>
#include <vector>

class QMenu;
class QWidget;

namespace lectern {

class ExportActions : public QObject
{
    Q_OBJECT

public:
    ExportActions(RunStore *store, Settings *settings, std::vector<NamedChart> charts, QWidget *window);

    void fill(QMenu *menu);
    void saveRunAs(int runId);

Q_SIGNALS:
    void exported(const QString &text); // for the message bar
    void failed(const lectern::Error &error);

private:
    void updateActions();
    void askForChart(const NamedChart &chart);
    void askForFile(const QString &title, const QString &suggestion, const QString &filter, const QString &suffix,
                    std::function<Result<void>(const QString &)> write);
    void report(const QString &path, const Result<void> &result);
    RunStore *m_store;
    Settings *m_settings;
    std::vector<NamedChart> m_charts;
    QWidget *m_window;
    std::vector<class QAction *> m_needRun;
};

} // namespace lectern
