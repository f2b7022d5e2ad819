// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/trace_table.h"

#include "engine/base/result.h"
#include "engine/trace/names.h"
#include "engine/trace/operation_totals.h"

#include <cstdio>
#include <string>

namespace lectern::cli {

namespace {

std::string heading(const char *phase, const PassTotals &totals)
{
    return std::string(phase) + ": " + countOf(static_cast<std::uint64_t>(totals.ownTokens), "token") + " in " +
           std::to_string(totals.passes) + (totals.passes == 1 ? " pass" : " passes");
}

void printShare(std::int64_t ns, const PassTotals &totals)
{
    const double share = totals.ns > 0 ? static_cast<double>(ns) / static_cast<double>(totals.ns) : 0;
    std::fprintf(stderr, "  %6.1f %% %8.2f", 100 * share, static_cast<double>(ns) / 1e6);
}

void printTotal(const OperationTotal &total, const PassTotals &totals)
{
    if (total.count == 0) {
        std::fprintf(stderr, "  %8s %8s %8s %9s", "-", "-", "-", "-");
        return;
    }
    printShare(total.ns, totals);
    std::fprintf(stderr, " %8.2f %9.1f", total.gigabytesPerSecond(), total.gigaflopsPerSecond());
}

} // namespace

void printTraceTable(const RunRecord &record)
{
    if (record.passes.empty())
        return;
    const auto &[prefill, decode] = operationTotalsOf(record);
    std::fprintf(stderr, "\n%-15s  %-36s  %s\n", "", heading("prefill", prefill).c_str(),
                 heading("decode", decode).c_str());
    std::fprintf(stderr, "%-15s", "operation");
    for (int phase = 0; phase < 2; ++phase)
        std::fprintf(stderr, "  %8s %8s %8s %9s", "share", "ms", "GB/s", "GFLOP/s");
    std::fprintf(stderr, "\n");
    for (const auto &[operation, name] : EnumNames<Operation>::table) {
        if (prefill.of(operation).count + decode.of(operation).count == 0)
            continue;
        std::fprintf(stderr, "%-15.*s", static_cast<int>(name.size()), name.data());
        printTotal(prefill.of(operation), prefill);
        printTotal(decode.of(operation), decode);
        std::fprintf(stderr, "\n");
    }
    std::fprintf(stderr, "%-15s", "between them");
    printShare(prefill.restNs(), prefill);
    std::fprintf(stderr, "%19s", ""); // no rates
    printShare(decode.restNs(), decode);
    std::fprintf(stderr, "\n");
}

} // namespace lectern::cli
