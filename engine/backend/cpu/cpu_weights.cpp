// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/cpu_weights.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <mutex>
#include <optional>

namespace lectern::cpu {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::uint64_t kSliceBytes = 8u << 20;   // between two looks at the stop flag
constexpr std::uint64_t kPieceBytes = 128u << 10; // what a thread reads at once

class Loader
{
public:
    Loader(const Model &model, ThreadPool &pool, const LoadProgressFunction &progress, const StopFlag &stop)
        : m_model(model)
        , m_pool(pool)
        , m_progress(progress)
        , m_stop(stop)
    {
    }

    Result<CpuWeights> load()
    {
        if (auto planned = plan(); !planned)
            return tl::unexpected(planned.error());
        Result<AlignedBuffer> memory = AlignedBuffer::create(m_bytes);
        if (!memory)
            return tl::unexpected(memory.error());
        m_weights.memory = std::move(*memory);
        for (Matrix &matrix : m_matrices) {
            matrix.target->data = m_weights.memory.data() + matrix.offset;
            if (auto read = readMatrix(*matrix.tensor, *matrix.target); !read)
                return tl::unexpected(read.error());
        }
        for (const Vector &vector : m_vectors) {
            float *values = reinterpret_cast<float *>(m_weights.memory.data() + vector.offset);
            const std::span<float> all(values, vector.tensor->columns());
            if (auto read = m_model.file->read(*vector.tensor, 0, std::as_writable_bytes(all)); !read)
                return tl::unexpected(read.error());
            *vector.target = values;
            report(vector.tensor->bytes);
        }
        if (m_stop.isRequested())
            return cancelled();
        if (m_model.spec.hasTiedOutput)
            m_weights.embedding = m_weights.output;
        return std::move(m_weights);
    }

private:
    struct Matrix
    {
        const TensorInfo *tensor;
        PackedMatrix *target;
        std::size_t offset;
    };
    struct Vector
    {
        const TensorInfo *tensor; // F32
        const float **target;
        std::size_t offset;
    };

    static tl::unexpected<Error> cancelled() { return fail(ErrorCode::Cancelled, "loading was stopped"); }

    std::size_t place(std::size_t bytes)
    {
        const std::size_t offset = m_bytes;
        m_bytes += (bytes + kAlignment - 1) / kAlignment * kAlignment;
        return offset;
    }

    Result<void> planMatrix(const TensorInfo *tensor, PackedMatrix &target)
    {
        target.format = findPackedFormat(tensor->typeId);
        target.type = findQuantType(tensor->typeId);
        if (!target.format || !target.type)
            return fail(ErrorCode::Unsupported, "the cpu backend has no kernel for " + ggmlTypeName(tensor->typeId),
                        printableText(tensor->name), "Use the reference backend.");
        target.rows = static_cast<int>(tensor->rows());
        target.columns = static_cast<int>(tensor->columns());
        m_matrices.push_back({tensor, &target, place(target.bytes())});
        m_totalFileBytes += tensor->bytes;
        return {};
    }

    void planVector(const TensorInfo *tensor, const float *&target)
    {
        m_vectors.push_back({tensor, &target, place(tensor->columns() * sizeof(float))});
        m_totalFileBytes += tensor->bytes;
    }

    Result<void> plan()
    {
        m_weights.layers.resize(m_model.layers.size());
        for (std::size_t i = 0; i < m_model.layers.size(); ++i) {
            const LayerTensors &from = m_model.layers[i];
            LayerWeights &to = m_weights.layers[i];
            planVector(from.attnNorm, to.attnNorm);
            planVector(from.ffnNorm, to.ffnNorm);
            for (auto [tensor, target] : {std::pair{from.q, &to.q}, std::pair{from.k, &to.k}, std::pair{from.v, &to.v},
                                          std::pair{from.attnOutput, &to.attnOutput}, std::pair{from.gate, &to.gate},
                                          std::pair{from.up, &to.up}, std::pair{from.down, &to.down}}) {
                if (auto planned = planMatrix(tensor, *target); !planned)
                    return planned;
            }
        }
        planVector(m_model.outputNorm, m_weights.outputNorm);
        if (m_model.ropeFactors)
            planVector(m_model.ropeFactors, m_weights.ropeFactors);
        if (!m_model.spec.hasTiedOutput) {
            if (auto planned = planMatrix(m_model.tokenEmbedding, m_weights.embedding); !planned)
                return planned;
        }
        return planMatrix(m_model.output, m_weights.output);
    }

    Result<void> readMatrix(const TensorInfo &tensor, PackedMatrix &target)
    {
        const std::uint64_t panelBytes = target.panelBytes();
        const auto perPiece = static_cast<std::int64_t>(std::max<std::uint64_t>(1, kPieceBytes / panelBytes));
        const auto perSlice = std::max<std::int64_t>(perPiece, static_cast<std::int64_t>(kSliceBytes / panelBytes));
        m_slice.resize(std::max<std::size_t>(
            m_slice.size(), std::min(static_cast<std::uint64_t>(perSlice) * panelBytes, tensor.bytes)));
        std::mutex mutex;
        std::optional<Error> error;
        for (std::int64_t first = 0; first < target.panels(); first += perSlice) {
            if (m_stop.isRequested())
                return cancelled();
            const std::int64_t count = std::min(perSlice, target.panels() - first);
            m_pool.forEach(count, perPiece, [&](std::int64_t begin, std::int64_t end) {
                const std::uint64_t from = static_cast<std::uint64_t>(first + begin) * panelBytes;
                const std::uint64_t to = std::min(static_cast<std::uint64_t>(first + end) * panelBytes, tensor.bytes);
                const std::span<std::byte> rows =
                    std::span(m_slice).subspan(static_cast<std::uint64_t>(begin) * panelBytes, to - from);
                if (auto read = m_model.file->read(tensor, from, rows); !read) {
                    const std::lock_guard lock(mutex);
                    error = read.error();
                    return;
                }
                for (std::int64_t panel = begin; panel < end; ++panel) {
                    const auto offset = static_cast<std::uint64_t>(panel - begin) * panelBytes;
                    target.packPanel(static_cast<int>(first + panel),
                                     rows.subspan(offset, std::min(panelBytes, rows.size() - offset)));
                }
            });
            if (error)
                return tl::unexpected(*error);
            report(std::min(static_cast<std::uint64_t>(first + count) * panelBytes, tensor.bytes) -
                   static_cast<std::uint64_t>(first) * panelBytes);
        }
        return {};
    }

    void report(std::uint64_t bytes)
    {
        m_doneFileBytes += bytes;
        if (m_progress)
            m_progress(m_doneFileBytes, m_totalFileBytes);
    }

    const Model &m_model;
    ThreadPool &m_pool;
    const LoadProgressFunction &m_progress;
    const StopFlag &m_stop;
    CpuWeights m_weights;
    std::vector<Matrix> m_matrices;
    std::vector<Vector> m_vectors;
    std::vector<std::byte> m_slice; // what is read between two looks at the stop flag
    std::size_t m_bytes = 0;
    std::uint64_t m_doneFileBytes = 0, m_totalFileBytes = 0;
};

} // namespace

Result<CpuWeights> loadCpuWeights(const Model &model, ThreadPool &pool, const LoadProgressFunction &progress,
                                  const StopFlag &stop)
{
    return Loader(model, pool, progress, stop).load();
}

} // namespace lectern::cpu
