// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/engine.h"

#include "engine/engine_load.h"
#include "engine/schedule/scheduler.h"

#include <algorithm>
#include <ctime>
#include <deque>
#include <mutex>
#include <new>
#include <utility>

namespace lectern {

namespace {

std::string nowUtc()
{
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

} // namespace

struct Engine::State
{
    explicit State(EngineParts engineParts)
        : parts(std::move(engineParts))
    {
    }

    std::shared_ptr<Ticket> find(RequestId id);
    template <class Condition>
    std::vector<std::shared_ptr<Ticket>> ticketsThat(Condition condition);
    void remove(const Ticket &ticket);
    void announce(Ticket &ticket);
    bool announceNew();
    void endAsCancelled(Ticket &ticket);
    bool endCancelled();
    void endAll();
    bool admitWaiting();
    void removeEnded();
    void endUnstarted(Ticket &ticket, EventBody end);
    Error noModel() const { return {ErrorCode::InvalidInput, "no model is loaded", "", "Open a model first."}; }

    const EngineParts parts;

    // Engine thread only.
    std::unique_ptr<ModelRuntime> runtime;
    std::unique_ptr<Scheduler> scheduler; // as long as there is a runtime

    mutable std::mutex mutex;
    std::deque<std::shared_ptr<Ticket>> tickets; // not ended, oldest first; the running ones are among them
    RequestId lastId = 0;
    std::shared_ptr<const LoadedModel> loaded;
};

std::shared_ptr<Ticket> Engine::State::find(RequestId id)
{
    const std::lock_guard lock(mutex);
    for (const auto &ticket : tickets)
        if (ticket->id == id)
            return ticket;
    return nullptr;
}

template <class Condition>
std::vector<std::shared_ptr<Ticket>> Engine::State::ticketsThat(Condition condition)
{
    const std::lock_guard lock(mutex);
    std::vector<std::shared_ptr<Ticket>> found;
    std::copy_if(tickets.begin(), tickets.end(), std::back_inserter(found),
                 [&](const auto &ticket) { return condition(*ticket); });
    return found;
}

void Engine::State::remove(const Ticket &ticket)
{
    const std::lock_guard lock(mutex);
    std::erase_if(tickets, [&](const auto &entry) { return entry.get() == &ticket; });
}

void Engine::State::announce(Ticket &ticket)
{
    ticket.isAnnounced = true;
    RunRecord record;
    record.programVersion = engineVersion();
    record.createdUtc = ticket.createdUtc;
    record.request = ticket.request;
    if (runtime) {
        record.machine = runtime->loaded->machine;
        record.model = runtime->loaded->model;
        record.engine = runtime->loaded->engine;
    } else {
        record.machine = describeMachine();
    }
    ticket.emitEvent(Queued{std::move(record)});
}

bool Engine::State::announceNew()
{
    const auto fresh = ticketsThat([](const Ticket &ticket) { return !ticket.isAnnounced; });
    for (const auto &ticket : fresh)
        announce(*ticket);
    return !fresh.empty();
}

// A request that never became the active run.
void Engine::State::endUnstarted(Ticket &ticket, EventBody end)
{
    remove(ticket);
    ticket.emitEvent(std::move(end));
}

void Engine::State::endAsCancelled(Ticket &ticket)
{
    if (ticket.isAdmitted) {
        remove(ticket);
        scheduler->end(ticket, FinishReason::Cancelled);
        return;
    }
    Finished end;
    end.reason = FinishReason::Cancelled;
    end.timeNs = ticket.clock.now();
    end.pausedNs = ticket.clock.pausedNs();
    endUnstarted(ticket, std::move(end));
}

bool Engine::State::endCancelled()
{
    const auto cancelled =
        ticketsThat([](const Ticket &ticket) { return ticket.isAnnounced && ticket.stop.isRequested(); });
    for (const auto &ticket : cancelled)
        endAsCancelled(*ticket);
    return !cancelled.empty();
}

// Exactly the requests that are there now: one that comes meanwhile waits for the next step().
void Engine::State::endAll()
{
    std::deque<std::shared_ptr<Ticket>> ending;
    {
        const std::lock_guard lock(mutex);
        ending.swap(tickets);
    }
    for (const auto &ticket : ending)
        if (!ticket->isAnnounced)
            announce(*ticket);
    for (const auto &ticket : ending)
        endAsCancelled(*ticket);
}

// In order of arrival, as many as may run at once. Without a model every request fails.
bool Engine::State::admitWaiting()
{
    const auto waiting = ticketsThat([](const Ticket &ticket) { return ticket.isAnnounced && !ticket.isAdmitted; });
    for (const auto &ticket : waiting) {
        if (!runtime) {
            Failed end;
            end.error = noModel();
            end.timeNs = ticket->clock.now();
            end.pausedNs = ticket->clock.pausedNs();
            endUnstarted(*ticket, std::move(end));
        } else if (scheduler->hasRoom()) {
            ticket->isAdmitted = true;
            scheduler->admit(ticket);
        }
    }
    return !runtime && !waiting.empty();
}

void Engine::State::removeEnded()
{
    if (!scheduler)
        return;
    for (const auto &ticket : scheduler->takeEnded())
        remove(*ticket);
}

Engine::Engine()
    : Engine(EngineParts{createChosenBackend, nowNs})
{
}

Engine::Engine(EngineParts parts)
    : m_state(std::make_unique<State>(std::move(parts)))
{
}

Engine::~Engine() = default;

Result<std::shared_ptr<const LoadedModel>> Engine::load(const std::filesystem::path &path, const LoadOptions &options,
                                                        EventSink &sink, const StopFlag &stop)
{
    unload();
    Result<std::unique_ptr<ModelRuntime>> runtime = [&]() -> Result<std::unique_ptr<ModelRuntime>> {
        try {
            return loadRuntime(path, options, m_state->parts, sink, stop);
        } catch (const std::bad_alloc &) {
            return fail(ErrorCode::OutOfMemory, "there is too little memory to load this model",
                        path.filename().string(), "Choose a shorter context or a smaller model.");
        }
    }();
    if (!runtime)
        return tl::unexpected(std::move(runtime.error()));
    m_state->runtime = std::move(*runtime);
    m_state->scheduler = std::make_unique<Scheduler>(*m_state->runtime);
    const std::lock_guard lock(m_state->mutex);
    m_state->loaded = m_state->runtime->loaded;
    return m_state->loaded;
}

void Engine::unload()
{
    m_state->endAll();
    m_state->scheduler.reset();
    m_state->runtime.reset();
    const std::lock_guard lock(m_state->mutex);
    m_state->loaded.reset();
}

std::shared_ptr<const LoadedModel> Engine::loaded() const
{
    const std::lock_guard lock(m_state->mutex);
    return m_state->loaded;
}

RequestId Engine::submit(Request request, EventSink &sink)
{
    const std::lock_guard lock(m_state->mutex);
    const RequestId id = ++m_state->lastId;
    m_state->tickets.push_back(std::make_shared<Ticket>(id, std::move(request), sink, nowUtc(), m_state->parts.clock));
    return id;
}

void Engine::cancel(RequestId id)
{
    if (const auto ticket = m_state->find(id))
        ticket->stop.request();
}

void Engine::pause(RequestId id)
{
    if (const auto ticket = m_state->find(id))
        ticket->clock.pause();
}

void Engine::resume(RequestId id)
{
    if (const auto ticket = m_state->find(id))
        ticket->clock.resume();
}

bool Engine::step()
{
    State &state = *m_state;
    const bool hasAnnounced = state.announceNew();
    const bool hasEndedSome = state.endCancelled();
    state.removeEnded(); // makes room for others
    const bool hasRefused = state.admitWaiting();
    const bool hasWorked = state.scheduler && state.scheduler->step();
    state.removeEnded();
    return hasAnnounced || hasEndedSome || hasRefused || hasWorked;
}

Result<std::vector<float>> Engine::logits(std::span<const TokenId> ids, const StopFlag &stop)
{
    if (!m_state->runtime)
        return tl::unexpected(m_state->noModel());
    if (!m_state->scheduler->isIdle())
        return fail(ErrorCode::InvalidInput, "a run is active; logits need the whole KV cache");
    ModelRuntime &runtime = *m_state->runtime;
    if (ids.empty())
        return fail(ErrorCode::InvalidInput, "nothing to evaluate: no token ids were given");
    if (ids.size() > static_cast<std::size_t>(runtime.contextTokens()))
        return fail(ErrorCode::ContextFull, std::to_string(ids.size()) +
                                                " token ids were given and the context holds " +
                                                std::to_string(runtime.contextTokens()));
    for (std::size_t i = 0; i < ids.size(); ++i)
        if (ids[i] < 0 || ids[i] >= runtime.model.spec.vocabulary)
            return fail(ErrorCode::InvalidInput, "id " + std::to_string(ids[i]) + " at position " + std::to_string(i) +
                                                     " is not below " + std::to_string(runtime.model.spec.vocabulary));
    runtime.prefixes.shrinkTo(0);
    KvSequence kv(*runtime.pool);
    const auto passTokens = static_cast<std::size_t>(runtime.backend->info().passTokens);
    for (;;) {
        const auto left = ids.subspan(static_cast<std::size_t>(kv.tokens()));
        const bool isLast = left.size() <= passTokens;
        const BatchSlice slice{&kv, left.first(std::min(left.size(), passTokens)), isLast ? 1 : 0, &stop};
        const Result<std::vector<LogitRows>> result = runtime.backend->forward(std::span(&slice, 1), nullptr);
        if (!result)
            return tl::unexpected(result.error());
        if (isLast) {
            const std::span<float> logits = result->front().last();
            return std::vector<float>(logits.begin(), logits.end());
        }
    }
}

} // namespace lectern
