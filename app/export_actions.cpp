// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/export_actions.h"

#include "app/chart_export_dialog.h"
#include "app/core/run_export.h"
#include "widgets/run_chart.h"

#include <QAction>
#include <QClipboard>
#include <QDir>
#include <QEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMap>
#include <QMenu>
#include <QMimeData>

#include <algorithm>
#include <utility>

namespace lectern {

ExportActions::ExportActions(RunStore *store, Settings *settings, std::vector<NamedChart> charts, QWidget *window)
    : QObject(window)
    , m_store(store)
    , m_settings(settings)
    , m_charts(std::move(charts))
    , m_window(window)
{
    connect(store, &RunStore::currentChanged, this, &ExportActions::updateActions);
    connect(&m_queue, &ExportQueue::progressed, this, [this](int done, int steps, bool canCancel) {
        Q_EMIT progressed(m_closesWhenIdle ? closingText() : tr("Writing files: %1 of %2 done …").arg(done).arg(steps),
                          canCancel);
    });
    connect(&m_queue, &ExportQueue::idle, this, &ExportActions::endAll);
    window->installEventFilter(this);
}

void ExportActions::fill(QMenu *menu)
{
    m_hint = menu->addAction(tr("Once there is a run, it can be exported"));
    m_hint->setObjectName(QStringLiteral("exportHint"));
    m_hint->setEnabled(false);
    for (const NamedChart &chart : m_charts) {
        QMenu *charts = menu->addMenu(tr("Chart “%1”").arg(chart.chart->title()));
        m_needRun.push_back(charts->menuAction());
        addChart(charts, chart);
    }
    menu->addSeparator();
    add(menu, tr("Save run…"), QStringLiteral("saveRun"), [this] {
        saveRunAs(m_store->currentId());
    })->setShortcut(QKeySequence::Save);
    add(menu, tr("Token table as CSV…"), QStringLiteral("tokensCsv"),
        [this] { askForTable(tr("Token table"), QStringLiteral("-tokens.csv"), &tokensCsv); });
    add(menu, tr("Series as CSV…"), QStringLiteral("seriesCsv"),
        [this] { askForTable(tr("Series"), QStringLiteral("-series.csv"), &seriesCsv); });
    add(menu, tr("Metrics as CSV…"), QStringLiteral("metricsCsv"),
        [this] { askForTable(tr("Metrics"), QStringLiteral("-metrics.csv"), &metricsCsv); });
    menu->addSeparator();
    add(menu, tr("Everything into a folder…"), QStringLiteral("exportEverything"), [this] { askForEverything(); });
    updateActions();
}

QAction *ExportActions::add(QMenu *menu, const QString &text, const QString &name, std::function<void()> action)
{
    QAction *item = menu->addAction(text);
    item->setObjectName(name);
    connect(item, &QAction::triggered, this, std::move(action));
    m_needRun.push_back(item);
    return item;
}

void ExportActions::addChart(QMenu *menu, const NamedChart &chart)
{
    add(menu, tr("Save as picture…"), QStringLiteral("export-") + chart.fileName,
        [this, chart] { askForChart(chart); });
    add(menu, tr("Copy to clipboard"), QStringLiteral("copy-") + chart.fileName,
        [this, chart] { copyChart(*chart.chart); });
}

void ExportActions::updateActions()
{
    const bool hasRun = m_store->current() != nullptr;
    m_hint->setVisible(!hasRun);
    for (QAction *action : m_needRun)
        action->setEnabled(hasRun);
}

void ExportActions::saveRunAs(int runId)
{
    askForRunFile(runId, tr("Save run"), QStringLiteral(".lectern.json"), tr("Lectern run (*.lectern.json)"),
                  &lectern::saveRunAs, [this, runId](const QString &path) {
                      m_store->setFilePath(runId, path);
                      m_settings->addRecentRun(path);
                  });
}

void ExportActions::askForTable(const QString &title, const QString &suffix, QByteArray (*table)(const RunRecord &))
{
    askForRunFile(m_store->currentId(), title, suffix, tr("CSV table (*.csv)"),
                  [table](const RunRecord &record, const QString &, const QString &path) {
                      return writeBytes(path, table(record));
                  },
                  {});
}

void ExportActions::askForRunFile(int runId, const QString &title, const QString &suffix, const QString &filter,
                                  WriteRun write, std::function<void(const QString &)> written)
{
    const RunEntry *run = m_store->find(runId);
    if (!run)
        return;
    askForFile(
        title, fileNameFor(run->title) + suffix, filter, suffix.mid(suffix.indexOf(QLatin1Char('.')) + 1),
        [this, runId, write = std::move(write)](const QString &path) -> Result<ExportStep> {
            const RunEntry *entry = m_store->find(runId);
            if (!entry)
                return fail(ErrorCode::NotFound, tr("The run has been deleted meanwhile").toStdString());
            return [record = entry->snapshot(), runTitle = entry->title, write, path] {
                return write(*record, runTitle, path);
            };
        },
        std::move(written));
}

void ExportActions::askForChart(const NamedChart &chart)
{
    const RunEntry *run = m_store->current();
    if (!run)
        return;
    auto *dialog = new ChartExportDialog(chart.chart->title(), m_chartOptions, m_isDark, m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    const QString base = fileNameFor(run->title) + QLatin1Char('-') + chart.fileName;
    connect(dialog, &QDialog::accepted, this, [this, dialog, chart, base] {
        m_chartOptions = dialog->options();
        m_isDark = dialog->usesDarkTheme();
        if (dialog->copies()) {
            copyChart(*chart.chart);
            return;
        }
        const QString suffix = suffixOf(m_chartOptions.format);
        askForFile(tr("Save chart"), base + QLatin1Char('.') + suffix,
                   QStringLiteral("%1 (*.%2)").arg(suffix.toUpper(), suffix), suffix,
                   [chart, options = m_chartOptions, isDark = m_isDark](const QString &path) -> Result<ExportStep> {
                       ChartExportOptions chosen = options;
                       chosen.format = formatOfPath(path, options.format); // "chart.svg" is an SVG in any case
                       auto drawing = recordChart(*chart.chart, chosen, isDark ? Theme::dark() : Theme::light());
                       if (!drawing)
                           return tl::unexpected(drawing.error());
                       return [drawing = std::move(*drawing), path] { return writeDrawing(path, drawing); };
                   },
                   {});
    });
    dialog->open();
}

// The pixels for programs that take them, and a finished PNG: pasting costs the GUI thread nothing.
void ExportActions::copyChart(RunChart &chart)
{
    ChartExportOptions options = m_chartOptions;
    options.format = ChartFormat::Png;
    auto drawing = recordChart(chart, options, m_isDark ? Theme::dark() : Theme::light());
    if (!drawing) {
        addFailure(drawing.error());
        return;
    }
    struct Picture
    {
        QImage image;
        QByteArray png;
    };
    const auto picture = std::make_shared<Picture>();
    const auto render = [picture, drawing = std::move(*drawing)]() -> Result<void> {
        Result<QImage> image = renderDrawing(drawing);
        if (!image)
            return tl::unexpected(image.error());
        Result<QByteArray> png = pngBytes(*image);
        if (!png)
            return tl::unexpected(png.error());
        *picture = {std::move(*image), std::move(*png)};
        return {};
    };
    m_queue.start({render}, [this, picture](const Result<void> &result) {
        if (result) {
            auto *data = new QMimeData;
            data->setImageData(picture->image);
            data->setData(QStringLiteral("image/png"), picture->png);
            QGuiApplication::clipboard()->setMimeData(data);
        }
        endExport(result, tr("The chart is on the clipboard: %1 × %2 pixels.")
                              .arg(picture->image.width())
                              .arg(picture->image.height()));
    });
}

void ExportActions::askForEverything()
{
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
        for (int i = 2; QFileInfo::exists(target) || m_givenFolders.contains(target); ++i)
            target = base + QLatin1Char('-') + QString::number(i);
        m_givenFolders << target;
        writeBundle(*run, target, [this, target](const Result<QStringList> &written) {
            if (written)
                Q_EMIT exported(tr("%n file(s) written to %1", nullptr, static_cast<int>(written->size()))
                                    .arg(QDir::toNativeSeparators(target)));
            else if (written.error().code != ErrorCode::Cancelled) // what is left out is said of all together
                addFailure(written.error());
        });
    });
    dialog->open();
}

