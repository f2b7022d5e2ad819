// SPDX-License-Identifier: GPL-3.0-or-later
// An EngineDriver that plays a script: the test says when each step and each part of a load may happen. No clock, no
// sleeping; times in the events are made up (1 ms a step). The control outlives the driver, which the worker owns.
#pragma once

#include "app/core/engine_worker.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

namespace lectern::test {

struct Script
{
    int promptTokens = 4;
    int prefillChunks = 2;           // the last one gives the first token
    int outputTokens = 3;            // then Finished with MaxTokens
    bool isRefused = false;          // Failed instead of Tokenized
    std::optional<int> failsAtToken; // Failed instead of this output token
    std::optional<Event> strayEvent; // emitted with every step: of a run that is over
    std::optional<Error> loadFailure;
    std::vector<double> loadStops{0}; // fractions at which a load waits; after 1 it no longer looks at the stop flag
    std::vector<std::pair<std::string, std::string>> pieces; // bytes and text of the first tokens; later ones are "tN "
    std::shared_ptr<const Tokenizer> tokenizer;              // of the loaded model; a window needs one
};

class DriverControl
{
public:
    explicit DriverControl(Script toPlay = {})
        : script(std::move(toPlay))
    {
    }

    // Test thread.
    void allowSteps(int count)
    {
        change([&] { m_allowedSteps += count; });
    }
    void letRun()
    {
        change([&] { m_isFree = true; });
    }
    void allowLoading()
    {
        change([&] { m_mayLoad = true; });
    }
    void waitForSteps(int count) // until so many are done
    {
        waitUntil([&] { return m_doneSteps >= count; });
    }
    void waitForWaitingStep() // until a step has begun and waits to be allowed
    {
        waitUntil([&] { return m_isStepWaiting; });
    }
    void waitForLoadStop(int count) // until loads have come to so many of their stops, all loads together
    {
        waitUntil([&] { return m_loadStops >= count; });
    }
    void waitForUnload(int count)
    {
        waitUntil([&] { return m_unloads >= count; });
    }
    void waitForLoadReturn(int count)
    {
        waitUntil([&] { return m_loadReturns >= count; });
    }
    bool isModelAlive()
    {
        const std::lock_guard lock(m_mutex);
        return m_isHeld || !m_model.expired();
    }
    int submissions()
    {
        const std::lock_guard lock(m_mutex);
        return m_submissions;
    }

    const Script script;

private:
    friend class ScriptedDriver;

    template <class Change>
    void change(Change apply)
    {
        {
            const std::lock_guard lock(m_mutex);
            apply();
        }
        m_changed.notify_all();
    }
    template <class Condition>
    void waitUntil(Condition condition)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, condition);
    }

    std::mutex m_mutex;
    std::condition_variable m_changed;
    int m_allowedSteps = 0, m_doneSteps = 0, m_loadStops = 0, m_unloads = 0, m_loadReturns = 0, m_submissions = 0;
    bool m_isFree = false, m_mayLoad = false, m_isStepWaiting = false;
    bool m_isHeld = false; // the driver holds a model
    std::weak_ptr<const LoadedModel> m_model;
    RequestId m_run = 0, m_cancelled = 0, m_paused = 0;
};

class ScriptedDriver final : public EngineDriver
{
public:
    explicit ScriptedDriver(std::shared_ptr<DriverControl> control)
        : m_control(std::move(control))
    {
    }
    ~ScriptedDriver() override { unload(); }

    Result<LoadedModelPtr> load(const std::filesystem::path &path, const LoadOptions &, EventSink &sink,
                                const StopFlag &stop) override
    {
        m_control->change([&] { m_control->m_isHeld = false; });
        Result<LoadedModelPtr> result = loadParts(path, sink, stop);
        m_control->change([&] {
            ++m_control->m_loadReturns;
            if (result) {
                m_control->m_isHeld = true;
                m_control->m_model = *result;
            }
        });
        return result;
    }

    void unload() override
    {
        m_control->change([&] {
            ++m_control->m_unloads;
            m_control->m_isHeld = false;
        });
    }

    RequestId submit(Request request, EventSink &sink) override
    {
        m_request = std::move(request);
        m_sink = &sink;
        m_stage = 0;
        m_tokens = 0;
        m_isOver = false;
        m_control->change([&] {
            m_control->m_run = ++m_lastId;
            ++m_control->m_submissions;
        });
        return m_lastId;
    }

    void cancel(RequestId id) override
    {
        m_control->change([&] { m_control->m_cancelled = id; });
    }
    void pause(RequestId id) override
    {
        m_control->change([&] { m_control->m_paused = id; });
    }
    void resume(RequestId) override
    {
        m_control->change([&] { m_control->m_paused = 0; });
    }

