// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine_worker.h"

namespace lectern {

namespace {

class RealDriver final : public EngineDriver
{
public:
    Result<LoadedModelPtr> load(const std::filesystem::path &path, const LoadOptions &options, EventSink &sink,
                                const StopFlag &stop) override
    {
        return m_engine.load(path, options, sink, stop);
    }
    void unload() override { m_engine.unload(); }
    RequestId submit(Request request, EventSink &sink) override { return m_engine.submit(std::move(request), sink); }
    void cancel(RequestId id) override { m_engine.cancel(id); }
    void pause(RequestId id) override { m_engine.pause(id); }
    void resume(RequestId id) override { m_engine.resume(id); }
    bool step() override { return m_engine.step(); }

private:
    Engine m_engine;
};

} // namespace

std::unique_ptr<EngineDriver> createEngineDriver()
{
    return std::make_unique<RealDriver>();
}

} // namespace lectern
