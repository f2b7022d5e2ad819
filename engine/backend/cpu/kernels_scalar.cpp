// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels in plain C++: what the vector versions compute, and what runs on a processor without AVX2.
#include "engine/backend/cpu/kernels.h"
#include "engine/quant/quant_type.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace lectern::cpu {

namespace {

constexpr int kBlockTokens = 16;

float halfAt(const std::byte *at)
{
    std::uint16_t bits;
    std::memcpy(&bits, at, sizeof bits);
    return halfToFloat(bits);
}

template <class T>
T valueAt(const std::byte *at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

// Quant `k` (0..31) of a row in a block: nibbles (column k and k + 16 share a byte) or bytes.
template <bool IsNibble>
int quantAt(const std::byte *quants, int row, int k)
{
    const int stored = IsNibble ? k % 16 : k;
    const auto byte = std::to_integer<int>(quants[stored / 4 * 4 * kPanelRows + 4 * row + stored % 4]);
    return !IsNibble ? byte : k < 16 ? byte & 15 : byte >> 4;
}

template <bool IsNibble, bool HasMinimum, int ZeroPoint>
void matmulInt8(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
                bool add)
{
    constexpr int kHalvesBytes = (HasMinimum ? 2 : 1) * 2 * kPanelRows;
    constexpr int kBlockBytes = kHalvesBytes + kPanelRows * (IsNibble ? 16 : 32);
    for (int t = 0; t < tokens; ++t) {
        for (int row = 0; row < kPanelRows; ++row) {
            float sum = 0;
            for (int block = 0; block < columns / kBlockColumns; ++block) {
                const std::byte *weights = panel + block * kBlockBytes;
                const std::byte *activations = tile + block * kInt8BlockBytes * tokens;
                const std::byte *scales = activations + kBlockColumns * tokens;
                int dot = valueAt<std::int32_t>(scales + 4 * (2 * tokens + t)) * ZeroPoint;
                for (int k = 0; k < kBlockColumns; ++k)
                    dot += quantAt<IsNibble>(weights + kHalvesBytes, row, k) *
                           static_cast<std::int8_t>(activations[kBlockColumns * t + k]);
                sum += static_cast<float>(dot) * (halfAt(weights + 2 * row) * valueAt<float>(scales + 4 * t));
                if constexpr (HasMinimum)
                    sum += halfAt(weights + 2 * (kPanelRows + row)) * valueAt<float>(scales + 4 * (tokens + t));
            }
            float &out = y[static_cast<std::size_t>(t) * yStride + static_cast<std::size_t>(row)];
            out = add ? out + sum : sum;
        }
    }
}

float f32At(const std::byte *at)
{
    return valueAt<float>(at);
}

float bf16At(const std::byte *at)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(valueAt<std::uint16_t>(at)) << 16);
}

template <float (*Load)(const std::byte *), int Bytes>
void matmulFloat(const std::byte *panel, int columns, const std::byte *tile, int tokens, float *y, std::size_t yStride,
                 bool add)
{
    const auto *x = reinterpret_cast<const float *>(tile);
    for (int t = 0; t < tokens; ++t) {
        for (int row = 0; row < kPanelRows; ++row) {
            float sums[4] = {}; // as in the vector versions
            for (int column = 0; column < columns; ++column) {
                const int slot = column < columns / 4 * 4 ? column % 4 : 0;
                sums[slot] += Load(panel + (column * kPanelRows + row) * Bytes) * x[column * tokens + t];
            }
            const float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
            float &out = y[static_cast<std::size_t>(t) * yStride + static_cast<std::size_t>(row)];
            out = add ? out + sum : sum;
        }
    }
}

void rmsNorm(const float *x, const float *weight, float epsilon, int n, float *y)
{
    float sums[kPanelRows] = {};
    for (int i = 0; i < n; ++i)
        sums[i % kPanelRows] += x[i] * x[i];
    float squares = 0;
    for (float sum : sums)
        squares += sum;
    const float factor = 1.0f / std::sqrt(squares / static_cast<float>(n) + epsilon);
    for (int i = 0; i < n; ++i)
        y[i] = x[i] * factor * weight[i];
}

