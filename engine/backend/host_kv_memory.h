// SPDX-License-Identifier: GPL-3.0-or-later
// Keys, values and states in host memory, for the backends that compute there.
//
// A block is, for each layer of its group: keys, then values, each [KV head][kKvBlockTokens · size], so that attention
// reads one run per head and block. Keys are stored rotated. Inside such a run values are [position][size]; keys are so
// in `reference` and transposed, [size][position], in `cpu`, whose attention scores a whole block at once. The address
// space is reserved once; pages are taken when first written.
#pragma once

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"
#include "engine/kv/kv_memory.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace lectern {

class HostKvMemory : public KvMemory
{
public:
    // OutOfMemory naming the bytes when the system grants no such address space.
    static Result<std::unique_ptr<HostKvMemory>> create(const ModelSpec &spec, KvLayout layout, KvCapacity capacity);

    // First element of a KV head of `layer` in a block of its group. A layer that uses the cache of an earlier one gets
    // that one's.
    std::byte *keys(BlockId block, int layer, int kvHead) const;
    std::byte *values(BlockId block, int layer, int kvHead) const;

    void copyBlock(int group, BlockId from, BlockId to) override;
    void copyState(BlockId from, BlockId to) override;
    void clearState(BlockId state) override;

private:
    // Where a layer lies inside the blocks of its group.
    struct Place
    {
        std::byte *first = nullptr;  // of the group's block 0
        std::size_t blockBytes = 0;  // from one block to the next
        std::size_t keyBytes = 0;    // of one head
        std::size_t valueBytes = 0;  // of one head
        std::size_t valueOffset = 0; // values begin behind the keys of all heads
    };

    HostKvMemory(KvLayout layout, KvCapacity capacity, AlignedBuffer memory);
    void placeLayers(const ModelSpec &spec);

    AlignedBuffer m_memory;            // the groups one after another, then the states
    std::vector<std::byte *> m_groups; // block 0 of each
    std::byte *m_states = nullptr;
    std::vector<Place> m_places; // [layers]
};

} // namespace lectern
