// SPDX-License-Identifier: GPL-3.0-or-later
// A run with all its charts as files in one folder: what the headless job and "Everything into a folder" write.
#pragma once

#include "app/core/export_queue.h"
#include "app/core/run_store.h"
#include "engine/base/result.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace lectern {

class RunChart;

struct NamedChart
{
    QString fileName; // "timeline"; without suffix
    RunChart *chart;
};

struct RunBundle
{
    QStringList paths;             // of the files, in the order in which they are written
    std::vector<ExportStep> steps; // the first makes the folder, then one a file
};

// run.lectern.json, tokens.csv, series.csv, metrics.csv and each chart as PNG, SVG and PDF. GUI thread: takes the run
// and the charts as they are now and writes nothing yet. A step that fails leaves the old file of its name intact.
Result<RunBundle> runBundle(const RunEntry &run, const std::vector<NamedChart> &charts, const QString &folder);

} // namespace lectern