void ExportActions::writeBundle(const RunEntry &run, const QString &folder,
                                std::function<void(const Result<QStringList> &)> done)
{
    Result<RunBundle> bundle = runBundle(run, m_charts, folder);
    if (!bundle) {
        done(tl::unexpected(bundle.error()));
        return;
    }
    const auto count = std::make_shared<qsizetype>(0); // of steps done, the first of them makes the folder
    for (ExportStep &step : bundle->steps)
        step = [count, step = std::move(step)] {
            Result<void> result = step();
            *count += result ? 1 : 0;
            return result;
        };
    m_queue.start(std::move(bundle->steps),
                  [this, count, paths = bundle->paths, done = std::move(done)](const Result<void> &result) {
                      if (!result && result.error().code == ErrorCode::Cancelled)
                          m_leftOut << paths.mid(std::max<qsizetype>(*count - 1, 0));
                      done(result ? Result<QStringList>(paths) : tl::unexpected(result.error()));
                  });
}

void ExportActions::askForFile(const QString &title, const QString &suggestion, const QString &filter,
                               const QString &suffix, MakeStep makeStep, std::function<void(const QString &)> written)
{
    auto *dialog = new QFileDialog(m_window, title, m_settings->exportFolder(), filter);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(suffix);
    dialog->selectFile(suggestion);
    connect(dialog, &QFileDialog::fileSelected, this,
            [this, makeStep = std::move(makeStep), written = std::move(written)](const QString &path) {
                Result<ExportStep> step = makeStep(path);
                if (!step) {
                    addFailure(step.error());
                    return;
                }
                m_queue.start({std::move(*step)}, [this, path, written](const Result<void> &result) {
                    if (result) {
                        m_settings->setExportFolder(QFileInfo(path).absolutePath());
                        if (written)
                            written(path);
                    }
                    endExport(result, tr("Written: %1").arg(QDir::toNativeSeparators(path)), path);
                });
            });
    dialog->open();
}

