// SPDX-License-Identifier: GPL-3.0-or-later
// The Export menu: each chart as picture or to the clipboard, the run as JSON, its tables as CSV, everything at once.
// All of it is made and written in the background; while that goes on, the window stays open until it has ended.
#pragma once

#include "app/core/export_queue.h"
#include "app/core/settings.h"
#include "app/run_bundle.h"
#include "engine/base/result.h"
#include "widgets/chart_export.h"

#include <QObject>

#include <functional>
#include <vector>

class QAction;
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
    // The run with all charts into `folder`, which may exist; `done` gets the paths.
    void writeBundle(const RunEntry &run, const QString &folder, std::function<void(const Result<QStringList> &)> done);
    void cancel(); // what has not begun; a window that was to close stays
    ExportQueue *queue() { return &m_queue; }

Q_SIGNALS:
    void exported(const QString &text);                     // for the message bar
    void failed(const std::vector<lectern::Error> &errors); // of all exports until none is left
    void progressed(const QString &text, bool canCancel);   // what lasts over half a second
    void ended();                                           // no export is left: progress is of the past

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    // Takes what the file gets when its name has been chosen: later changes of the run are not in it.
    using MakeStep = std::function<Result<ExportStep>(const QString &path)>;
    using WriteRun = std::function<Result<void>(const RunRecord &, const QString &title, const QString &path)>;

    void addChart(QMenu *menu, const NamedChart &chart);
    QAction *add(QMenu *menu, const QString &text, const QString &name, std::function<void()> action);
    void updateActions();
    void askForChart(const NamedChart &chart);
    void copyChart(RunChart &chart);
    void askForTable(const QString &title, const QString &suffix, QByteArray (*table)(const RunRecord &));
    void askForRunFile(int runId, const QString &title, const QString &suffix, const QString &filter, WriteRun write,
                       std::function<void(const QString &)> written);
    void askForEverything();
    void askForFile(const QString &title, const QString &suggestion, const QString &filter, const QString &suffix,
                    MakeStep makeStep, std::function<void(const QString &)> written);
    void endExport(const Result<void> &result, const QString &text, const QString &path = {}); // "": clipboard
    static QString leftOutText(const QStringList &paths);
    void addFailure(const Error &error);
    void endAll();
    QString closingText() const;
    RunStore *m_store;
    Settings *m_settings;
    std::vector<NamedChart> m_charts;
    QWidget *m_window;
    QAction *m_hint = nullptr; // why the others are not available
    std::vector<QAction *> m_needRun;
    ChartExportOptions m_chartOptions; // last chosen; copying takes them too
    bool m_isDark = false;
    QStringList m_givenFolders;    // of exports of everything; the last ones may not be there yet
    bool m_closesWhenIdle = false; // the user wanted to close the window meanwhile
    std::vector<Error> m_failures; // since the queue was idle
    QStringList m_leftOut;         // files that were cancelled since then
    ExportQueue m_queue;
};

} // namespace lectern
