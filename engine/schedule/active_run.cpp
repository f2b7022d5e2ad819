// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/active_run.h"
#include "engine/trace/request_limits.h"

#include <algorithm>
#include <new>
#include <utility>

namespace lectern {

namespace {

Result<void> validate(const Request &request)
{
    if (request.maxTokens < 1)
        return fail(ErrorCode::InvalidInput, "is " + std::to_string(request.maxTokens) + ", expected 1 or more",
                    "max tokens");
    if (request.topCandidates < 0 || request.topCandidates > kMaxTopCandidates)
        return fail(ErrorCode::InvalidInput,
                    "is " + std::to_string(request.topCandidates) + ", expected 0 to " +
                        std::to_string(kMaxTopCandidates),
                    "top candidates");
    return validate(request.sampling);
}

std::vector<PhaseRecord> preparationPhases(const PreparedPrompt &prompt, std::int64_t beginNs, PromptKind kind)
{
    std::vector<PhaseRecord> phases;
    const std::int64_t templateEndNs = beginNs + prompt.templateNs;
    if (kind == PromptKind::Chat)
        phases.push_back({Phase::Template, beginNs, templateEndNs});
    if (kind != PromptKind::Ids)
        phases.push_back({Phase::Tokenize, templateEndNs, templateEndNs + prompt.tokenizeNs});
    return phases;
}

} // namespace

ActiveRun::ActiveRun(std::shared_ptr<Ticket> ticket, ModelRuntime &runtime)
    : m_ticket(std::move(ticket))
    , m_runtime(&runtime)
{
}

bool ActiveRun::step()
{
    if (!m_ticket->clock.tryBeginStep())
        return false;
    try {
        work();
    } catch (const std::bad_alloc &) {
        m_runtime->kv->truncate(m_runtime->kv->tokens()); // gives back what was reserved
        failWith({ErrorCode::OutOfMemory, "there is too little memory for this step", "",
                  "Close other programs or choose a smaller model."});
    }
    m_ticket->clock.endStep();
    return true;
}

void ActiveRun::work()
{
    if (!m_sequence)
        return prepare();
    const std::int64_t beginNs = m_ticket->clock.now();
    std::span<float> logits;
    StepPlan plan;
    do {
        plan = planStep(m_runtime->kv->tokens(), m_sequence->size());
    } while (forward(plan, logits) && !plan.wantsLogits && !isInPrefill());
    if (!m_hasEnded && plan.wantsLogits)
        produceToken(logits, beginNs);
}

// Tokenized is emitted for refused prompts too: their tokens can be looked at.
void ActiveRun::prepare()
{
    const Request &request = m_ticket->request;
    if (const Result<void> valid = validate(request); !valid)
        return failWith(valid.error());
    const std::int64_t beginNs = m_ticket->clock.now();
    Result<PreparedPrompt> prompt = preparePrompt(*m_runtime->loaded, request, m_ticket->stop);
    if (!prompt)
        return failWith(std::move(prompt.error()));

    std::vector<TokenId> ids;
    for (const TokenRecord &token : prompt->tokens)
        ids.push_back(token.id);
    std::optional<Error> problem = promptProblem(*prompt);
    const int reused = problem ? 0 : reusePrefix(ids);
    std::vector<PhaseRecord> phases = preparationPhases(*prompt, beginNs, request.kind);
    m_ticket->emitEvent(Tokenized{std::move(prompt->text), std::move(prompt->userRanges), std::move(prompt->tokens),
                                  reused, std::move(phases), std::move(prompt->warnings)});
    if (problem)
        return failWith(std::move(*problem));
    m_sequence.emplace(request, std::move(ids), *m_runtime->loaded->tokenizer, m_runtime->idLimit());
}

// What can be known before anything is computed: an answer needs room for one token, and the prompt must fit the pool.
std::optional<Error> ActiveRun::promptProblem(const PreparedPrompt &prompt) const
{
    const auto promptTokens = static_cast<int>(prompt.tokens.size());
    const int context = m_runtime->contextTokens();
    const std::string has = "the prompt has " + countOf(static_cast<std::uint64_t>(promptTokens), "token");
    if (promptTokens == 0) {
        const std::string reason = prompt.leftOut.empty() ? "" : ": " + prompt.warnings.front();
        return Error{ErrorCode::InvalidInput, "nothing to evaluate: the prompt has no tokens" + reason, "",
                     prompt.leftOut.empty() ? "Type a prompt." : "Type other characters."};
    }
    if (promptTokens >= context) {
        const auto excess = static_cast<std::uint64_t>(promptTokens - context);
        const std::string problem =
            excess == 0 ? ": no room is left for an answer" : ", " + countOf(excess, "token") + " too many";
        return Error{ErrorCode::ContextFull, has + " and the context holds " + std::to_string(context) + problem, "",
                     "Shorten the prompt or load the model with a longer context."};
    }
    const KvPool &pool = *m_runtime->pool;
    const int capacity = pool.blockCount() * kKvBlockTokens;
    if (promptTokens > capacity) {
        const std::uint64_t need = pool.bytesPerToken() * static_cast<std::uint64_t>(promptTokens);
        return Error{ErrorCode::OutOfMemory,
                     has + " and needs " + std::to_string(need) + " bytes of KV cache; the budget of " +
                         std::to_string(pool.budgetBytes()) + " bytes holds " + std::to_string(capacity) + " tokens",
                     "", "Shorten the prompt or set a larger KV budget."};
    }
    return std::nullopt;
}

// At least one prompt token is always computed: its logits are needed.
int ActiveRun::reusePrefix(const std::vector<TokenId> &prompt)
{
    KvSequence &kv = *m_runtime->kv;
    const std::vector<TokenId> held = std::exchange(m_runtime->heldIds, {});
    std::size_t common = 0;
    if (m_ticket->request.reusesPrefix && keepsCache()) {
        const auto [heldEnd, promptEnd] = std::mismatch(held.begin(), held.end(), prompt.begin(), prompt.end() - 1);
        common = static_cast<std::size_t>(promptEnd - prompt.begin());
    }
    kv.truncate(static_cast<int>(common));
    return kv.tokens();
}

// Room for a pass. In prefill nothing could be said without it; later the answer so far stands.
bool ActiveRun::reserve(const StepPlan &plan)
{
    KvSequence &kv = *m_runtime->kv;
    const std::uint64_t before = kv.allocatedBytes();
    if (Result<void> room = kv.reserve(plan.count()); !room) {
        if (isInPrefill())
            failWith(std::move(room.error()));
        else
            finish(FinishReason::MemoryFull);
        return false;
    }
    if (keepsCache() && kv.allocatedBytes() > before)
        m_ticket->emitEvent(KvGrew{kvSample()});
    return true;
}

// One pass. False when the run has ended with it.
bool ActiveRun::forward(const StepPlan &plan, std::span<float> &logits)
{
    if (!reserve(plan))
        return false;
    const std::int64_t beginNs = m_ticket->clock.now();
    const auto tokens = std::span(m_sequence->ids())
                            .subspan(static_cast<std::size_t>(plan.begin), static_cast<std::size_t>(plan.count()));
    Result<std::span<float>> result =
        m_runtime->backend->forward(*m_runtime->kv, tokens, plan.wantsLogits, m_ticket->stop);
    if (!result) {
        failWith(std::move(result.error()));
        return false;
    }
    logits = *result;
    if (isInPrefill()) {
        const std::int64_t endNs = m_ticket->clock.now();
        KvSample kv = kvSample();
        kv.timeNs = endNs;
        m_ticket->emitEvent(PrefillChunk{{plan.begin, plan.end, beginNs, endNs}, kv});
    }
    return true;
}

void ActiveRun::produceToken(std::span<float> logits, std::int64_t stepBeginNs)
{
    Result<TokenRecord> token = m_sequence->extend(logits);
    if (!token)
        return failWith(std::move(token.error()));
    if (!keepsCache())
        m_runtime->kv->truncate(0); // the next step computes the whole context again
    const KvSample kv = kvSample();
    token->timeNs = kv.timeNs;
    token->stepNs = kv.timeNs - stepBeginNs;
    token->kvTokens = kv.tokens;
    token->kvBytes = kv.usedBytes;
    m_ticket->emitEvent(TokenProduced{std::move(*token), kv});
    if (const auto reason = m_sequence->endReason(m_runtime->contextTokens()))
        finish(*reason);
}

void ActiveRun::finish(FinishReason reason)
{
    if (std::exchange(m_hasEnded, true))
        return;
    Finished event;
    event.reason = reason;
    if (m_sequence) {
        Sequence::Tail tail = m_sequence->finish();
        event.tailText = std::move(tail.text);
        event.endedInsideCharacter = tail.endedInsideCharacter;
        if (reason == FinishReason::StopString)
            event.stopString = m_sequence->matchedStop();
    }
    leaveCache();
    event.timeNs = m_ticket->clock.now();
    event.pausedNs = m_ticket->clock.pausedNs();
    m_ticket->emitEvent(std::move(event));
}

void ActiveRun::failWith(Error error)
{
    if (error.code == ErrorCode::Cancelled)
        return finish(FinishReason::Cancelled);
    if (std::exchange(m_hasEnded, true))
        return;
    Failed event;
    event.error = std::move(error);
    if (m_sequence)
        event.tailText = m_sequence->finish().text;
    leaveCache();
    event.timeNs = m_ticket->clock.now();
    event.pausedNs = m_ticket->clock.pausedNs();
    m_ticket->emitEvent(std::move(event));
}

// What was computed stays for the next run's prefix.
void ActiveRun::leaveCache()
{
    if (!m_sequence)
        return; // it never touched the cache
    if (!keepsCache())
        m_runtime->kv->truncate(0);
    const auto held = m_sequence->ids().begin() + m_runtime->kv->tokens();
    m_runtime->heldIds.assign(m_sequence->ids().begin(), held);
}

// Without a cache nothing is kept between steps, so nothing is reported; the blocks that a pass works in are scratch.
KvSample ActiveRun::kvSample() const
{
    const std::int64_t timeNs = m_ticket->clock.now();
    if (!keepsCache())
        return {timeNs, 0, 0, 0};
    const KvSequence &kv = *m_runtime->kv;
    return {timeNs, kv.tokens(), kv.usedBytes(), kv.allocatedBytes()};
}

} // namespace lectern
