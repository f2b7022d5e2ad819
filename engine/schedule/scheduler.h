// SPDX-License-Identifier: GPL-3.0-or-later
// What runs next: continuous batching under a token budget, after vLLM (SOSP'23) and Sarathi-Serve (OSDI'24).
//
// Each step plans one pass from all live runs: first the next token of those that decode, then chunks of prompts in
// order of arrival, until the backend's passTokens are used up. Runs join and leave at any step. When blocks run out,
// caches of ended runs go first, then the youngest run loses its blocks and is computed again when there is room; so
// the oldest always gets on. Engine thread.
#pragma once

#include "engine/schedule/active_run.h"

#include <memory>
#include <span>
#include <vector>

namespace lectern {

class Scheduler
{
public:
    explicit Scheduler(ModelRuntime &runtime); // which must outlive it

    bool isIdle() const { return m_runs.empty(); }
    bool hasRoom() const { return static_cast<int>(m_runs.size()) < m_runtime->maxRuns; }
    void admit(std::shared_ptr<Ticket> ticket); // in order of arrival; only where there is room

    // One pass over what is ready, then one prompt is prepared. False when there was nothing to do: no run, or all are
    // paused. Ended runs stay until takeEnded().
    bool step();
    // Ends a run of this scheduler; false when the ticket is not one of its.
    bool end(const Ticket &ticket, FinishReason reason);
    std::vector<std::shared_ptr<Ticket>> takeEnded();

private:
    struct Part // of the next pass
    {
        ActiveRun *run;
        int tokens;
    };

    std::vector<Part> plan();
    void add(std::vector<Part> &parts, ActiveRun &run, int tokens);
    bool mayBegin(const ActiveRun &run);
    bool makeRoom(std::vector<Part> &parts, ActiveRun &run, int tokens);
    ActiveRun *victimFor(const ActiveRun &run) const;
    void runPass(std::span<const Part> parts);
    void distribute(std::span<const Part> parts, std::span<const LogitRows> logits, std::span<const PassRecord> passes);
    void endFailed(std::span<const Part> parts, const Error &error);
    bool prepareNext();

    ModelRuntime *m_runtime;
    std::vector<std::unique_ptr<ActiveRun>> m_runs; // oldest first
};

} // namespace lectern
