// SPDX-License-Identifier: GPL-3.0-or-later
// A run with all its charts as files in one folder: what the headless job and "Export everything" write.
#pragma once

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

// Writes run.lectern.json, tokens.csv, series.csv, metrics.csv and each chart as PNG, SVG and PDF. Makes the folder.
// Returns the paths written; the first failure ends it (files already written stay, old files of the failed name are
// intact).
Result<QStringList> writeRunBundle(const RunRecord &record, const std::vector<NamedChart> &charts,
                                   const QString &folder);

} // namespace lectern
