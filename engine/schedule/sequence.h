// SPDX-License-Identifier: GPL-3.0-or-later
// The tokens of one run and what turns logits into the next token and its text. Which of them are computed is known to
// the KvSequence; the two together are what a scheduler batches. Engine thread.
#pragma once

#include "engine/base/utf8.h"
#include "engine/sampling/sampler.h"
#include "engine/text/stop_matcher.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/run_record.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lectern {

class Sequence
{
public:
    // `tokenizer` must outlive it. Ids at or above `idLimit` are never chosen.
    Sequence(const Request &request, std::vector<TokenId> prompt, const Tokenizer &tokenizer, int idLimit);

    const std::vector<TokenId> &ids() const { return m_ids; } // prompt, then output
    int size() const { return static_cast<int>(m_ids.size()); }
    int promptTokens() const { return m_promptTokens; }
    int outputTokens() const { return size() - m_promptTokens; }

    // Chooses the next token and appends it. Fills in id, bytes, text, probability and candidates; `logits` are
    // scratch. Numerics names the step, counted from 1.
    Result<TokenRecord> extend(std::span<float> logits);

    // Why no further token may follow, or nothing. `contextTokens`: limit for prompt and output together.
    std::optional<FinishReason> endReason(int contextTokens) const;

    struct Tail
    {
        std::string text; // what was held back; empty after a stop string
        bool endedInsideCharacter = false;
    };
    Tail finish();
    const std::string &matchedStop() const { return m_stops.matchedStop(); }

private:
    std::string textOf(TokenId id);

    const Tokenizer *m_tokenizer;
    std::vector<TokenId> m_ids;
    int m_promptTokens;
    int m_maxTokens;
    int m_topCandidates;
    bool m_stripsSpace; // the next text is the first of the whole sequence (SentencePiece puts a space there)
    bool m_hasEndToken = false;
    Sampler m_sampler;
    Utf8Gate m_gate;
    StopMatcher m_stops;
};

} // namespace lectern
