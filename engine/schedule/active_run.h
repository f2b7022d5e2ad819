// SPDX-License-Identifier: GPL-3.0-or-later
// One run from its first step to its end: prepares the prompt, takes passes, says what happened. Engine thread.
//
// It emits exactly one Finished or Failed, as the last event.
#pragma once

#include "engine/schedule/model_runtime.h"
#include "engine/schedule/sequence.h"
#include "engine/schedule/step_plan.h"
#include "engine/schedule/ticket.h"

#include <memory>
#include <optional>

namespace lectern {

class ActiveRun
{
public:
    // `runtime` must outlive it.
    ActiveRun(std::shared_ptr<Ticket> ticket, ModelRuntime &runtime);

    Ticket &ticket() { return *m_ticket; }
    bool hasEnded() const { return m_hasEnded; }

    // The first step prepares the prompt; each later one is one prefill chunk or one decode step. False when the run is
    // paused: nothing was done.
    bool step();
    void finish(FinishReason reason);

private:
    void work();
    void prepare();
    std::optional<Error> promptProblem(const PreparedPrompt &prompt) const;
    int reusePrefix(const std::vector<TokenId> &prompt);
    bool forward(const StepPlan &plan, std::span<float> &logits);
    bool reserve(const StepPlan &plan);
    void produceToken(std::span<float> logits, std::int64_t stepBeginNs);
    void failWith(Error error);
    void leaveCache();

    bool keepsCache() const { return m_ticket->request.cache == CacheMode::Kv; }
    bool isInPrefill() const { return m_sequence->outputTokens() == 0; }
    KvSample kvSample() const;

    std::shared_ptr<Ticket> m_ticket;
    ModelRuntime *m_runtime;
    std::optional<Sequence> m_sequence; // nothing before the prompt is prepared
    bool m_hasEnded = false;
};

} // namespace lectern
