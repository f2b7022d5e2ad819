// SPDX-License-Identifier: GPL-3.0-or-later
// A backend that computes nothing: it gives the logits that a test has written down. For tests of what the engine does
// with them; what models compute is tested on the real backends.
#pragma once

#include "engine/backend/batch.h"
#include "engine/engine.h"

#include <functional>
#include <memory>
#include <vector>

namespace lectern::test {

struct Pass
{
    int position = 0;
    int tokens = 0;
    bool operator==(const Pass &) const = default;
};

struct Script
{
    std::vector<TokenId> tokens; // the most likely token of each step; later steps repeat kFillToken
    std::function<void(int step, std::span<float> logits)> changeLogits; // step: from 1
    std::function<void()> onPass;                                        // in the middle of a pass
    std::vector<Pass> passes;                                            // what was asked for, of every sequence
    std::vector<std::vector<Pass>> batches;                              // the same, by pass
    int step = 0;                                                        // logits given so far

    static constexpr TokenId kFillToken = 'x';
};

// Keeps books only.
class ScriptedMemory : public KvMemory
{
public:
    using KvMemory::KvMemory;
    void copyBlock(int, BlockId, BlockId) override {}
    void copyState(BlockId, BlockId) override {}
    void clearState(BlockId) override {}
};

class ScriptedBackend : public Backend
{
public:
    ScriptedBackend(std::shared_ptr<Script> script, const ModelSpec &spec)
        : m_script(std::move(script))
        , m_spec(spec)
    {
    }

    BackendInfo info() const override { return {"scripted", "none", 1, 0, kPassTokens}; }
    KvElement kvElement() const override { return KvElement::F16; }
    Result<std::unique_ptr<KvMemory>> createKvMemory(KvLayout layout, KvCapacity capacity) override
    {
        return std::make_unique<ScriptedMemory>(std::move(layout), std::move(capacity));
    }

    Result<std::vector<LogitRows>> forward(std::span<const BatchSlice> batch, PassTrace *trace) override
    {
        m_script->batches.emplace_back();
        for (const BatchSlice &slice : batch) {
            m_script->passes.push_back({slice.kv->tokens(), static_cast<int>(slice.tokens.size())});
            m_script->batches.back().push_back(m_script->passes.back());
        }
        if (Result<void> ready = beginBatch(batch, m_spec, kPassTokens, KvElement::F16); !ready)
            return tl::unexpected(std::move(ready.error()));
        if (m_script->onPass)
            m_script->onPass();
        if (isStopRequested(batch)) {
            abandonBatch(batch);
            return fail(ErrorCode::Cancelled, "stopped");
        }
        commitBatch(batch);
        if (trace)
            trace->add(Operation::Embed, -1, {});
        return logitsOf(batch);
    }

    // Parts of an engine that runs the script; `clock` as in EngineParts.
    static EngineParts parts(const std::shared_ptr<Script> &script, std::function<std::int64_t()> clock = nowNs)
    {
        const auto create = [script](const Model &model, const LoadOptions &, const LoadProgressFunction &progress,
                                     const StopFlag &stop) -> Result<std::unique_ptr<Backend>> {
            for (const std::uint64_t done : {0, 50, 100})
                progress(done, 100);
            if (stop.isRequested())
                return fail(ErrorCode::Cancelled, "stopped");
            return std::make_unique<ScriptedBackend>(script, model.spec);
        };
        return {create, std::move(clock)};
    }

private:
    std::vector<LogitRows> logitsOf(std::span<const BatchSlice> batch)
    {
        const auto vocabulary = static_cast<std::size_t>(m_spec.vocabulary);
        m_logits.assign(batch.size() * vocabulary, -10.0f);
        std::vector<LogitRows> rows;
        for (std::size_t i = 0; i < batch.size(); ++i) {
            rows.push_back(
                {m_logits.data() + i * vocabulary, vocabulary, batch[i].logits > 0 ? 1 : 0, m_spec.vocabulary});
            if (batch[i].logits == 0)
                continue;
            const auto step = static_cast<std::size_t>(m_script->step++);
            const TokenId forced = step < m_script->tokens.size() ? m_script->tokens[step] : Script::kFillToken;
            rows.back().last()[static_cast<std::size_t>(forced)] = 10;
            if (m_script->changeLogits)
                m_script->changeLogits(m_script->step, rows.back().last());
        }
        return rows;
    }

    std::shared_ptr<Script> m_script;
    ModelSpec m_spec;
    std::vector<float> m_logits;
};

} // namespace lectern::test
