// SPDX-License-Identifier: GPL-3.0-or-later
// Loading, the inside of Engine::load().
#pragma once

#include "engine/schedule/model_runtime.h"

namespace lectern {

// The backend that the options ask for; Auto is the CPU.
Result<std::unique_ptr<Backend>> createChosenBackend(const Model &model, const LoadOptions &options,
                                                     const LoadProgressFunction &progress, const StopFlag &stop);

// The context to load a model with: `asked`, or for 0 the model's own, at most 8192 tokens. InvalidInput when it is
// negative or longer than the model was made for.
Result<int> chooseContextTokens(const ModelSpec &spec, int asked);

// Everything a run needs. Limits and memory are checked before weights are read. Cancelled when `stop` is set at any
// time before it returns; everything is freed then.
Result<std::unique_ptr<ModelRuntime>> loadRuntime(const std::filesystem::path &path, const LoadOptions &options,
                                                  const EngineParts &parts, EventSink &sink, const StopFlag &stop);

} // namespace lectern
