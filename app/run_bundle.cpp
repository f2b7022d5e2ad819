// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/run_bundle.h"

#include "app/core/file_path.h"
#include "app/core/run_export.h"
#include "engine/trace/run_json.h"
#include "widgets/chart_export.h"

#include <QDir>

namespace lectern {

Result<QStringList> writeRunBundle(const RunRecord &record, const std::vector<NamedChart> &charts,
                                   const QString &folder)
{
    if (!QDir().mkpath(folder))
        return fail(ErrorCode::WriteFailed, "the folder cannot be made", folder.toStdString(),
                    "Choose a folder that you may write to.");
    const QDir directory(folder);
    QStringList written;

    const QString json = directory.filePath(QStringLiteral("run.lectern.json"));
    if (const auto saved = saveRun(record, toFilePath(json)); !saved)
        return tl::unexpected(saved.error());
    written << json;

    const std::pair<const char *, QByteArray> tables[] = {
        {"tokens.csv", tokensCsv(record)}, {"series.csv", seriesCsv(record)}, {"metrics.csv", metricsCsv(record)}};
    for (const auto &[name, bytes] : tables) {
        const QString path = directory.filePath(QLatin1String(name));
        if (const auto saved = writeBytes(path, bytes); !saved)
            return tl::unexpected(saved.error());
        written << path;
    }
    for (const NamedChart &named : charts) {
        for (const ChartFormat format : {ChartFormat::Png, ChartFormat::Svg, ChartFormat::Pdf}) {
            ChartExportOptions options;
            options.format = format;
            const QString path = directory.filePath(named.fileName + QLatin1Char('.') + suffixOf(format));
            if (const auto saved = exportChart(*named.chart, path, options); !saved)
                return tl::unexpected(saved.error());
            written << path;
        }
    }
    return written;
}

} // namespace lectern
