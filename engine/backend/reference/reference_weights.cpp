// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/reference/reference_weights.h"

#include "engine/base/cpu_features.h"
#include "engine/quant/quant_type.h"

#include <algorithm>
#include <string>

namespace lectern::reference {

namespace {

constexpr std::uint64_t kSliceBytes = 1 << 20;

std::uint64_t valueCount(const TensorInfo &tensor)
{
    return tensor.rows() * tensor.columns();
}

// Fills the buffer from front to back.
class WeightReader
{
public:
    WeightReader(const Model &model, AlignedBuffer &memory, const LoadProgressFunction &progress, const StopFlag &stop)
        : m_file(*model.file)
        , m_next(memory.as<float>())
        , m_slice(kSliceBytes)
        , m_totalBytes(model.spec.weightBytes)
        , m_progress(progress)
        , m_stop(stop)
    {
    }

    // Empty after an error.
    std::span<const float> read(const TensorInfo *tensor)
    {
        if (!m_outcome || !tensor)
            return {};
        float *values = m_next;
        const QuantType &type = *findQuantType(tensor->typeId);
        const auto blockBytes = static_cast<std::uint64_t>(type.blockBytes);
        const std::uint64_t sliceBytes = kSliceBytes / blockBytes * blockBytes;
        for (std::uint64_t offset = 0; offset < tensor->bytes && m_outcome; offset += sliceBytes) {
            const std::uint64_t bytes = std::min(sliceBytes, tensor->bytes - offset);
            m_outcome = readSlice(*tensor, type, offset, bytes);
        }
        return {values, static_cast<std::size_t>(m_next - values)};
    }

    const Result<void> &outcome() const { return m_outcome; }

private:
    Result<void> readSlice(const TensorInfo &tensor, const QuantType &type, std::uint64_t offset, std::uint64_t bytes)
    {
        if (m_stop.isRequested())
            return fail(ErrorCode::Cancelled, "loading was stopped");
        const std::span<std::byte> slice(m_slice.data(), bytes);
        if (auto done = m_file.read(tensor, offset, slice); !done)
            return done;
        const std::uint64_t blocks = bytes / static_cast<std::uint64_t>(type.blockBytes);
        type.dequantise(slice.data(), m_next, blocks);
        m_next += blocks * static_cast<std::uint64_t>(type.blockValues);
        m_doneBytes += bytes;
        if (m_progress)
            m_progress(m_doneBytes, m_totalBytes);
        return {};
    }

    const GgufFile &m_file;
    float *m_next;
    std::vector<std::byte> m_slice;
    std::uint64_t m_doneBytes = 0;
    std::uint64_t m_totalBytes;
    const LoadProgressFunction &m_progress;
    const StopFlag &m_stop;
    Result<void> m_outcome;
};

} // namespace

Result<Weights> readWeights(const Model &model, const LoadProgressFunction &progress, const StopFlag &stop)
{
    std::uint64_t bytes = 0;
    for (const TensorInfo &tensor : model.file->tensors())
        bytes += valueCount(tensor) * sizeof(float);
    const std::uint64_t available = availableMemoryBytes();
    if (available != 0 && bytes > available)
        return fail(ErrorCode::OutOfMemory,
                    std::to_string(bytes) + " bytes are needed for the weights as float32, " +
                        std::to_string(available) + " are available",
                    "reference backend", "Choose the cpu backend, which keeps them quantised.");

    auto memory = AlignedBuffer::create(bytes);
    if (!memory)
        return tl::unexpected(memory.error());
    Weights weights;
    weights.memory = std::move(*memory);
    WeightReader reader(model, weights.memory, progress, stop);
    weights.tokenEmbedding = reader.read(model.tokenEmbedding);
    for (const LayerTensors &tensors : model.layers) {
        LayerWeights layer;
        layer.attnNorm = reader.read(tensors.attnNorm);
        layer.q = reader.read(tensors.q);
        layer.k = reader.read(tensors.k);
        layer.v = reader.read(tensors.v);
        layer.attnOutput = reader.read(tensors.attnOutput);
        layer.ffnNorm = reader.read(tensors.ffnNorm);
        layer.gate = reader.read(tensors.gate);
        layer.up = reader.read(tensors.up);
        layer.down = reader.read(tensors.down);
        weights.layers.push_back(layer);
    }
    weights.outputNorm = reader.read(model.outputNorm);
    weights.output = model.output == model.tokenEmbedding ? weights.tokenEmbedding : reader.read(model.output);
    weights.ropeFactors = reader.read(model.ropeFactors);
    if (!reader.outcome())
        return tl::unexpected(reader.outcome().error());
    // A stop that arrives with the last byte wins all the same.
    if (stop.isRequested())
        return fail(ErrorCode::Cancelled, "loading was stopped");
    return weights;
}

} // namespace lectern::reference
