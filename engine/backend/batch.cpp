// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/batch.h"

#include <algorithm>
#include <string>

namespace lectern {

namespace {

Result<void> checkSlice(const BatchSlice &slice, const ModelSpec &spec, KvElement element)
{
    if (slice.kv->pool().layout().element != element)
        return fail(ErrorCode::InvalidInput,
                    std::string("this backend needs a KV cache of ") + (element == KvElement::F16 ? "F16" : "F32"));
    if (slice.tokens.empty())
        return fail(ErrorCode::InvalidInput, "there is nothing to evaluate");
    if (slice.logits < 0 || static_cast<std::size_t>(slice.logits) > slice.tokens.size())
        return fail(ErrorCode::InvalidInput, "logits of " + std::to_string(slice.logits) + " positions are wanted of " +
                                                 countOf(slice.tokens.size(), "token"));
    const auto outside = std::find_if(slice.tokens.begin(), slice.tokens.end(),
                                      [&](TokenId id) { return id < 0 || id >= spec.vocabulary; });
    if (outside != slice.tokens.end())
        return fail(ErrorCode::InvalidInput,
                    "token id " + std::to_string(*outside) + " is outside 0 to " + std::to_string(spec.vocabulary - 1));
    return {};
}

} // namespace

Result<void> beginBatch(std::span<const BatchSlice> batch, const ModelSpec &spec, int passTokens, KvElement element)
{
    if (batch.empty())
        return fail(ErrorCode::InvalidInput, "there is nothing to evaluate");
    for (const BatchSlice &slice : batch)
        if (Result<void> sound = checkSlice(slice, spec, element); !sound)
            return sound;
    if (tokenCount(batch) > passTokens)
        return fail(ErrorCode::InvalidInput, countOf(static_cast<std::uint64_t>(tokenCount(batch)), "token") +
                                                 " are too many for one pass of " + std::to_string(passTokens));
    for (const BatchSlice &slice : batch) {
        if (Result<void> room = slice.kv->reserve(static_cast<int>(slice.tokens.size())); !room) {
            abandonBatch(batch);
            return room;
        }
    }
    return {};
}

void commitBatch(std::span<const BatchSlice> batch)
{
    for (const BatchSlice &slice : batch)
        slice.kv->commit(static_cast<int>(slice.tokens.size()));
}

void abandonBatch(std::span<const BatchSlice> batch)
{
    for (const BatchSlice &slice : batch)
        slice.kv->truncate(slice.kv->tokens());
}

bool isStopRequested(std::span<const BatchSlice> batch)
{
    return std::any_of(batch.begin(), batch.end(),
                       [](const BatchSlice &slice) { return slice.stop && slice.stop->isRequested(); });
}

int tokenCount(std::span<const BatchSlice> batch)
{
    std::size_t tokens = 0;
    for (const BatchSlice &slice : batch)
        tokens += slice.tokens.size();
    return static_cast<int>(tokens);
}

Result<std::unique_ptr<KvPool>> createKvPool(Backend &backend, const ModelSpec &spec, std::uint64_t budgetBytes,
                                             int sequences)
{
    KvLayout layout = KvLayout::of(spec, backend.kvElement());
    Result<KvCapacity> capacity = planKvCapacity(layout, budgetBytes, sequences, backend.info().passTokens);
    if (!capacity)
        return tl::unexpected(std::move(capacity.error()));
    return backend.createKvMemory(std::move(layout), std::move(*capacity)).map([](std::unique_ptr<KvMemory> memory) {
        return std::make_unique<KvPool>(std::move(memory));
    });
}

} // namespace lectern
