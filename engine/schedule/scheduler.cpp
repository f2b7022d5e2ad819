// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/scheduler.h"

#include "engine/backend/batch.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

namespace lectern {

namespace {

Error noMemory()
{
    return {ErrorCode::OutOfMemory, "there is too little memory for this step", "",
            "Close other programs or choose a smaller model."};
}

bool isOlder(const ActiveRun &one, const ActiveRun &other)
{
    return one.ticket().id < other.ticket().id;
}

// What a pass was for one of its runs. The time of its end is taken before any token is chosen.
void complete(PassRecord &pass, const ActiveRun &run, std::span<const BatchSlice> batch,
              const std::optional<PassTrace> &trace)
{
    pass.endNs = run.ticket().clock.now();
    pass.tokens = tokenCount(batch);
    if (trace && run.ticket().request.tracesOperations)
        pass.operations = trace->operations();
}

} // namespace

Scheduler::Scheduler(ModelRuntime &runtime)
    : m_runtime(&runtime)
{
}

void Scheduler::admit(std::shared_ptr<Ticket> ticket)
{
    m_runs.push_back(std::make_unique<ActiveRun>(std::move(ticket), *m_runtime));
}

bool Scheduler::end(const Ticket &ticket, FinishReason reason)
{
    const auto run =
        std::find_if(m_runs.begin(), m_runs.end(), [&](const auto &entry) { return &entry->ticket() == &ticket; });
    if (run == m_runs.end())
        return false;
    (*run)->finish(reason);
    return true;
}

std::vector<std::shared_ptr<Ticket>> Scheduler::takeEnded()
{
    std::vector<std::shared_ptr<Ticket>> ended;
    std::erase_if(m_runs, [&](const auto &run) {
        if (run->hasEnded())
            ended.push_back(run->sharedTicket());
        return run->hasEnded();
    });
    return ended;
}

bool Scheduler::step()
{
    const std::vector<Part> parts = plan();
    if (!parts.empty())
        runPass(parts);
    const bool hasPrepared = prepareNext();
    return !parts.empty() || hasPrepared;
}

// Runs of the plan have begun their step: their clocks run until runPass() ends it.
std::vector<Scheduler::Part> Scheduler::plan()
{
    std::vector<Part> parts;
    const int passTokens = m_runtime->backend->info().passTokens;
    for (const bool isDecode : {true, false}) {
        for (const auto &run : m_runs) {
            int left = passTokens; // again for each: a preempted run gives its tokens back
            for (const Part &part : parts)
                left -= part.tokens;
            if (left > 0 && !run->hasEnded() && run->isPrepared() && (run->leftToCompute() == 1) == isDecode)
                add(parts, *run, std::min(run->leftToCompute(), left));
        }
    }
    return parts;
}

void Scheduler::add(std::vector<Part> &parts, ActiveRun &run, int tokens)
{
    if (!run.ticket().clock.tryBeginStep())
        return;
    if (mayBegin(run) && makeRoom(parts, run, tokens))
        parts.push_back({&run, tokens});
    else
        run.ticket().clock.endStep();
}

// A run that has computed nothing yet waits until all of it has room beside the older ones: begun earlier it would only
// lose its blocks again.
bool Scheduler::mayBegin(const ActiveRun &run)
{
    const bool hasOlder = std::any_of(m_runs.begin(), m_runs.end(), [&](const auto &other) {
        return isOlder(*other, run) && other->holdsCache() && !other->isPaused();
    });
    if (run.holdsCache() || !hasOlder)
        return true;
    while (run.leftToCompute() > m_runtime->pool->freeTokens())
        if (!m_runtime->prefixes.dropOldest())
            return false;
    return true;
}

// False when the run has to wait, or has ended since nobody is there to wait for.
bool Scheduler::makeRoom(std::vector<Part> &parts, ActiveRun &run, int tokens)
{
    for (;;) {
        Result<void> room = run.reserve(tokens);
        if (room)
            return true;
        if (m_runtime->prefixes.dropOldest())
            continue;
        if (ActiveRun *victim = victimFor(run)) {
            if (std::erase_if(parts, [&](const Part &part) { return part.run == victim; }) > 0)
                victim->ticket().clock.endStep();
            victim->preempt();
            continue;
        }
        const bool isAlone = std::none_of(m_runs.begin(), m_runs.end(), [&](const auto &other) {
            return other.get() != &run && other->holdsCache();
        });
        if (isAlone && run.isInPrefill())
            run.failWith(std::move(room.error())); // nothing could be said without it; later the answer so far stands
        else if (isAlone)
            run.finish(FinishReason::MemoryFull);
        return false;
    }
}

// The youngest run that must give its blocks to this one. A paused one needs none now.
ActiveRun *Scheduler::victimFor(const ActiveRun &run) const
{
    const auto victim = std::find_if(m_runs.rbegin(), m_runs.rend(), [&](const auto &other) {
        return other.get() != &run && other->holdsCache() && (isOlder(run, *other) || other->isPaused());
    });
    return victim == m_runs.rend() ? nullptr : victim->get();
}

void Scheduler::runPass(std::span<const Part> parts)
{
    std::vector<BatchSlice> batch;
    std::vector<PassRecord> passes; // each on the clock of its run
    for (const Part &part : parts) {
        batch.push_back(part.run->slice(part.tokens));
        passes.push_back({part.run->ticket().clock.now(), 0, static_cast<int>(parts.size()), 0, part.tokens, {}});
    }
    const bool isTraced = std::any_of(parts.begin(), parts.end(),
                                      [](const Part &part) { return part.run->ticket().request.tracesOperations; });
    std::optional<PassTrace> trace;
    if (isTraced)
        trace.emplace();
    try {
        Result<std::vector<LogitRows>> logits = m_runtime->backend->forward(batch, trace ? &*trace : nullptr);
        for (std::size_t i = 0; i < parts.size(); ++i)
            complete(passes[i], *parts[i].run, batch, trace);
        if (logits)
            distribute(parts, *logits, passes);
        else
            endFailed(parts, logits.error());
    } catch (const std::bad_alloc &) {
        abandonBatch(batch); // the others try again without the youngest
        parts.back().run->failWith(noMemory());
    }
    for (const Part &part : parts)
        part.run->ticket().clock.endStep();
}

void Scheduler::distribute(std::span<const Part> parts, std::span<const LogitRows> logits,
                           std::span<const PassRecord> passes)
{
    for (std::size_t i = 0; i < parts.size(); ++i) {
        try {
            parts[i].run->passed(parts[i].tokens, logits[i], passes[i]);
        } catch (const std::bad_alloc &) {
            parts[i].run->failWith(noMemory());
        }
    }
}

// A pass that one run stopped is run again without it.
void Scheduler::endFailed(std::span<const Part> parts, const Error &error)
{
    const auto isStopped = [](const Part &part) { return part.run->ticket().stop.isRequested(); };
    const bool isStop = error.code == ErrorCode::Cancelled && std::any_of(parts.begin(), parts.end(), isStopped);
    for (const Part &part : parts)
        if (!isStop || isStopped(part))
            part.run->failWith(error);
}

bool Scheduler::prepareNext()
{
    for (const auto &run : m_runs) {
        if (run->hasEnded() || run->isPrepared() || !run->ticket().clock.tryBeginStep())
            continue;
        try {
            run->prepare(m_runs);
        } catch (const std::bad_alloc &) {
            run->failWith(noMemory());
        }
        run->ticket().clock.endStep();
        return true;
    }
    return false;
}

} // namespace lectern