void quantiseRow(const float *x, int columns, int lane, int tokens, std::byte *tile)
{
    for (int column = 0; column < columns; column += kBlockColumns, tile += kInt8BlockBytes * tokens) {
        std::uint32_t most = 0; // bits of the largest absolute value: the order of floats, with NaN above all
        for (int k = 0; k < kBlockColumns; ++k)
            most = std::max(most, std::bit_cast<std::uint32_t>(x[column + k]) & 0x7fffffffu);
        const float largest = std::bit_cast<float>(most);
        const float scale = largest / 127.0f;
        const float inverse = largest != 0.0f ? 127.0f / largest : 0.0f;
        std::int32_t minusSum = 0;
        for (int k = 0; k < kBlockColumns; ++k) {
            const float scaled = x[column + k] * inverse;
            const int quant =
                std::isfinite(scaled) ? static_cast<int>(std::nearbyint(scaled)) : -128; // the scale says NaN
            tile[kBlockColumns * lane + k] = static_cast<std::byte>(quant);
            minusSum -= quant;
        }
        std::byte *scales = tile + kBlockColumns * tokens;
        const float scaledSum = -scale * static_cast<float>(minusSum);
        std::memcpy(scales + 4 * lane, &scale, 4);
        std::memcpy(scales + 4 * (tokens + lane), &scaledSum, 4);
        std::memcpy(scales + 4 * (2 * tokens + lane), &minusSum, 4);
    }
}

void siluMul(float *gate, std::size_t gateStride, const float *up, std::size_t upStride, int tokens)
{
    for (int t = 0; t < tokens; ++t, gate += gateStride, up += upStride) {
        for (int i = 0; i < kPanelRows; ++i)
            gate[i] = gate[i] / (1.0f + std::exp(-gate[i])) * up[i];
    }
}

void rotate(float *x, const float *cosines, const float *sines, int n, bool halves)
{
    const int step = halves ? 1 : 2, distance = halves ? n / 2 : 1;
    for (int pair = 0; pair < n / 2; ++pair) {
        const int first = pair * step, second = first + distance;
        const float a = x[first], b = x[second];
        x[first] = a * cosines[first] + b * sines[first];
        x[second] = b * cosines[second] + a * sines[second];
    }
}

void toHalf(const float *x, int n, std::uint16_t *half)
{
    for (int i = 0; i < n; ++i)
        half[i] = floatToHalf(x[i]);
}

void scores(const float *queries, int rows, const std::uint16_t *const *keys, int blocks, int headSize, float *scores)
{
    for (int r = 0; r < rows; ++r) {
        for (int position = 0; position < blocks * kBlockTokens; ++position) {
            const std::uint16_t *key = keys[position / kBlockTokens] + position % kBlockTokens;
            float sum = 0;
            for (int d = 0; d < headSize; ++d)
                sum += queries[d * rows + r] * halfToFloat(key[d * kBlockTokens]);
            scores[r * kSpanTokens + position] = sum;
        }
    }
}

float softmax(float *scores, int count, float *largest)
{
    *largest = *std::max_element(scores, scores + count);
    float sum = 0;
    for (int i = 0; i < count; ++i) {
        scores[i] = std::exp2(scores[i] - *largest);
        sum += scores[i];
    }
    std::fill(scores + count, scores + (count + kBlockTokens - 1) / kBlockTokens * kBlockTokens, 0.0f);
    return sum;
}

void weightedSum(const float *weights, int rows, const std::uint16_t *const *values, int count, int headSize,
                 float *out, std::size_t outStride)
{
    for (int r = 0; r < rows; ++r, out += outStride) {
        for (int d = 0; d < headSize; ++d) {
            float sum = 0;
            for (int position = 0; position < count; ++position)
                sum += weights[r * kSpanTokens + position] *
                       halfToFloat(values[position / kBlockTokens][position % kBlockTokens * headSize + d]);
            out[d] = sum;
        }
    }
}

void mergeSpan(float *total, float keep, const float *part, float take, int n)
{
    for (int i = 0; i < n; ++i)
        total[i] = total[i] * keep + part[i] * take;
}

} // namespace

const Kernels kScalarKernels = {
    {matmulInt8<true, false, 8>, matmulInt8<true, true, 0>, matmulInt8<false, false, 128>, matmulFloat<f32At, 4>,
     matmulFloat<halfAt, 2>, matmulFloat<bf16At, 2>},
    rmsNorm,
    quantiseRow,
    siluMul,
    rotate,
    toHalf,
    scores,
    softmax,
    weightedSum,
    mergeSpan,
};

} // namespace lectern::cpu
