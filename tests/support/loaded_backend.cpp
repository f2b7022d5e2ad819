// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/loaded_backend.h"

#include <QtGlobal>
#include <algorithm>

namespace lectern::test {

namespace {

template <class T>
T orStop(Result<T> result)
{
    if (!result)
        qFatal("%s", result.error().text().c_str());
    return std::move(*result);
}

} // namespace

Result<std::unique_ptr<Backend>> createBackend(BackendKind kind, const Model &model, int threads,
                                               const LoadProgressFunction &progress, const StopFlag &stop)
{
    return kind == BackendKind::Reference ? createReferenceBackend(model, threads, progress, stop)
                                          : createCpuBackend(model, threads, progress, stop);
}

Model openModelFile(const std::filesystem::path &path)
{
    return orStop(openModel(std::make_shared<const GgufFile>(orStop(GgufFile::open(path)))));
}

LoadedBackend::LoadedBackend(BackendKind kind, const std::filesystem::path &path, int contextTokens, int threads)
    : m_model(openModelFile(path))
    , m_backend(orStop(createBackend(kind, m_model, threads, {}, StopFlag())))
{
    const auto blocks = static_cast<std::uint64_t>(contextTokens + kKvBlockTokens - 1) / kKvBlockTokens;
    const KvElement element = m_backend->kvElement();
    m_pool = orStop(KvPool::create(m_model.spec, element,
                                   blocks * kKvBlockTokens * m_model.spec.kvBytesPerToken(kvElementBytes(element))));
}

std::vector<float> LoadedBackend::logits(std::span<const TokenId> ids, int chunkTokens)
{
    KvSequence sequence(*m_pool);
    return append(sequence, ids, chunkTokens);
}

std::vector<float> LoadedBackend::append(KvSequence &sequence, std::span<const TokenId> ids, int chunkTokens)
{
    const std::size_t chunk = chunkTokens > 0 ? static_cast<std::size_t>(chunkTokens) : ids.size();
    std::vector<float> logits;
    for (std::size_t begin = 0; begin < ids.size(); begin += chunk) {
        const auto part = ids.subspan(begin, std::min(chunk, ids.size() - begin));
        const bool isLast = begin + chunk >= ids.size();
        const std::span<float> values = orStop(m_backend->forward(sequence, part, isLast, StopFlag()));
        logits.assign(values.begin(), values.end());
    }
    return logits;
}

} // namespace lectern::test
