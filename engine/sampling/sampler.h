// SPDX-License-Identifier: GPL-3.0-or-later
// Picks the next token. Order: repetition penalty, then top-k, top-p, min-p on the distribution at `temperature`, then
// one draw. Every filter works on what the one before it left, made to sum to 1 again; at least the best token always
// stays. The random numbers are our own (SplitMix64 / xoshiro256**): the same seed gives the same text on every
// platform.
#pragma once

#include "engine/base/result.h"
#include "engine/text/vocabulary.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace lectern {

// Ranges of the fields below, both ends allowed.
inline constexpr float kMaxTemperature = 100;
inline constexpr float kMinRepetitionPenalty = 0.1f;
inline constexpr float kMaxRepetitionPenalty = 10;
inline constexpr int kPenaltyWindowTokens = 64;

struct SamplingParams
{
    float temperature = 0;       // 0: greedy (ties: lowest id)
    int topK = 0;                // 0, negative or above the vocabulary: off
    float topP = 1;              // 0: only the best; 1: off
    float minP = 0;              // 0: off
    float repetitionPenalty = 1; // 1: off; over the last 64 tokens, prompt included
    std::uint64_t seed = 1;
    bool operator==(const SamplingParams &) const = default;
};

// InvalidInput naming the field, the value and its range.
Result<void> validate(const SamplingParams &params);

struct Candidate
{
    TokenId id = 0;
    float logprob = 0; // natural logarithm, of the model's own distribution (temperature 1, no filter)
    bool operator==(const Candidate &) const = default;
};

struct Sampled
{
    TokenId id = 0;
    float logprob = 0; // as in Candidate
    int rank = 0;      // in the model's own distribution; 0: the most likely
    std::vector<Candidate>
        top; // sorted (ties: lowest id), whatever way the token was chosen; tokens of probability 0 left out
};

struct LogitScan;

class Sampler
{
public:
    // Ids at or above `idLimit` (padding rows of the embedding) are never chosen.
    Sampler(const SamplingParams &params, int idLimit);

    // `logits` are used as scratch. Numerics when one is NaN or +inf, or all are -inf.
    Result<Sampled> sample(std::span<float> logits, std::span<const TokenId> context, int topCount);

private:
    double uniform(); // [0, 1)
    TokenId draw(std::span<const float> logits);
    TokenId drawFromAll(std::span<const float> logits, float max);
    std::vector<TokenId> filtered(std::span<const float> logits, const LogitScan &scan) const;
    bool isTopKOn(std::size_t vocabularySize) const;

    SamplingParams m_params;
    int m_idLimit;
    std::array<std::uint64_t, 4> m_state;
};

} // namespace lectern
