// SPDX-License-Identifier: GPL-3.0-or-later
// The operations of a forward pass, each as its formula says. Values are float32, every sum is kept in double: what
// these functions return is the float nearest to the exact result but for rare ties, so faster backends are compared
// with them.
//
// Thread: operations with a pool use all of its threads. One output value is always computed by one thread in one
// order, so the number of threads changes no bit.
#pragma once

#include "engine/backend/host_kv_memory.h"
#include "engine/base/thread_pool.h"
#include "engine/kv/kv_sequence.h"
#include "engine/model/model_spec.h"

#include <span>
#include <vector>

namespace lectern::reference {

// y[t, r] = sum over c of w[r, c] · x[t, c].  x [tokens, columns], w [rows, columns], y [tokens, rows].
void matmul(std::span<float> y, std::span<const float> w, std::span<const float> x, int tokens, ThreadPool &pool);

// y[t, i] = x[t, i] / sqrt(mean over j of x[t, j]² + epsilon) · weight[i].  x, y [tokens, width]; weight [width].
// (Zhang, Sennrich: Root Mean Square Layer Normalization, 2019.)
void rmsNorm(std::span<float> y, std::span<const float> x, std::span<const float> weight, float epsilon);

// Cosine and sine of position · base^(-2i/n) / factor[i] for positions first ... first + tokens - 1.
// `factors` [n / 2] or empty. (Su et al.: RoFormer, 2021; the factors are Llama 3.1's.)
struct Rotation
{
    double cosine;
    double sine;
};
std::vector<Rotation> rotations(int first, int tokens, int dims, float base, std::span<const float> factors);

// Turns the first 2 · rotationsPerToken values of every head, in place.  x [tokens, heads, headSize].
void rope(std::span<float> x, std::span<const Rotation> turns, int tokens, int heads, int headSize,
          RopePairing pairing);

// Keys and values of one sequence in one layer.
struct LayerCache
{
    const HostKvMemory &memory; // F32
    const KvSequence &kv;       // has room for what is written
    int layer;

    const float *key(int position, int kvHead, int keySize) const;
    const float *value(int position, int kvHead, int valueSize) const;
};

// Writes k [tokens, kvHeads, keySize] and v [tokens, kvHeads, valueSize] into positions first ...
void storeKv(const LayerCache &cache, int first, std::span<const float> k, std::span<const float> v,
             const LayerSpec &layer);

// y[t, h] = sum over positions p <= first + t of softmax_p(q[t, h] · k[p] / sqrt(keySize)) · v[p], where k and v are
// those of KV head h / (heads / kvHeads), and p > first + t - window where the layer has one.  q [tokens, heads,
// keySize], y [tokens, heads, valueSize]. (Vaswani et al. 2017; shared KV heads: Ainslie 2023; windows: Beltagy 2020.)
void attention(std::span<float> y, std::span<const float> q, const LayerCache &cache, int first, const LayerSpec &layer,
               ThreadPool &pool);

// gate[i] = activation(gate[i]) · up[i]. (Shazeer: GLU Variants Improve Transformer, 2020.)
void gatedActivation(std::span<float> gate, std::span<const float> up, Activation activation);

// x[i] += y[i]: the residual connection.
void add(std::span<float> x, std::span<const float> y);

} // namespace lectern::reference
