// Picks the next token. Order: repetition penalty, then top-k, top-p, min-p on the distribution at `temperature`, then one draw.
// The random numbers are our own (SplitMix64 / xoshiro256**): the same seed gives the same text on every platform.
#pragma once

#include "engine/base/result.h"
#include "engine/text/vocabulary.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace lectern
{

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
    float logprob = 0;
    int rank = 0;                  // 0: the most likely
    std::vector<Candidate> top;    // sorted, whatever way the token was chosen
};

class Sampler
{
public:
    // Ids at or above `idLimit` (padding rows of the embedding) are never chosen.
    Sampler(const SamplingParams &params, int idLimit);

    // `logits` are used as scratch. Numerics when one is NaN or +inf, or all are -inf.
    Result<Sampled> sample(std::span<float> logits, std::span<const TokenId> context, int topCount);

private:
    double uniform(); // [0, 1)
    SamplingParams m_params;
    int m_idLimit;
    std::array<std::uint64_t, 4> m_state;
};

} // namespace lectern
