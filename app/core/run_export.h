// SPDX-License-Identifier: GPL-3.0-or-later
// A run's data as files. C locale, RFC 4180 CSV, UTF-8; written atomically. Any thread; no widgets here.
#pragma once

#include "engine/base/result.h"
#include "engine/trace/run_record.h"

#include <QByteArray>
#include <QString>

namespace lectern {

// Texts in tables follow the rule in csv.h, which keeps spreadsheets from taking them for formulas.
// One row a token: part,index,id,bytes_hex,text,special,time_ms,step_ms,logprob,rank,kv_tokens,kv_bytes
QByteArray tokensCsv(const RunRecord &record);
// One row a sample of the run's series:
// time_ms,event,from_token,to_token,step_ms,kv_tokens,kv_used_bytes,kv_allocated_bytes
QByteArray seriesCsv(const RunRecord &record);
// One row a metric: name,value,unit,definition
QByteArray metricsCsv(const RunRecord &record);

// As *.lectern.json, under the title that the user gave it.
Result<void> saveRunAs(const RunRecord &record, const QString &title, const QString &path);
Result<void> writeBytes(const QString &path, const QByteArray &bytes);

// A file name from a run's title: letters and digits kept, everything else "-", never empty, at most 60 characters.
QString fileNameFor(const QString &title);

} // namespace lectern
