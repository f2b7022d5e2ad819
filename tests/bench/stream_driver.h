// SPDX-License-Identifier: GPL-3.0-or-later
// An EngineDriver whose runs come in at a fixed rate, whatever the machine: made-up tokens with everything that real
// ones carry. The model that it loads only gives its vocabulary.
#pragma once

#include "app/core/engine_worker.h"

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace lectern::test {

class StreamDriver final : public EngineDriver
{
public:
    StreamDriver(int tokens, int tokensPerSecond)
        : m_tokens(tokens)
        , m_stepNs(1'000'000'000 / tokensPerSecond)
    {
    }

    Result<LoadedModelPtr> load(const std::filesystem::path &path, const LoadOptions &options, EventSink &sink,
                                const StopFlag &stop) override
    {
        return m_engine.load(path, options, sink, stop);
    }

    RequestId submit(Request request, EventSink &sink) override
    {
        m_sink = &sink;
        m_isStopped = false;
        m_made = 0;
        m_beginNs = nowNs();
        RunRecord record;
        record.request = std::move(request);
        record.model = m_engine.loaded()->model;
        record.engine = m_engine.loaded()->engine;
        record.engine.kvBytesPerToken = kTokenBytes;
        record.engine.kvBlockTokens = kBlock;
        record.engine.kvBudgetBytes = kTokenBytes * 8192;
        record.engine.contextTokens = 8192;
        emitBody(Queued{std::move(record)});
        Tokenized prompt;
        for (int i = 0; i < kPromptTokens; ++i) {
            TokenRecord token;
            token.bytes = wordAt(i);
            token.begin = prompt.promptText.size();
            prompt.promptText += token.bytes;
            token.end = prompt.promptText.size();
            prompt.tokens.push_back(token);
        }
        emitBody(std::move(prompt));
        emitBody(PrefillChunk{{0, kPromptTokens, 1, m_stepNs}, kvAt(m_stepNs)});
        return kRun;
    }

    void cancel(RequestId) override { m_isStopped = true; }
    void pause(RequestId) override {}
    void resume(RequestId) override {}

    bool step() override
    {
        if (m_made == m_tokens || m_isStopped) {
            emitBody(Finished{m_isStopped ? FinishReason::Cancelled : FinishReason::MaxTokens,
                              {},
                              {},
                              false,
                              nowNs() - m_beginNs,
                              0});
            return false;
        }
        const std::int64_t dueNs = m_stepNs * (m_made + 1);
        std::this_thread::sleep_for(std::chrono::nanoseconds(m_beginNs + dueNs - nowNs()));
        TokenRecord token;
        token.id = m_made;
        token.bytes = token.text = wordAt(m_made);
        token.timeNs = dueNs;
        token.stepNs = m_stepNs * (90 + m_made % 21) / 100; // some spread, as measured steps have
        token.logprob = -0.05f * static_cast<float>(m_made % 50);
        for (int rank = 0; rank < 20; ++rank)
            token.top.push_back({rank, -0.3f * static_cast<float>(rank)});
        const KvSample kv = kvAt(dueNs);
        token.kvTokens = kv.tokens;
        token.kvBytes = kv.usedBytes;
        if (kv.tokens % kBlock == 0)
            emitBody(KvGrew{kv});
        emitBody(TokenProduced{std::move(token), kv});
        ++m_made;
        return true;
    }

private:
    static constexpr RequestId kRun = 1;
    static constexpr int kPromptTokens = 40, kBlock = 16;
    static constexpr std::uint64_t kTokenBytes = 23'040;

    static std::string wordAt(int i)
    {
        static constexpr std::array kWords{" the", " keeper", " of",   " light", "house", " saw", ",",   " far",
                                           " out", " a",      " ship", " under", " sail", ".",    " It", " was"};
        return i % 97 == 96 ? "\n" : kWords[static_cast<std::size_t>(i * 7 + i / 16) % kWords.size()];
    }

    KvSample kvAt(std::int64_t timeNs) const
    {
        const int held = kPromptTokens + m_made;
        const auto blocks = static_cast<std::uint64_t>((held + kBlock - 1) / kBlock);
        return {timeNs, held, kTokenBytes * static_cast<std::uint64_t>(held), kTokenBytes * kBlock * blocks};
    }

    void emitBody(EventBody body) { m_sink->emitEvent({kRun, std::move(body)}); }

    Engine m_engine;
    const int m_tokens;
    const std::int64_t m_stepNs;
    EventSink *m_sink = nullptr;
    std::atomic<bool> m_isStopped{false};
    int m_made = 0;
    std::int64_t m_beginNs = 0;
};

} // namespace lectern::test
