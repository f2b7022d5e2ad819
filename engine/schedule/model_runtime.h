// SPDX-License-Identifier: GPL-3.0-or-later
// A loaded model with the memory it computes in. Engine thread.
#pragma once

#include "engine/backend/backend.h"
#include "engine/engine.h"
#include "engine/kv/kv_pool.h"

#include <memory>
#include <vector>

namespace lectern {

struct ModelRuntime
{
    std::shared_ptr<const LoadedModel> loaded;
    Model model;
    std::unique_ptr<Backend> backend;
    std::unique_ptr<KvPool> pool;   // sequences point to it
    std::unique_ptr<KvSequence> kv; // of the active run; between runs what the last one left, for its prefix
    std::vector<TokenId> heldIds;   // between runs: the tokens of `kv`

    int contextTokens() const { return loaded->engine.contextTokens; }
    int idLimit() const { return std::min(loaded->tokenizer->vocabulary().size(), model.spec.vocabulary); }
};

} // namespace lectern
