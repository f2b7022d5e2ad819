// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/special_matcher.h"

#include <algorithm>

namespace lectern {

namespace {

bool touches(const TextRange &match, std::span<const TextRange> ranges)
{
    return std::any_of(ranges.begin(), ranges.end(),
                       [&match](const TextRange &range) { return match.begin < range.end && range.begin < match.end; });
}

} // namespace

SpecialMatcher::SpecialMatcher(const Vocabulary &vocabulary, bool matchesUserDefined)
{
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
        const bool isWanted =
            vocabulary.isSpecial(id) || (matchesUserDefined && vocabulary.kind(id) == TokenKind::UserDefined);
        if (isWanted)
            add(vocabulary.pieces[static_cast<std::size_t>(id)], id, vocabulary.isSpecial(id));
    }
}

void SpecialMatcher::add(std::string_view piece, TokenId id, bool isControl)
{
    if (piece.empty())
        return;
    m_isFirstByte[static_cast<unsigned char>(piece[0])] = true;
    std::uint32_t node = kRoot;
    for (const char byte : piece) {
        const auto [position, isNew] = m_edges.try_emplace(edge(node, static_cast<unsigned char>(byte)),
                                                           static_cast<std::uint32_t>(m_nodes.size()));
        if (isNew)
            m_nodes.emplace_back();
        node = position->second;
    }
    if (!m_nodes[node].token)
        m_nodes[node] = {id, isControl};
}

std::optional<Fragment> SpecialMatcher::matchAt(std::string_view text, std::size_t begin,
                                                const EncodeOptions &options) const
{
    std::optional<Fragment> longest;
    std::uint32_t node = kRoot;
    for (std::size_t end = begin; end < text.size();) {
        const auto next = m_edges.find(edge(node, static_cast<unsigned char>(text[end])));
        if (next == m_edges.end())
            break;
        node = next->second;
        ++end;
        const Node &reached = m_nodes[node];
        const TextRange range{begin, end};
        const bool isAllowed = !reached.isControl || (options.parseSpecial && !touches(range, options.plainRanges));
        if (reached.token && isAllowed)
            longest = {range, reached.token};
    }
    return longest;
}

std::vector<Fragment> SpecialMatcher::split(std::string_view text, const EncodeOptions &options) const
{
    std::vector<Fragment> fragments;
    std::size_t textBegin = 0;
    const auto closeText = [&](std::size_t end) {
        if (textBegin < end)
            fragments.push_back({{textBegin, end}, std::nullopt});
    };
    for (std::size_t offset = 0; offset < text.size();) {
        std::optional<Fragment> match;
        if (m_isFirstByte[static_cast<unsigned char>(text[offset])])
            match = matchAt(text, offset, options);
        if (!match) {
            ++offset;
            continue;
        }
        closeText(offset);
        fragments.push_back(*match);
        textBegin = offset = match->range.end;
    }
    closeText(text.size());
    return fragments;
}

} // namespace lectern
