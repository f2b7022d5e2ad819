// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/engine.h"

#include "engine/engine_load.h"
#include "engine/schedule/active_run.h"

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
    std::shared_ptr<Ticket> oldest();
    void remove(const Ticket &ticket);
    void announce(Ticket &ticket);
    bool announceNew();
    void endAsCancelled(Ticket &ticket);
    bool endCancelled();
    void endAll();
    bool start(std::shared_ptr<Ticket> ticket);
    void endUnstarted(Ticket &ticket, EventBody end);
    Error noModel() const { return {ErrorCode::InvalidInput, "no model is loaded", "", "Open a model first."}; }

    const EngineParts parts;

    // Engine thread only.
    std::unique_ptr<ModelRuntime> runtime;
    std::unique_ptr<ActiveRun> active;

    mutable std::mutex mutex;
    std::deque<std::shared_ptr<Ticket>> tickets; // not ended, oldest first; the active one is among them
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

std::shared_ptr<Ticket> Engine::State::oldest()
{
    const std::lock_guard lock(mutex);
    return tickets.empty() ? nullptr : tickets.front();
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
    std::vector<std::shared_ptr<Ticket>> fresh;
    {
        const std::lock_guard lock(mutex);
        std::copy_if(tickets.begin(), tickets.end(), std::back_inserter(fresh),
                     [](const auto &ticket) { return !ticket->isAnnounced; });
    }
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
    if (active && &active->ticket() == &ticket) {
        remove(ticket);
        active->finish(FinishReason::Cancelled);
        active.reset();
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
    std::vector<std::shared_ptr<Ticket>> cancelled;
    {
        const std::lock_guard lock(mutex);
        std::copy_if(tickets.begin(), tickets.end(), std::back_inserter(cancelled),
                     [](const auto &ticket) { return ticket->isAnnounced && ticket->stop.isRequested(); });
    }
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

bool Engine::State::start(std::shared_ptr<Ticket> ticket)
{
    if (runtime) {
        active = std::make_unique<ActiveRun>(std::move(ticket), *runtime);
        return true;
    }
    Failed end;
    end.error = noModel();
    end.timeNs = ticket->clock.now();
    end.pausedNs = ticket->clock.pausedNs();
    endUnstarted(*ticket, std::move(end));
    return false;
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
    const std::lock_guard lock(m_state->mutex);
    m_state->loaded = m_state->runtime->loaded;
    return m_state->loaded;
}

void Engine::unload()
{
    m_state->endAll();
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
    if (!state.active) {
        std::shared_ptr<Ticket> next = state.oldest();
        if (!next)
            return hasAnnounced || hasEndedSome;
        if (!next->isAnnounced)
            return true; // it came just now: the next step says so first
        if (!state.start(std::move(next)))
            return true;
    }
    if (!state.active->step())
        return hasAnnounced || hasEndedSome;
    if (state.active->hasEnded()) {
        state.remove(state.active->ticket());
        state.active.reset();
    }
    return true;
}

Result<std::vector<float>> Engine::logits(std::span<const TokenId> ids, const StopFlag &stop)
{
    if (!m_state->runtime)
        return tl::unexpected(m_state->noModel());
    if (m_state->active)
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
    runtime.heldIds.clear();
    runtime.kv->truncate(0);
    KvSequence kv(*runtime.pool);
    const int total = static_cast<int>(ids.size());
    while (true) {
        const StepPlan plan = planStep(kv.tokens(), total);
        if (Result<void> room = kv.reserve(plan.count()); !room)
            return tl::unexpected(std::move(room.error()));
        const auto part = ids.subspan(static_cast<std::size_t>(plan.begin), static_cast<std::size_t>(plan.count()));
        const Result<std::span<float>> result = runtime.backend->forward(kv, part, plan.wantsLogits, stop);
        if (!result)
            return tl::unexpected(result.error());
        if (plan.wantsLogits)
            return std::vector<float>(result->begin(), result->end());
    }
}

} // namespace lectern
