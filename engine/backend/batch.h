// SPDX-License-Identifier: GPL-3.0-or-later
// What every backend does with a batch before and after it computes.
#pragma once

#include "engine/backend/backend.h"

namespace lectern {

// Checks a batch and makes room for it: InvalidInput where a slice is empty, asks for more logits than it has tokens,
// has a cache of another element than the backend's, holds an id outside the vocabulary, or is too much with the
// others; OutOfMemory where a sequence has no room (room made for others is given back then).
Result<void> beginBatch(std::span<const BatchSlice> batch, const ModelSpec &spec, int passTokens, KvElement element);
void commitBatch(std::span<const BatchSlice> batch);
// Forgets what was reserved: the sequences are as before.
void abandonBatch(std::span<const BatchSlice> batch);

bool isStopRequested(std::span<const BatchSlice> batch);
int tokenCount(std::span<const BatchSlice> batch);

} // namespace lectern
