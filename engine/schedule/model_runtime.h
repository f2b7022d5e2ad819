// SPDX-License-Identifier: GPL-3.0-or-later
// A loaded model with the memory it computes in. Engine thread.
#pragma once

#include "engine/backend/backend.h"
#include "engine/engine.h"
#include "engine/schedule/prefix_cache.h"

#include <memory>

namespace lectern {

struct ModelRuntime
{
    std::shared_ptr<const LoadedModel> loaded;
    Model model;
    std::unique_ptr<Backend> backend;
    std::unique_ptr<KvPool> pool; // sequences point to it
    PrefixCache prefixes;         // what ended runs left
    int maxRuns = 1;              // at the same time

    int contextTokens() const { return loaded->engine.contextTokens; }
    int idLimit() const { return std::min(loaded->tokenizer->vocabulary().size(), model.spec.vocabulary); }
};

} // namespace lectern
