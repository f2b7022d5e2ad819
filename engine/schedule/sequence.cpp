// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/sequence.h"

#include <algorithm>
#include <utility>

namespace lectern {

Sequence::Sequence(const Request &request, std::vector<TokenId> prompt, const Tokenizer &tokenizer, int idLimit)
    : m_tokenizer(&tokenizer)
    , m_ids(std::move(prompt))
    , m_promptTokens(static_cast<int>(m_ids.size()))
    , m_maxTokens(request.maxTokens)
    , m_topCandidates(request.topCandidates)
    , m_sampler(request.sampling, idLimit)
    , m_stops(request.stops)
{
    const Vocabulary &vocabulary = tokenizer.vocabulary();
    m_stripsSpace = tokenizer.stripsFirstSpace() && std::all_of(m_ids.begin(), m_ids.end(), [&](TokenId id) {
                        return vocabulary.contains(id) && vocabulary.isSpecial(id);
                    });
}

// Control tokens are no text; the end token least of all.
std::string Sequence::textOf(TokenId id)
{
    const Vocabulary &vocabulary = m_tokenizer->vocabulary();
    if (vocabulary.endsGeneration(id) || vocabulary.kind(id) == TokenKind::Control)
        return {};
    std::string bytes = m_tokenizer->bytes(id);
    if (std::exchange(m_stripsSpace, false) && bytes.starts_with(' '))
        bytes.erase(0, 1);
    return m_stops.push(m_gate.push(bytes));
}

Result<TokenRecord> Sequence::extend(std::span<float> logits)
{
    Result<Sampled> sampled = m_sampler.sample(logits, m_ids, m_topCandidates);
    if (!sampled) {
        Error error = std::move(sampled.error());
        error.where = "step " + std::to_string(outputTokens() + 1);
        return tl::unexpected(std::move(error));
    }
    const Vocabulary &vocabulary = m_tokenizer->vocabulary();
    m_ids.push_back(sampled->id);
    m_hasEndToken = vocabulary.endsGeneration(sampled->id);

    TokenRecord token;
    token.id = sampled->id;
    token.bytes = m_tokenizer->bytes(sampled->id);
    token.isSpecial = m_hasEndToken || vocabulary.isSpecial(sampled->id);
    token.text = textOf(sampled->id);
    token.logprob = sampled->logprob;
    token.rank = sampled->rank;
    token.top = std::move(sampled->top);
    return token;
}

std::optional<FinishReason> Sequence::endReason(int contextTokens) const
{
    if (m_hasEndToken)
        return FinishReason::EndToken;
    if (m_stops.matched())
        return FinishReason::StopString;
    if (outputTokens() >= m_maxTokens)
        return FinishReason::MaxTokens;
    if (size() >= contextTokens)
        return FinishReason::ContextFull;
    return std::nullopt;
}

Sequence::Tail Sequence::finish()
{
    if (m_stops.matched())
        return {};
    const bool endedInsideCharacter = m_gate.isHolding();
    std::string text = m_stops.push(m_gate.finish());
    text += m_stops.finish();
    return {std::move(text), endedInsideCharacter};
}

} // namespace lectern
