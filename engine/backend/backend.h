// SPDX-License-Identifier: GPL-3.0-or-later
// What computes a forward pass. Two backends here: `reference` (plain f32, the yardstick) and `cpu` (threads, SIMD,
// quantised weights). CUDA joins as a third.
//
// Thread: engine thread only.
#pragma once

#include "engine/base/result.h"
#include "engine/base/stop_flag.h"
#include "engine/kv/kv_pool.h"
#include "engine/model/model.h"
#include "engine/text/vocabulary.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace lectern {

struct BackendInfo
{
    std::string name;           // "reference", "cpu"
    std::string instructionSet; // "AVX-512 VNNI"
    int threads = 1;
    std::uint64_t weightBytes = 0; // memory held by weights as the backend stores them
};

// What a forward pass costs, stated by the operations themselves.
struct PassCost
{
    std::uint64_t weightBytes = 0; // weights read
    std::uint64_t kvBytes = 0;     // keys and values read
    std::uint64_t flops = 0;
};

// Tokens that go through the layers together at most. Schedulers plan passes of this size, and a backend cuts longer
// inputs to it. Larger passes are faster, but Stop and the progress display wait for them. Prefill of 512 tokens
// (SmolLM2-135M Q4_1, two shared cores with AVX-512 VNNI, 8 interleaved rounds), median of the ratios to 64 tokens a
// pass: 128 1.07, 256 1.10; single rounds went from 0.65 to 1.6. Prompts of 32 tokens run the same code with each of
// them: 0.94 and 0.98, which shows the noise. By calculation a layer then takes 2.5 ms and the buffers 2 MB.
inline constexpr int kPassTokens = 128;

class Backend
{
public:
    virtual ~Backend() = default;

    virtual BackendInfo info() const = 0;
    virtual KvElement kvElement() const = 0;

    // Runs `tokens` (1 or more) at positions kv.tokens() ... of the sequence and commits them to `kv`. Returns the
    // logits [vocabulary] of the last one, valid until the next call; empty unless `wantsLogits`. The result does not
    // depend on the number of threads, bit for bit. Looks at `stop` in every layer: Cancelled, and the sequence is as
    // before.
    virtual Result<std::span<float>> forward(KvSequence &kv, std::span<const TokenId> tokens, bool wantsLogits,
                                             const StopFlag &stop) = 0;

    // Cost of running `tokens` tokens after `position` held ones.
    virtual PassCost cost(int position, int tokens, bool wantsLogits) const = 0;
};

using LoadProgressFunction = std::function<void(std::uint64_t doneBytes, std::uint64_t totalBytes)>;

// Sees the residual stream [width] of a pass's last token: with 0 as embedded, with n after layer n of 1 to
// ModelSpec::layers. On the engine thread, while the pass runs.
using ResidualObserver = std::function<void(int layersDone, std::span<const float> residual)>;

// Reads the weights. `threads` 0: all cores. Cancelled when `stop` is set; all memory is freed then.
Result<std::unique_ptr<Backend>> createReferenceBackend(const Model &model, int threads,
                                                        const LoadProgressFunction &progress, const StopFlag &stop,
                                                        ResidualObserver observer = {});
Result<std::unique_ptr<Backend>> createCpuBackend(const Model &model, int threads, const LoadProgressFunction &progress,
                                                  const StopFlag &stop);

} // namespace lectern
