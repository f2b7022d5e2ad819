// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/run_bundle.h"

#include "app/core/run_export.h"
#include "widgets/chart_export.h"

#include <QCoreApplication>
#include <QDir>

namespace lectern {

namespace {

struct BundleText
{
    Q_DECLARE_TR_FUNCTIONS(lectern::BundleText)
};

Result<void> makeFolder(const QString &folder)
{
    if (QDir().mkpath(folder))
        return {};
    return fail(ErrorCode::WriteFailed, BundleText::tr("the folder cannot be made").toStdString(), folder.toStdString(),
                BundleText::tr("Choose a folder that you may write to").toStdString());
}

} // namespace

Result<RunBundle> runBundle(const RunEntry &run, const std::vector<NamedChart> &charts, const QString &folder)
{
    const QDir directory(folder);
    RunBundle bundle;
    bundle.steps.push_back([folder] { return makeFolder(folder); });
    const auto add = [&](const QString &name, auto write) {
        const QString path = directory.filePath(name);
        bundle.paths << path;
        bundle.steps.push_back([path, write = std::move(write)] { return write(path); });
    };

    const auto record = run.snapshot();
    add(QStringLiteral("run.lectern.json"),
        [record, title = run.title](const QString &path) { return saveRunAs(*record, title, path); });
    const std::pair<const char *, QByteArray (*)(const RunRecord &)> tables[] = {
        {"tokens.csv", &tokensCsv}, {"series.csv", &seriesCsv}, {"metrics.csv", &metricsCsv}};
    for (const auto &[name, table] : tables)
        add(QLatin1String(name), [record, table](const QString &path) { return writeBytes(path, table(*record)); });
    for (const NamedChart &named : charts) {
        for (const ChartFormat format : {ChartFormat::Png, ChartFormat::Svg, ChartFormat::Pdf}) {
            ChartExportOptions options;
            options.format = format;
            Result<ChartDrawing> drawing = recordChart(*named.chart, options);
            if (!drawing)
                return tl::unexpected(drawing.error());
            add(named.fileName + QLatin1Char('.') + suffixOf(format),
                [drawing = std::move(*drawing)](const QString &path) { return writeDrawing(path, drawing); });
        }
    }
    return bundle;
}

} // namespace lectern
