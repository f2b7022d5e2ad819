// SPDX-License-Identifier: GPL-3.0-or-later
// A model file opened and loaded into one of the backends, with a KV pool: what every test of a forward pass starts
// with.
#pragma once

#include "engine/backend/backend.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace lectern::test {

enum class BackendKind
{
    Reference,
    Cpu
};

// `threads` is for the cpu backend, 0: all cores. The reference backend always uses all.
Result<std::unique_ptr<Backend>> createBackend(BackendKind kind, const Model &model, int threads,
                                               const LoadProgressFunction &progress, const StopFlag &stop);

class LoadedBackend
{
public:
    // Ends the test program with a message when the file cannot be loaded.
    // `change` may describe layers that no file asks for.
    LoadedBackend(BackendKind kind, const std::filesystem::path &path, int contextTokens, int threads = 0,
                  const std::function<void(ModelSpec &)> &change = {});

    const ModelSpec &spec() const { return m_model.spec; }
    Backend &backend() { return *m_backend; }
    KvPool &pool() { return *m_pool; }

    // A pool like pool(), with nothing in it.
    std::unique_ptr<KvPool> newPool(int contextTokens);

    // Logits after all of `ids`, run in chunks of `chunkTokens` at most (0: whole) on a fresh sequence.
    std::vector<float> logits(std::span<const TokenId> ids, int chunkTokens = 0);
    // Runs `ids` after what the sequence holds; ends the test program on an error.
    std::vector<float> append(KvSequence &sequence, std::span<const TokenId> ids, int chunkTokens = 0);

private:
    Model m_model;
    std::unique_ptr<Backend> m_backend;
    std::unique_ptr<KvPool> m_pool;
};

// A pass of one sequence.
Result<std::vector<LogitRows>> forward(Backend &backend, KvSequence &sequence, std::span<const TokenId> ids, int logits,
                                       const StopFlag &stop = {}, PassTrace *trace = nullptr);

// Opens a file; ends the test program with a message when it is refused.
Model openModelFile(const std::filesystem::path &path);

} // namespace lectern::test
