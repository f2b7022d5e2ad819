// SPDX-License-Identifier: GPL-3.0-or-later
// What the layers of a model keep of a sequence, in bytes: keys and values of each position, or a state of fixed size.
//
// Layers whose positions live and die together form a group: those that see everything, and those of each window. A
// block is kKvBlockTokens positions of all layers of one group (the design of vLLM's paged attention, SOSP'23), so a
// sequence has one block table for each group, and a windowed group gives back what its window has left behind.
#pragma once

#include "engine/model/model_spec.h"

#include <cstdint>
#include <vector>

namespace lectern {

inline constexpr int kKvBlockTokens = 16;
enum class KvElement
{
    F16,
    F32
};
constexpr int kvElementBytes(KvElement element)
{
    return element == KvElement::F16 ? 2 : 4;
}
constexpr int kvBlocksFor(int tokens)
{
    return (tokens + kKvBlockTokens - 1) / kKvBlockTokens;
}

struct KvGroup
{
    int window = 0;                  // positions that are still seen, the newest included; 0: all
    std::uint64_t bytesPerToken = 0; // keys and values, all layers of the group
    std::vector<int> layers;         // that keep keys and values of their own, ascending

    std::uint64_t blockBytes() const { return bytesPerToken * kKvBlockTokens; }
    // Positions of a sequence of `tokens` that count as used.
    int heldTokens(int tokens) const { return window > 0 && tokens > window ? window : tokens; }
};

// How many blocks of each group and how many states there are room for.
struct KvCapacity
{
    std::vector<int> blocks; // [groups]
    int states = 0;
};

struct KvLayout
{
    KvElement element = KvElement::F16;
    std::vector<KvGroup> groups;  // unlike windows; empty where every layer keeps a state
    std::vector<int> groupOf;     // [layers]; those that use another layer's have its group; -1: a state instead
    std::uint64_t stateBytes = 0; // of a sequence, all layers

    static KvLayout of(const ModelSpec &spec, KvElement element);

    // What one more token adds while no window is full.
    std::uint64_t bytesPerToken() const;
    // What a sequence of `tokens` positions uses: windowed groups stop at their window, states do not grow.
    std::uint64_t usedBytes(int tokens) const;
    std::uint64_t bytesOf(const KvCapacity &capacity) const;

    // As much as fits `budgetBytes`, for `sequences` at a time: states and windowed groups first, with room for twice
    // as many sequences (of ended ones the cache stays for their prefix), the rest for what grows without end. A pass
    // brings up to `passTokens` positions at once. Zero blocks where not even one fits.
    KvCapacity capacityFor(std::uint64_t budgetBytes, int sequences, int passTokens) const;
    // The budget that holds `sequences` of `tokens` positions.
    std::uint64_t budgetFor(int tokens, int sequences) const;
};

} // namespace lectern
