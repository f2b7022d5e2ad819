// SPDX-License-Identifier: GPL-3.0-or-later
// Charts with made-up runs, shown and drawn: shared by the tests of the charts.
#pragma once

#include "tests/support/sample_record.h"
#include "widgets/kv_chart.h"
#include "widgets/latency_chart.h"
#include "widgets/timeline_chart.h"

#include <QTest>

namespace lectern::test {

inline ShownRun shown(int id, std::shared_ptr<RunRecord> record, bool isCurrent = true)
{
    return {id, QStringLiteral("run %1").arg(id), std::move(record), id - 1, isCurrent};
}

inline std::shared_ptr<RunRecord> sample(const SampleRun &run = {})
{
    return std::make_shared<RunRecord>(sampleRecord(run));
}

inline QCustomPlot *plotOf(RunChart &chart)
{
    return chart.findChild<QCustomPlot *>(QStringLiteral("plot"));
}

// All that is queued has been drawn.
inline void settle()
{
    for (int i = 0; i < 4; ++i)
        QCoreApplication::processEvents();
}

inline void showSettled(RunChart &chart, const QSize &size = {700, 200})
{
    chart.resize(size);
    chart.show();
    settle();
}

// Rows of a test that every kind of chart must pass; makeChart() gives the row's.
inline void chartKinds()
{
    QTest::addColumn<QString>("kind");
    for (const char *kind : {"timeline", "kv", "latency"})
        QTest::newRow(kind) << QString::fromLatin1(kind);
}

inline std::unique_ptr<RunChart> makeChart()
{
    const QString kind = *static_cast<QString *>(QTest::qData("kind", qMetaTypeId<QString>()));
    if (kind == QStringLiteral("timeline"))
        return std::make_unique<TimelineChart>();
    if (kind == QStringLiteral("kv"))
        return std::make_unique<KvChart>();
    return std::make_unique<LatencyChart>();
}

} // namespace lectern::test
