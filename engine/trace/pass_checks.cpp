// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/pass_checks.h"

#include "engine/trace/first_problem.h"

#include <algorithm>
#include <limits>

namespace lectern {

namespace {

// Of all operations of a run together: far above what a file has room for, and two of them fit into 64 bits.
constexpr std::uint64_t kMaxTotal = std::uint64_t{1} << 62;

class PassChecker : private FirstProblem
{
public:
    explicit PassChecker(const RunRecord &record)
        : m_record(record)
        , m_isEnded(record.state == RunState::Finished || record.state == RunState::Failed)
        , m_contextTokens(static_cast<int>(record.promptTokens.size() + record.outputTokens.size()))
    {
    }

    std::optional<Error> check()
    {
        if (!m_record.passes.empty() && !m_record.request.tracesOperations)
            refuse("passes",
                   "are " + std::to_string(m_record.passes.size()) + ", but request.tracesOperations is false");
        std::int64_t nowNs = 0;
        for (std::size_t i = 0; i < m_record.passes.size() && !m_error; ++i) {
            checkPass({"passes", i}, m_record.passes[i], nowNs);
            nowNs = m_record.passes[i].endNs;
        }
        checkPreemptions();
        return std::move(m_error);
    }

private:
    void requireInsideRun(const Element &element, const char *field, std::int64_t ns, std::int64_t earliestNs);
    void checkPass(const Element &element, const PassRecord &pass, std::int64_t earliestNs);
    void checkOperations(const Element &element, const PassRecord &pass);
    void checkPreemptions();

    const RunRecord &m_record;
    bool m_isEnded;
    int m_contextTokens;
    OperationCost m_total;
};

// Not before what is in front of it, not after the end.
void PassChecker::requireInsideRun(const Element &element, const char *field, std::int64_t ns, std::int64_t earliestNs)
{
    require(element, field, ns, earliestNs, m_isEnded ? m_record.endNs : std::numeric_limits<std::int64_t>::max());
}

void PassChecker::checkPass(const Element &element, const PassRecord &pass, std::int64_t earliestNs)
{
    requireInsideRun(element, "beginNs", pass.beginNs, earliestNs);
    requireInsideRun(element, "endNs", pass.endNs, pass.beginNs);
    // Recomputing after a preemption, or without a cache, takes the prompt and all output.
    require(element, "ownTokens", pass.ownTokens, 1, m_contextTokens);
    // Every other sequence has one token or more in it.
    const std::int64_t fewest = std::int64_t{pass.ownTokens} + pass.sequences - 1;
    const std::int64_t most = pass.sequences == 1 ? fewest : std::numeric_limits<int>::max();
    require<std::int64_t>(element, "tokens", pass.tokens, fewest, most);
    if (!m_error)
        checkOperations(element, pass);
}

void PassChecker::checkOperations(const Element &element, const PassRecord &pass)
{
    const std::string list = element.field("operations");
    const std::int64_t passNs = pass.endNs - pass.beginNs;
    std::int64_t nowNs = 0;
    for (std::size_t i = 0; i < pass.operations.size() && !m_error; ++i) {
        const OperationRecord &entry = pass.operations[i];
        const Element operation{list.c_str(), i};
        require(operation, "layer", entry.layer, -1, std::max(0, m_record.model.layers) - 1);
        require(operation, "offsetNs", entry.offsetNs, nowNs, passNs);
        require(operation, "ns", entry.ns, std::int64_t{0}, passNs - entry.offsetNs);
        nowNs = entry.offsetNs + entry.ns;
        m_total += entry.cost;
        if (std::max({m_total.weightBytes, m_total.kvBytes, m_total.flops}) > kMaxTotal)
            refuse(list, "bring the total of the run above " + std::to_string(kMaxTotal));
    }
}

void PassChecker::checkPreemptions()
{
    std::int64_t nowNs = 0;
    for (std::size_t i = 0; i < m_record.preemptions.size() && !m_error; ++i) {
        const PreemptionRecord &preemption = m_record.preemptions[i];
        const Element element{"preemptions", i};
        requireInsideRun(element, "timeNs", preemption.timeNs, nowNs);
        require(element, "tokens", preemption.tokens, 0, m_contextTokens);
        nowNs = preemption.timeNs;
    }
}

} // namespace

std::optional<Error> findPassContradiction(const RunRecord &record)
{
    return PassChecker(record).check();
}

} // namespace lectern
