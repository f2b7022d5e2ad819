// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the pieces that are matched in a text before any merging: user-defined ones always, control tokens only where
// the caller allows them. Leftmost match first, the longest of those that start there (as the published tokenizers do).
#pragma once

#include "engine/text/tokenizer.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lectern {

// A part of a text: a token, or text that still has to be cut.
struct Fragment
{
    TextRange range;
    std::optional<TokenId> token;
};

class SpecialMatcher
{
public:
    // `matchesUserDefined` is off where the tokenizer library matches them by itself.
    SpecialMatcher(const Vocabulary &vocabulary, bool matchesUserDefined);

    // Whole text, in order, without empty fragments.
    std::vector<Fragment> split(std::string_view text, const EncodeOptions &options) const;

private:
    static constexpr std::uint32_t kRoot = 0;
    static std::uint64_t edge(std::uint32_t node, unsigned char byte) { return std::uint64_t{node} << 8 | byte; }
    void add(std::string_view piece, TokenId id, bool isControl);
    std::optional<Fragment> matchAt(std::string_view text, std::size_t begin, const EncodeOptions &options) const;

    struct Node
    {
        std::optional<TokenId> token;
        bool isControl = false;
    };
    std::vector<Node> m_nodes{1};
    std::unordered_map<std::uint64_t, std::uint32_t> m_edges;
    std::array<bool, 256> m_isFirstByte{};
};

} // namespace lectern
