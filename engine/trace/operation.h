// SPDX-License-Identifier: GPL-3.0-or-later
// The operations of a forward pass as they can be seen from outside: what ran, when, and what it cost.
#pragma once

#include "engine/base/clock.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lectern {

// Backends may fuse several; then the name is that of the part that costs most.
enum class Operation
{
    Embed,
    AttentionNorm, // with quantisation of what is multiplied next, as every norm
    Qkv,           // query, key and value matrices
    RopeStore,     // rotation, and keys and values into the cache
    Attention,
    AttentionOutput, // with the residual connection
    FfnNorm,
    GateUp, // with the activation
    Down,   // with the residual connection
    OutputNorm,
    Logits,
    Sample // by the engine, after the pass
};
inline constexpr std::size_t kOperationCount = static_cast<std::size_t>(Operation::Sample) + 1;

// What an operation reads and computes, stated by itself.
struct OperationCost
{
    std::uint64_t weightBytes = 0; // weights read
    std::uint64_t kvBytes = 0;     // keys and values read
    std::uint64_t flops = 0;

    bool operator==(const OperationCost &) const = default;
    OperationCost &operator+=(const OperationCost &other)
    {
        weightBytes += other.weightBytes;
        kvBytes += other.kvBytes;
        flops += other.flops;
        return *this;
    }
};

struct OperationRecord
{
    Operation operation = Operation::Embed;
    int layer = -1;            // -1: before or after the layers
    std::int64_t offsetNs = 0; // since the pass began
    std::int64_t ns = 0;
    OperationCost cost;

    bool operator==(const OperationRecord &) const = default;
};

// Collects the operations of one pass. Engine thread.
class PassTrace
{
public:
    PassTrace()
        : m_passBeginNs(nowNs())
        , m_lastNs(m_passBeginNs)
    {
    }

    // An operation that ran since the last call (or the beginning) has ended.
    void add(Operation operation, int layer, const OperationCost &cost)
    {
        const std::int64_t now = nowNs();
        m_operations.push_back({operation, layer, m_lastNs - m_passBeginNs, now - m_lastNs, cost});
        m_lastNs = now;
    }

    const std::vector<OperationRecord> &operations() const { return m_operations; }
    OperationCost total() const
    {
        OperationCost sum;
        for (const OperationRecord &entry : m_operations)
            sum += entry.cost;
        return sum;
    }

private:
    std::int64_t m_passBeginNs;
    std::int64_t m_lastNs;
    std::vector<OperationRecord> m_operations;
};

} // namespace lectern
