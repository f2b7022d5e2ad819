// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/kv/kv_layout.h"

#include <algorithm>
#include <limits>

namespace lectern {

namespace {

constexpr std::uint64_t kMaxBlocks = std::numeric_limits<std::int32_t>::max() / kKvBlockTokens;

// Blocks that a sequence of a windowed group holds at most: its window, the pass that is being written, both cut by
// block borders.
std::uint64_t windowBlocks(const KvGroup &group, int passTokens)
{
    return static_cast<std::uint64_t>(kvBlocksFor(group.window + passTokens) + 1);
}

std::uint64_t statesFor(const KvLayout &layout, int sequences)
{
    return layout.stateBytes > 0 ? 2 * static_cast<std::uint64_t>(sequences) : 0;
}

} // namespace

KvLayout KvLayout::of(const ModelSpec &spec, KvElement element)
{
    KvLayout layout;
    layout.element = element;
    for (int i = 0; i < spec.layerCount(); ++i) {
        const LayerSpec &layer = spec.layers[static_cast<std::size_t>(i)];
        layout.stateBytes += layer.stateBytes();
        if (layer.kvSource >= 0) {
            layout.groupOf.push_back(layout.groupOf[static_cast<std::size_t>(layer.kvSource)]);
            continue;
        }
        if (!layer.keepsKv()) {
            layout.groupOf.push_back(-1);
            continue;
        }
        auto group = std::find_if(layout.groups.begin(), layout.groups.end(),
                                  [&](const KvGroup &other) { return other.window == layer.window; });
        if (group == layout.groups.end())
            group = layout.groups.insert(layout.groups.end(), KvGroup{layer.window, 0, {}});
        group->layers.push_back(i);
        group->bytesPerToken += layer.kvBytesPerToken(kvElementBytes(element));
        layout.groupOf.push_back(static_cast<int>(group - layout.groups.begin()));
    }
    return layout;
}

std::uint64_t KvLayout::bytesPerToken() const
{
    std::uint64_t bytes = 0;
    for (const KvGroup &group : groups)
        bytes += group.bytesPerToken;
    return bytes;
}

std::uint64_t KvLayout::usedBytes(int tokens) const
{
    if (tokens == 0)
        return 0;
    std::uint64_t bytes = stateBytes;
    for (const KvGroup &group : groups)
        bytes += group.bytesPerToken * static_cast<std::uint64_t>(group.heldTokens(tokens));
    return bytes;
}

std::uint64_t KvLayout::bytesOf(const KvCapacity &capacity) const
{
    std::uint64_t bytes = stateBytes * static_cast<std::uint64_t>(capacity.states);
    for (std::size_t i = 0; i < groups.size(); ++i)
        bytes += groups[i].blockBytes() * static_cast<std::uint64_t>(capacity.blocks[i]);
    return bytes;
}

KvCapacity KvLayout::capacityFor(std::uint64_t budgetBytes, int sequences, int passTokens) const
{
    KvCapacity capacity{std::vector<int>(groups.size()), 0};
    const std::uint64_t states = statesFor(*this, sequences);
    if (states * stateBytes > budgetBytes)
        return capacity;
    capacity.states = static_cast<int>(states);
    std::uint64_t left = budgetBytes - states * stateBytes;
    std::uint64_t endless = 0; // bytes of a block of every group without a window
    const std::uint64_t blockOfAll = bytesPerToken() * kKvBlockTokens;
    const std::uint64_t equal = blockOfAll > 0 ? std::min(left / blockOfAll, kMaxBlocks) : 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (groups[i].window == 0) {
            endless += groups[i].blockBytes();
            continue;
        }
        const std::uint64_t most = windowBlocks(groups[i], passTokens) * 2 * static_cast<std::uint64_t>(sequences);
        capacity.blocks[i] = static_cast<int>(std::min(equal, most));
        left -= groups[i].blockBytes() * static_cast<std::uint64_t>(capacity.blocks[i]);
    }
    for (std::size_t i = 0; i < groups.size(); ++i)
        if (groups[i].window == 0)
            capacity.blocks[i] = static_cast<int>(std::min(left / endless, kMaxBlocks));
    return capacity;
}

std::uint64_t KvLayout::budgetFor(int tokens, int sequences) const
{
    const std::uint64_t blocks =
        static_cast<std::uint64_t>(kvBlocksFor(tokens)) * static_cast<std::uint64_t>(sequences);
    return bytesPerToken() * kKvBlockTokens * blocks + statesFor(*this, sequences) * stateBytes;
}

} // namespace lectern