    bool step() override
    {
        if (m_isOver)
            return false;
        {
            std::unique_lock lock(m_control->m_mutex);
            DriverControl &control = *m_control;
            const auto isCancelled = [&] { return control.m_cancelled == control.m_run; };
            if (!isCancelled() && control.m_paused == control.m_run)
                return false;
            control.m_isStepWaiting = !isCancelled() && !control.m_isFree && control.m_allowedSteps == 0;
            control.m_changed.notify_all();
            control.m_changed.wait(lock,
                                   [&] { return isCancelled() || control.m_isFree || control.m_allowedSteps > 0; });
            control.m_isStepWaiting = false;
            if (!isCancelled() && !control.m_isFree)
                --control.m_allowedSteps;
            m_isCancelled = isCancelled();
        }
        m_isCancelled ? finish(FinishReason::Cancelled) : advance();
        m_control->change([&] { ++m_control->m_doneSteps; });
        return true;
    }

private:
    Result<LoadedModelPtr> loadParts(const std::filesystem::path &path, EventSink &sink, const StopFlag &stop)
    {
        constexpr double kBytes = 1000;
        for (double fraction : m_control->script.loadStops) {
            sink.emitEvent({0, LoadProgress{LoadPhase::Weights, static_cast<std::uint64_t>(kBytes * fraction), 1000}});
            std::unique_lock lock(m_control->m_mutex);
            ++m_control->m_loadStops;
            m_control->m_changed.notify_all();
            // The stop flag wakes nobody: looked at again and again, as a real loader does between blocks.
            while (!m_control->m_mayLoad && !(fraction < 1 && stop.isRequested()))
                m_control->m_changed.wait_for(lock, std::chrono::milliseconds(1));
            if (fraction < 1 && stop.isRequested())
                return fail(ErrorCode::Cancelled, "Stopped");
        }
        if (m_control->script.loadFailure)
            return tl::unexpected(*m_control->script.loadFailure);
        auto model = std::make_shared<LoadedModel>();
        model->model.name = "scripted";
        model->model.fileName = path.filename().string();
        model->tokenizer = m_control->script.tokenizer;
        return model;
    }

    void emitBody(EventBody body) { m_sink->emitEvent({m_lastId, std::move(body)}); }

    void finish(FinishReason reason)
    {
        m_isOver = true;
        emitBody(Finished{reason, {}, {}, false, ++m_stage * 1'000'000, 0});
    }

    void advance()
    {
        const Script &script = m_control->script;
        if (script.strayEvent)
            m_sink->emitEvent(*script.strayEvent);
        const std::int64_t now = ++m_stage * 1'000'000;
        if (m_stage == 1)
            begin(now);
        else if (m_stage <= script.prefillChunks + 1)
            prefill(now);
        else
            produce(now);
    }

    void begin(std::int64_t now)
    {
        RunRecord record;
        record.request = m_request;
        emitBody(Queued{record});
        if (m_control->script.isRefused) {
            m_isOver = true;
            emitBody(
                Failed{{ErrorCode::ContextFull, "The prompt has 65 tokens, the context holds 64", {}, {}}, now, 0, {}});
            return;
        }
        Tokenized tokenized;
        tokenized.tokens.resize(static_cast<std::size_t>(m_control->script.promptTokens));
        tokenized.phases.push_back({Phase::Tokenize, 0, now});
        emitBody(std::move(tokenized));
    }

    void prefill(std::int64_t now)
    {
        const Script &script = m_control->script;
        const int chunk = m_stage - 2;
        const int from = script.promptTokens * chunk / script.prefillChunks;
        const int to = script.promptTokens * (chunk + 1) / script.prefillChunks;
        emitBody(PrefillChunk{{from, to, now - 1'000'000, now}, {now, to, static_cast<std::uint64_t>(to), 16}});
        if (to == script.promptTokens)
            produce(now);
    }

    void produce(std::int64_t now)
    {
        const Script &script = m_control->script;
        if (script.failsAtToken == m_tokens) {
            m_isOver = true;
            emitBody(Failed{{ErrorCode::Numerics, "All scores are NaN", {}, {}}, now, 0, {}});
            return;
        }
        TokenRecord token;
        token.id = m_tokens++;
        token.bytes = token.text = "t" + std::to_string(token.id) + " ";
        if (static_cast<std::size_t>(token.id) < script.pieces.size())
            std::tie(token.bytes, token.text) = script.pieces[static_cast<std::size_t>(token.id)];
        token.timeNs = now;
        token.stepNs = 1'000'000;
        const int held = script.promptTokens + token.id;
        emitBody(TokenProduced{token, {now, held, static_cast<std::uint64_t>(held), 16}});
        if (m_tokens == script.outputTokens)
            finish(FinishReason::MaxTokens);
    }

    std::shared_ptr<DriverControl> m_control;
    EventSink *m_sink = nullptr;
    Request m_request;
    RequestId m_lastId = 0;
    int m_stage = 0, m_tokens = 0;
    bool m_isOver = true, m_isCancelled = false;
};

} // namespace lectern::test
