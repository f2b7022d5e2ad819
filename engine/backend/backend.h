// SPDX-License-Identifier: GPL-3.0-or-later
// What computes a forward pass. Two backends here: `reference` (plain f32, the yardstick) and `cpu` (threads, SIMD,
// quantised weights). CUDA joins as a third.
//
// Thread: engine thread only.
#pragma once

#include "engine/base/result.h"
#include "engine/base/stop_flag.h"
#include "engine/kv/kv_sequence.h"
#include "engine/model/model.h"
#include "engine/text/vocabulary.h"
#include "engine/trace/operation.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lectern {

// Tokens that go through the layers together at most on a CPU. Larger passes are faster, but Stop and the progress
// display wait for them. Prefill of 512 tokens (SmolLM2-135M Q4_1, two shared cores with AVX-512 VNNI, 8 interleaved
// rounds), median of the ratios to 64 tokens a pass: 128 1.07, 256 1.10; single rounds went from 0.65 to 1.6. Prompts
// of 32 tokens run the same code with each of them: 0.94 and 0.98, which shows the noise. By calculation a layer then
// takes 2.5 ms and the buffers 2 MB.
inline constexpr int kPassTokens = 128;

struct BackendInfo
{
    std::string name;           // "reference", "cpu"
    std::string instructionSet; // "AVX-512 VNNI"
    int threads = 1;
    std::uint64_t weightBytes = 0; // memory held by weights as the backend stores them
    int passTokens = kPassTokens;  // tokens of a batch at most
};

// The part of a batch that belongs to one sequence.
struct BatchSlice
{
    KvSequence *kv = nullptr;        // the tokens' positions are kv->tokens() ...
    std::span<const TokenId> tokens; // 1 or more
    int logits = 0;                  // of how many last positions they are wanted: 0 to tokens.size()
    const StopFlag *stop = nullptr;  // looked at in every layer
};

// Logits of one slice, the wanted positions in order.
struct LogitRows
{
    float *data = nullptr; // [rows][stride], of which `vocabulary` count
    std::size_t stride = 0;
    int rows = 0;
    int vocabulary = 0;

    std::span<float> row(int index) const
    {
        return {data + static_cast<std::size_t>(index) * stride, static_cast<std::size_t>(vocabulary)};
    }
    std::span<float> last() const { return row(rows - 1); }
};

class Backend
{
public:
    virtual ~Backend() = default;

    virtual BackendInfo info() const = 0;
    virtual KvElement kvElement() const = 0;
    // Memory for a cache of this model. OutOfMemory naming the bytes.
    virtual Result<std::unique_ptr<KvMemory>> createKvMemory(KvLayout layout, KvCapacity capacity) = 0;

    // Runs the tokens of all slices together, weights read once, and commits them to their sequences. A sequence occurs
    // once; the tokens are passTokens at most in all. Makes room where reserve() was not called. Returns the logits of
    // each slice, valid until the next call. What a slice yields does not depend on the number of threads or on what
    // else is in the batch: bit for bit in `cpu` and `reference`. Cancelled when the flag of any slice is set; on every
    // error all sequences are as before. With a trace each operation is reported.
    virtual Result<std::vector<LogitRows>> forward(std::span<const BatchSlice> batch, PassTrace *trace) = 0;
};

// A cache of `budgetBytes` for `sequences` at a time, in the backend's memory. Errors as planKvCapacity().
Result<std::unique_ptr<KvPool>> createKvPool(Backend &backend, const ModelSpec &spec, std::uint64_t budgetBytes,
                                             int sequences);

using LoadProgressFunction = std::function<void(std::uint64_t doneBytes, std::uint64_t totalBytes)>;

// Sees the residual stream [width] of a batch's last token: with 0 as embedded, with n after layer n of 1 to
// ModelSpec::layerCount(). On the engine thread, while the pass runs.
using ResidualObserver = std::function<void(int layersDone, std::span<const float> residual)>;

// Reads the weights. `threads` 0: all cores. Cancelled when `stop` is set; all memory is freed then.
Result<std::unique_ptr<Backend>> createReferenceBackend(const Model &model, int threads,
                                                        const LoadProgressFunction &progress, const StopFlag &stop,
                                                        ResidualObserver observer = {});
Result<std::unique_ptr<Backend>> createCpuBackend(const Model &model, int threads, const LoadProgressFunction &progress,
                                                  const StopFlag &stop);

} // namespace lectern
