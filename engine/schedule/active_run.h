// SPDX-License-Identifier: GPL-3.0-or-later
// One run from its start to its end: prepares the prompt, takes part in passes, says what happened. What runs when is
// the scheduler's. Engine thread.
//
// There are no phases here: a run has tokens, some of them computed, and a pass takes the next ones (the view of vLLM's
// scheduler). Prefill is a pass over several tokens, decode one over a single token, and a run whose cache is thrown
// away starts at 0 again. It emits exactly one Finished or Failed, as the last event.
#pragma once

#include "engine/schedule/model_runtime.h"
#include "engine/schedule/sequence.h"
#include "engine/schedule/ticket.h"

#include <memory>
#include <optional>
#include <span>

namespace lectern {

class ActiveRun
{
public:
    // `runtime` must outlive it.
    ActiveRun(std::shared_ptr<Ticket> ticket, ModelRuntime &runtime);

    Ticket &ticket() const { return *m_ticket; }
    std::shared_ptr<Ticket> sharedTicket() const { return m_ticket; }
    bool isPaused() const { return m_ticket->clock.isPaused(); }
    bool hasEnded() const { return m_hasEnded; }
    bool isPrepared() const { return m_sequence.has_value(); }
    // Tokens that the next passes have to compute; at least 1 once it is prepared.
    int leftToCompute() const { return m_sequence->size() - m_kv->tokens(); }
    bool holdsCache() const { return m_kv && m_kv->allocatedBytes() > 0; } // reserved blocks too
    bool isInPrefill() const { return m_sequence->outputTokens() == 0; }

    // Template, tokenizer, and what of the cache can be taken over, also from the `others` that run now.
    void prepare(std::span<const std::unique_ptr<ActiveRun>> others);

    // Makes room for the next `count` tokens. OutOfMemory takes nothing.
    Result<void> reserve(int count);
    BatchSlice slice(int count);
    // The pass over `slice(count)` is done: says so, and makes a token where the last one was computed. `pass` has its
    // times and sizes; operations only where they are traced.
    void passed(int count, const LogitRows &logits, const PassRecord &pass);
    // Gives its blocks to an older run; everything is computed again later.
    void preempt();

    void finish(FinishReason reason);
    void failWith(Error error);

private:
    std::optional<Error> promptProblem(const PreparedPrompt &prompt) const;
    int reusePrefix(std::span<const TokenId> prompt, std::span<const std::unique_ptr<ActiveRun>> others);
    void reportChunk(int from, const PassRecord &pass);
    void reportOperations(PassRecord pass, std::int64_t sampleBeginNs);
    void produceToken(const LogitRows &logits, const PassRecord &pass);
    void leaveCache();

    bool keepsCache() const { return m_ticket->request.cache == CacheMode::Kv; }
    std::span<const TokenId> heldIds() const;
    KvSample kvSample() const;

    std::shared_ptr<Ticket> m_ticket;
    ModelRuntime *m_runtime;
    std::unique_ptr<KvSequence> m_kv;
    std::optional<Sequence> m_sequence; // nothing before the prompt is prepared
    int m_reportedTokens = 0;           // of the prompt: what prefill chunks told; a second time after a preemption
                                        // nothing is told
    std::int64_t m_earlierPassesNs = 0; // of the token that is being made
    bool m_hasEnded = false;
};

} // namespace lectern
