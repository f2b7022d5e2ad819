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

LoadedBackend::LoadedBackend(BackendKind kind, const std::filesystem::path &path, int contextTokens, int threads,
                             const std::function<void(ModelSpec &)> &change)
    : m_model(openModelFile(path))
{
    if (change)
        change(m_model.spec);
    m_backend = orStop(createBackend(kind, m_model, threads, {}, StopFlag()));
    m_pool = newPool(contextTokens);
}

std::unique_ptr<KvPool> LoadedBackend::newPool(int contextTokens)
{
    const KvLayout layout = KvLayout::of(m_model.spec, m_backend->kvElement());
    return orStop(createKvPool(*m_backend, m_model.spec, layout.budgetFor(contextTokens, 1), 1));
}

std::vector<float> LoadedBackend::logits(std::span<const TokenId> ids, int chunkTokens)
{
    KvSequence sequence(*m_pool);
    return append(sequence, ids, chunkTokens);
}

std::vector<float> LoadedBackend::append(KvSequence &sequence, std::span<const TokenId> ids, int chunkTokens)
{
    const auto chunk = static_cast<std::size_t>(chunkTokens > 0 ? std::min(chunkTokens, kPassTokens) : kPassTokens);
    std::vector<float> logits;
    for (std::size_t begin = 0; begin < ids.size(); begin += chunk) {
        const auto part = ids.subspan(begin, std::min(chunk, ids.size() - begin));
        const bool isLast = begin + chunk >= ids.size();
        const std::vector<LogitRows> rows = orStop(forward(*m_backend, sequence, part, isLast ? 1 : 0));
        if (isLast)
            logits.assign(rows[0].last().begin(), rows[0].last().end());
    }
    return logits;
}

Result<std::vector<LogitRows>> forward(Backend &backend, KvSequence &sequence, std::span<const TokenId> ids, int logits,
                                       const StopFlag &stop, PassTrace *trace)
{
    const BatchSlice slice{&sequence, ids, logits, &stop};
    return backend.forward(std::span(&slice, 1), trace);
}

} // namespace lectern::test
