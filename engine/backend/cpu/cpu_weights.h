// SPDX-License-Identifier: GPL-3.0-or-later
// The weights of a model as the cpu backend holds them: matrices packed, norms as float32, in one huge-page buffer.
#pragma once

#include "engine/backend/cpu/packed_matrix.h"
#include "engine/base/aligned_buffer.h"
#include "engine/base/thread_pool.h"

#include <vector>

namespace lectern::cpu {

struct LayerWeights
{
    const float *attnNorm = nullptr, *ffnNorm = nullptr; // [width]
    PackedMatrix q, k, v, attnOutput, gate, up, down;    // shapes as in LayerTensors
};

struct CpuWeights
{
    AlignedBuffer memory;
    std::vector<LayerWeights> layers;
    const float *outputNorm = nullptr;
    const float *ropeFactors = nullptr; // [ropeDims / 2], nullptr: none
    PackedMatrix output;                // [vocabulary, width]
    PackedMatrix embedding;             // the same data as `output` when tied; rows are looked up
};

// Reads slices of the file and packs them on all threads. Peak memory: the weights and a slice of a few MiB. `progress`
// is called on this thread. Cancelled when `stop` is set; OutOfMemory naming the bytes.
Result<CpuWeights> loadCpuWeights(const Model &model, ThreadPool &pool, const LoadProgressFunction &progress,
                                  const StopFlag &stop);

} // namespace lectern::cpu