void ExportActions::endExport(const Result<void> &result, const QString &text, const QString &path)
{
    if (result)
        Q_EMIT exported(text);
    else if (result.error().code != ErrorCode::Cancelled)
        addFailure(result.error());
    else if (path.isEmpty())
        Q_EMIT exported(tr("The chart was not copied."));
    else
        m_leftOut << path;
}

// Files that were cancelled: a sentence for each of their folders.
QString ExportActions::leftOutText(const QStringList &paths)
{
    constexpr qsizetype kNamed = 4;
    QMap<QString, QStringList> names;
    for (const QString &path : paths)
        names[QFileInfo(path).absolutePath()] << QFileInfo(path).fileName();
    QStringList sentences;
    for (auto [folder, files] : names.asKeyValueRange()) {
        const auto count = static_cast<int>(files.size());
        if (count > kNamed)
            files = files.mid(0, kNamed) << QStringLiteral("…");
        sentences << tr("Writing was cancelled. %n file(s) left out of %1: %2. What was already done is kept.",
                        "%1 is a folder, %2 names of files", count)
                         .arg(QDir::toNativeSeparators(folder), files.join(QStringLiteral(", ")));
    }
    return sentences.join(QLatin1Char('\n'));
}

// Kept until all is done: what the exports after it say would take its place.
void ExportActions::addFailure(const Error &error)
{
    m_closesWhenIdle = false; // the reason must be seen
    m_failures.push_back(error);
    if (!m_queue.isBusy())
        endAll();
}

void ExportActions::endAll()
{
    const bool closes = std::exchange(m_closesWhenIdle, false);
    const std::vector<Error> failures = std::exchange(m_failures, {});
    if (const QStringList leftOut = std::exchange(m_leftOut, {}); !leftOut.isEmpty())
        Q_EMIT exported(leftOutText(leftOut));
    if (!failures.empty())
        Q_EMIT failed(failures);
    else if (closes)
        m_window->close();
    Q_EMIT ended();
}

void ExportActions::cancel()
{
    m_closesWhenIdle = false; // the window says what was left out
    m_queue.cancel();
}

// Closing waits for what is being written: a file that fails must not go unsaid.
bool ExportActions::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() != QEvent::Close || !m_queue.isBusy())
        return QObject::eventFilter(watched, event);
    m_closesWhenIdle = true;
    event->ignore();
    Q_EMIT progressed(closingText(), true);
    return true;
}

QString ExportActions::closingText() const
{
    return tr("The window closes as soon as all files are written.");
}

} // namespace lectern
