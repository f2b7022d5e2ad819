// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/export_actions.h"

#include "app/chart_export_dialog.h"
#include "app/core/file_path.h"
#include "app/core/run_export.h"
#include "engine/trace/run_json.h"
#include "widgets/run_chart.h"

#include <QAction>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>

namespace lectern {

ExportActions::ExportActions(RunStore *store, Settings *settings, std::vector<NamedChart> charts, QWidget *window)
    : QObject(window)
    , m_store(store)
    , m_settings(settings)
    , m_charts(std::move(charts))
    , m_window(window)
{
    connect(store, &RunStore::currentChanged, this, &ExportActions::updateActions);
}

void ExportActions::fill(QMenu *menu)
{
    const auto add = [this](QMenu *target, const QString &text, const char *name, auto action) {
        QAction *item = target->addAction(text);
        item->setObjectName(QLatin1String(name));
        connect(item, &QAction::triggered, this, action);
        m_needRun.push_back(item);
        return item;
    };
    for (const NamedChart &chart : m_charts) {
        QMenu *sub = menu->addMenu(tr("Chart “%1”").arg(chart.chart->title()));
        const QByteArray name = chart.fileName.toLatin1();
        add(sub, tr("Save as picture…"), ("export-" + name).constData(), [this, chart] { askForChart(chart); });
        add(sub, tr("Copy to clipboard"), ("copy-" + name).constData(), [this, chart] {
            if (const auto copied = copyChart(*chart.chart, {}); copied)
                Q_EMIT exported(tr("The chart is on the clipboard."));
            else
                Q_EMIT failed(copied.error());
        });
    }
    menu->addSeparator();
    add(menu, tr("Save run…"), "saveRun", [this] { saveRunAs(m_store->currentId()); })->setShortcut(QKeySequence::Save);
    const auto table = [this](const QString &title, const QString &suffix, QByteArray (*make)(const RunRecord &)) {
        return [this, title, suffix, make] {
            const RunEntry *run = m_store->current();
            if (!run)
                return;
            askForFile(title, fileNameFor(run->title) + suffix, tr("CSV table (*.csv)"), QStringLiteral("csv"),
                       [record = run->record, make](const QString &path) { return writeBytes(path, make(*record)); });
        };
    };
    add(menu, tr("Token table as CSV…"), "tokensCsv",
        table(tr("Token table"), QStringLiteral("-tokens.csv"), &tokensCsv));
    add(menu, tr("Series as CSV…"), "seriesCsv", table(tr("Series"), QStringLiteral("-series.csv"), &seriesCsv));
    add(menu, tr("Metrics as CSV…"), "metricsCsv", table(tr("Metrics"), QStringLiteral("-metrics.csv"), &metricsCsv));
    menu->addSeparator();
    add(menu, tr("Everything into a folder…"), "exportEverything", [this] {
        auto *dialog = new QFileDialog(m_window, tr("Folder for charts and data"), m_settings->exportFolder());
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setFileMode(QFileDialog::Directory);
        dialog->setOption(QFileDialog::ShowDirsOnly);
        connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &folder) {
            const RunEntry *run = m_store->current();
            if (!run)
                return;
            m_settings->setExportFolder(folder);
            // A folder of its own: an earlier export is never overwritten.
            const QString base = folder + QLatin1Char('/') + fileNameFor(run->title);
            QString target = base;
            for (int i = 2; QFileInfo::exists(target); ++i)
                target = base + QLatin1Char('-') + QString::number(i);
            const auto written = writeRunBundle(*run->record, m_charts, target);
            if (written)
                Q_EMIT exported(tr("%n file(s) written to %1", nullptr, static_cast<int>(written->size()))
                                    .arg(QDir::toNativeSeparators(target)));
            else
                Q_EMIT failed(written.error());
        });
        dialog->open();
    });
    updateActions();
}

void ExportActions::updateActions()
{
    for (QAction *action : m_needRun)
        action->setEnabled(m_store->current() != nullptr);
}

void ExportActions::saveRunAs(int runId)
{
    const RunEntry *run = m_store->find(runId);
    if (!run)
        return;
    askForFile(tr("Save run"), fileNameFor(run->title) + QStringLiteral(".lectern.json"),
               tr("Lectern run (*.lectern.json)"), QStringLiteral("lectern.json"),
               [this, runId](const QString &path) -> Result<void> {
                   const RunEntry *entry = m_store->find(runId);
                   if (!entry)
                       return fail(ErrorCode::NotFound, tr("The run has been deleted meanwhile").toStdString());
                   RunRecord named = *entry->record;
                   named.request.title = entry->title.toStdString();
                   const auto saved = saveRun(named, toFilePath(path));
                   if (saved) {
                       m_store->setFilePath(runId, path);
                       m_settings->addRecentRun(path);
                   }
                   return saved;
               });
}

void ExportActions::askForFile(const QString &title, const QString &suggestion, const QString &filter,
                               const QString &suffix, std::function<Result<void>(const QString &)> write)
{
    auto *dialog = new QFileDialog(m_window, title, m_settings->exportFolder(), filter);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(suffix);
    dialog->selectFile(suggestion);
    connect(dialog, &QFileDialog::fileSelected, this,
            [this, write = std::move(write)](const QString &path) { report(path, write(path)); });
    dialog->open();
}

void ExportActions::askForChart(const NamedChart &chart)
{
    const RunEntry *run = m_store->current();
    if (!run)
        return;
    auto *dialog = new ChartExportDialog(chart.chart->title(), m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    const QString base = fileNameFor(run->title) + QLatin1Char('-') + chart.fileName;
    connect(dialog, &QDialog::accepted, this, [this, dialog, chart, base] {
        const ChartExportOptions options = dialog->options();
        const Theme theme = dialog->usesDarkTheme() ? Theme::dark() : Theme::light();
        const QString suffix = suffixOf(options.format);
        askForFile(tr("Save chart"), base + QLatin1Char('.') + suffix,
                   QStringLiteral("%1 (*.%2)").arg(suffix.toUpper(), suffix), suffix,
                   [chart, options, theme](const QString &path) {
                       ChartExportOptions chosen = options;
                       chosen.format = formatOfPath(path); // "chart.svg" is an SVG, whatever the dialog said
                       return exportChart(*chart.chart, path, chosen, theme);
                   });
    });
    dialog->open();
}

void ExportActions::report(const QString &path, const Result<void> &result)
{
    if (!result) {
        Q_EMIT failed(result.error());
        return;
    }
    m_settings->setExportFolder(QFileInfo(path).absolutePath());
    Q_EMIT exported(tr("Written: %1").arg(QDir::toNativeSeparators(path)));
}

} // namespace lectern
