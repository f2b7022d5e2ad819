// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/active_run.h"
#include "engine/trace/request_limits.h"

#include <algorithm>
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
    , m_kv(std::make_unique<KvSequence>(*runtime.pool))
{
}

// Tokenized is emitted for refused prompts too: their tokens can be looked at.
void ActiveRun::prepare(std::span<const std::unique_ptr<ActiveRun>> others)
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
    const int reused = problem ? 0 : reusePrefix(ids, others);
    m_reportedTokens = reused;
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
    const int capacity = pool.capacityTokens();
    if (promptTokens > capacity) {
        const std::uint64_t need = pool.layout().usedBytes(promptTokens);
        return Error{ErrorCode::OutOfMemory,
                     has + " and needs " + std::to_string(need) + " bytes of KV cache; the budget of " +
                         std::to_string(pool.budgetBytes()) + " bytes holds " + std::to_string(capacity) + " tokens",
                     "", "Shorten the prompt or set a larger KV budget."};
    }
    return std::nullopt;
}

std::span<const TokenId> ActiveRun::heldIds() const
{
    return std::span(m_sequence->ids()).first(static_cast<std::size_t>(m_kv->tokens()));
}

// The longest beginning that an ended or a running one has in common with the prompt. At least one prompt token is
// always computed: its logits are needed.
int ActiveRun::reusePrefix(std::span<const TokenId> prompt, std::span<const std::unique_ptr<ActiveRun>> others)
{
    if (m_ticket->request.reusesPrefix && keepsCache()) {
        const KvSequence *source = nullptr;
        int longest = 0;
        const auto offer = [&](std::span<const TokenId> held, const KvSequence &kv) {
            const int common = commonPrefix(held, prompt.first(prompt.size() - 1));
            if (common > longest) {
                longest = common;
                source = &kv;
            }
        };
        for (const PrefixCache::Entry &entry : m_runtime->prefixes.entries())
            offer(entry.ids, *entry.kv);
        for (const auto &other : others)
            if (other.get() != this && other->isPrepared() && other->keepsCache())
                offer(other->heldIds(), *other->m_kv);
        if (source)
            m_kv->share(*source, longest);
    }
    // With this one there are as many caches as may run at once.
    m_runtime->prefixes.shrinkTo(static_cast<std::size_t>(m_runtime->maxRuns) - 1);
    return m_kv->tokens();
}

Result<void> ActiveRun::reserve(int count)
{
    const std::uint64_t before = m_kv->allocatedBytes();
    if (Result<void> room = m_kv->reserve(count); !room)
        return room;
    if (keepsCache() && m_kv->allocatedBytes() > before)
        m_ticket->emitEvent(KvGrew{kvSample()});
    return {};
}

BatchSlice ActiveRun::slice(int count)
{
    const auto tokens = std::span<const TokenId>(m_sequence->ids())
                            .subspan(static_cast<std::size_t>(m_kv->tokens()), static_cast<std::size_t>(count));
    return {m_kv.get(), tokens, count == leftToCompute() ? 1 : 0, &m_ticket->stop};
}

void ActiveRun::passed(int count, const LogitRows &logits, const PassRecord &pass)
{
    const bool wasInPrefill = isInPrefill();
    if (wasInPrefill)
        reportChunk(m_kv->tokens() - count, pass);
    const bool isLast = logits.rows > 0;
    if (isLast) {
        produceToken(logits, pass);
    } else {
        if (!pass.operations.empty())
            reportOperations(pass, pass.endNs);
        // Several passes for one token: without a cache, and after a preemption.
        m_earlierPassesNs += wasInPrefill ? 0 : pass.endNs - pass.beginNs;
    }
}

void ActiveRun::reportChunk(int from, const PassRecord &pass)
{
    const int to = m_kv->tokens();
    if (to <= m_reportedTokens)
        return;
    KvSample kv = kvSample();
    kv.timeNs = pass.endNs;
    m_ticket->emitEvent(PrefillChunk{{std::max(from, m_reportedTokens), to, pass.beginNs, pass.endNs}, kv});
    m_reportedTokens = to;
}

void ActiveRun::reportOperations(PassRecord pass, std::int64_t sampleBeginNs)
{
    const std::int64_t endNs = m_ticket->clock.now();
    if (endNs > sampleBeginNs && sampleBeginNs > pass.beginNs)
        pass.operations.push_back({Operation::Sample, -1, sampleBeginNs - pass.beginNs, endNs - sampleBeginNs, {}});
    pass.endNs = endNs;
    m_ticket->emitEvent(PassTraced{std::move(pass)});
}

void ActiveRun::produceToken(const LogitRows &logits, const PassRecord &pass)
{
    const std::int64_t sampleBeginNs = m_ticket->clock.now();
    Result<TokenRecord> token = m_sequence->extend(logits.last());
    if (!pass.operations.empty())
        reportOperations(pass, sampleBeginNs);
    if (!token)
        return failWith(std::move(token.error()));
    if (!keepsCache())
        m_kv->truncate(0); // the next step computes the whole context again
    const KvSample kv = kvSample();
    token->timeNs = kv.timeNs;
    token->stepNs = std::exchange(m_earlierPassesNs, 0) + kv.timeNs - pass.beginNs;
    token->kvTokens = kv.tokens;
    token->kvBytes = kv.usedBytes;
    m_ticket->emitEvent(TokenProduced{std::move(*token), kv});
    if (const auto reason = m_sequence->endReason(m_runtime->contextTokens()))
        finish(*reason);
}

void ActiveRun::preempt()
{
    const int held = m_kv->tokens();
    m_kv->truncate(0);
    if (keepsCache() && held > 0) // without a cache it is scratch memory that is given back
        m_ticket->emitEvent(Preempted{{m_ticket->clock.now(), held}, kvSample()});
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

// What was computed stays for the prefix of later runs; what was only reserved does not.
void ActiveRun::leaveCache()
{
    m_kv->truncate(m_kv->tokens());
    if (m_sequence && keepsCache() && holdsCache())
        m_runtime->prefixes.keep({{heldIds().begin(), heldIds().end()}, std::move(m_kv)});
    else
        m_kv->truncate(0);
}

// Without a cache nothing is kept between steps, so nothing is reported; the blocks that a pass works in are scratch.
KvSample ActiveRun::kvSample() const
{
    const std::int64_t timeNs = m_ticket->clock.now();
    if (!keepsCache())
        return {timeNs, 0, 0, 0};
    return {timeNs, m_kv->tokens(), m_kv->usedBytes(), m_kv->allocatedBytes()};
}

} // namespace lectern
