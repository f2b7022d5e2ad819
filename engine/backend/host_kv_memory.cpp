// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/host_kv_memory.h"

#include <cstring>
#include <utility>

namespace lectern {

Result<std::unique_ptr<HostKvMemory>> HostKvMemory::create(const ModelSpec &spec, KvLayout layout, KvCapacity capacity)
{
    Result<AlignedBuffer> memory = AlignedBuffer::create(layout.bytesOf(capacity));
    if (!memory)
        return tl::unexpected(std::move(memory.error()));
    std::unique_ptr<HostKvMemory> host(new HostKvMemory(std::move(layout), std::move(capacity), std::move(*memory)));
    host->placeLayers(spec);
    return host;
}

HostKvMemory::HostKvMemory(KvLayout layout, KvCapacity capacity, AlignedBuffer memory)
    : KvMemory(std::move(layout), std::move(capacity))
    , m_memory(std::move(memory))
{
    std::byte *next = m_memory.data();
    for (std::size_t i = 0; i < this->layout().groups.size(); ++i) {
        m_groups.push_back(next);
        next += this->layout().groups[i].blockBytes() * static_cast<std::size_t>(this->capacity().blocks[i]);
    }
    m_states = next;
}

void HostKvMemory::placeLayers(const ModelSpec &spec)
{
    m_places.resize(spec.layers.size());
    const auto element = static_cast<std::size_t>(kvElementBytes(layout().element));
    for (std::size_t group = 0; group < m_groups.size(); ++group) {
        std::size_t offset = 0;
        for (const int index : layout().groups[group].layers) {
            const LayerSpec &layer = spec.layers[static_cast<std::size_t>(index)];
            const std::size_t keyBytes = kKvBlockTokens * static_cast<std::size_t>(layer.keySize) * element;
            const std::size_t valueBytes = kKvBlockTokens * static_cast<std::size_t>(layer.valueSize) * element;
            const auto heads = static_cast<std::size_t>(layer.kvHeads);
            m_places[static_cast<std::size_t>(index)] = {m_groups[group] + offset, layout().groups[group].blockBytes(),
                                                         keyBytes, valueBytes, heads * keyBytes};
            offset += heads * (keyBytes + valueBytes);
        }
    }
    for (std::size_t i = 0; i < spec.layers.size(); ++i)
        if (const int source = spec.layers[i].kvSource; source >= 0)
            m_places[i] = m_places[static_cast<std::size_t>(source)];
}

std::byte *HostKvMemory::keys(BlockId block, int layer, int kvHead) const
{
    const Place &place = m_places[static_cast<std::size_t>(layer)];
    return place.first + static_cast<std::size_t>(block) * place.blockBytes +
           static_cast<std::size_t>(kvHead) * place.keyBytes;
}

std::byte *HostKvMemory::values(BlockId block, int layer, int kvHead) const
{
    const Place &place = m_places[static_cast<std::size_t>(layer)];
    return place.first + static_cast<std::size_t>(block) * place.blockBytes + place.valueOffset +
           static_cast<std::size_t>(kvHead) * place.valueBytes;
}

void HostKvMemory::copyBlock(int group, BlockId from, BlockId to)
{
    const std::size_t bytes = layout().groups[static_cast<std::size_t>(group)].blockBytes();
    std::byte *first = m_groups[static_cast<std::size_t>(group)];
    std::memcpy(first + static_cast<std::size_t>(to) * bytes, first + static_cast<std::size_t>(from) * bytes, bytes);
}

void HostKvMemory::copyState(BlockId from, BlockId to)
{
    const std::size_t bytes = layout().stateBytes;
    std::memcpy(m_states + static_cast<std::size_t>(to) * bytes, m_states + static_cast<std::size_t>(from) * bytes,
                bytes);
}

void HostKvMemory::clearState(BlockId state)
{
    std::memset(m_states + static_cast<std::size_t>(state) * layout().stateBytes, 0, layout().stateBytes);
}

} // namespace lectern
