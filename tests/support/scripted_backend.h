// SPDX-License-Identifier: GPL-3.0-or-later
// A backend that computes nothing: it gives the logits that a test has written down. For tests of what the engine does
// with them; what models compute is tested on the real backends.
#pragma once

#include "engine/backend/backend.h"
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
    std::vector<Pass> passes;                                            // what was asked for
    int step = 0;                                                        // logits given so far

    static constexpr TokenId kFillToken = 'x';
};

class ScriptedBackend : public Backend
{
public:
    ScriptedBackend(std::shared_ptr<Script> script, int vocabulary)
        : m_script(std::move(script))
        , m_logits(static_cast<std::size_t>(vocabulary))
    {
    }

    BackendInfo info() const override { return {"scripted", "none", 1, 0}; }
    KvElement kvElement() const override { return KvElement::F16; }
    PassCost cost(int, int, bool) const override { return {}; }

    Result<std::span<float>> forward(KvSequence &kv, std::span<const TokenId> tokens, bool wantsLogits,
                                     const StopFlag &stop) override
    {
        m_script->passes.push_back({kv.tokens(), static_cast<int>(tokens.size())});
        if (m_script->onPass)
            m_script->onPass();
        if (stop.isRequested())
            return fail(ErrorCode::Cancelled, "stopped");
        if (Result<void> room = kv.reserve(static_cast<int>(tokens.size())); !room)
            return tl::unexpected(room.error());
        kv.commit(static_cast<int>(tokens.size()));
        if (!wantsLogits)
            return std::span<float>();
        std::fill(m_logits.begin(), m_logits.end(), -10.0f);
        const auto step = static_cast<std::size_t>(m_script->step++);
        const TokenId forced = step < m_script->tokens.size() ? m_script->tokens[step] : Script::kFillToken;
        m_logits[static_cast<std::size_t>(forced)] = 10;
        if (m_script->changeLogits)
            m_script->changeLogits(m_script->step, m_logits);
        return std::span<float>(m_logits);
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
            return std::make_unique<ScriptedBackend>(script, model.spec.vocabulary);
        };
        return {create, std::move(clock)};
    }

private:
    std::shared_ptr<Script> m_script;
    std::vector<float> m_logits;
};

} // namespace lectern::test
