// SPDX-License-Identifier: GPL-3.0-or-later
// The façade: load a model, submit requests, step.
//
// The engine has no thread of its own beside the backend's pool: whoever owns it calls load() and step() on one thread,
// the engine thread. submit(), cancel(), pause() and resume() may be called from any thread.
#pragma once

#include "engine/backend/backend.h"
#include "engine/base/clock.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/event.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace lectern {

enum class BackendChoice
{
    Auto,
    Reference,
    Cpu
};

// Models promise up to a million; memory for that is asked for on purpose.
constexpr int kDefaultContextTokens = 8192;

struct LoadOptions
{
    BackendChoice backend = BackendChoice::Auto;
    int threads = 0;                 // 0: all cores
    int contextTokens = 0;           // 0: the model's, at most kDefaultContextTokens; more than it has is refused
    bool takesLessContext = false;   // contextTokens is a wish: a model made for less gets what it has
    std::uint64_t kvBudgetBytes = 0; // 0: room for contextTokens, for each of maxRuns as far as memory is there
    int maxRuns = 1;                 // at the same time, 1 to kMaxRuns; further ones wait
    bool hashesFile = false;         // SHA-256 of the file into ModelInfo (reads it once more)
};

// Memory a model needs, before anything is allocated.
struct MemoryNeed
{
    std::uint64_t weightBytes = 0;
    std::uint64_t kvBytesPerToken = 0;
    std::uint64_t kvBytes = 0; // for the context asked for
};
MemoryNeed memoryNeed(const ModelSpec &spec, int contextTokens, KvElement element);

// What a loaded model is. Shared and immutable: other threads may keep it.
struct LoadedModel
{
    ModelInfo model;
    EngineInfo engine;
    MachineInfo machine;
    std::shared_ptr<const Tokenizer> tokenizer;
    std::shared_ptr<const ChatTemplate> chatTemplate; // nullptr: the file has none
    std::string chatTemplateProblem;                  // why a template in the file cannot be used; raw mode still works
    std::vector<FileWarning> warnings;                // what was odd but usable in the file
};

// What an engine takes from outside; the defaults are the real ones. Tests put in scripted backends and clocks.
struct EngineParts
{
    std::function<Result<std::unique_ptr<Backend>>(const Model &, const LoadOptions &, const LoadProgressFunction &,
                                                   const StopFlag &)>
        createBackend;
    std::function<std::int64_t()> clock = nowNs; // steady nanoseconds; called from any thread
};

class Engine
{
public:
    Engine();
    explicit Engine(EngineParts parts);
    ~Engine(); // emits nothing: whoever wants every run to end with an event calls unload() first

    // Replaces the loaded model; the old one goes first, with its requests. On error or stop no model is loaded: `stop`
    // is looked at once more after everything is done, so a cancel that came before the result wins. Engine thread.
    Result<std::shared_ptr<const LoadedModel>> load(const std::filesystem::path &path, const LoadOptions &options,
                                                    EventSink &sink, const StopFlag &stop);
    // Ends every request with Finished (Cancelled) and frees the model. Engine thread.
    void unload();
    std::shared_ptr<const LoadedModel> loaded() const; // nullptr if none; any thread

    // Queues a request; emits Queued from the next step(). The sink must outlive the run. Any thread.
    RequestId submit(Request request, EventSink &sink);
    // Ends it with Finished (Cancelled) within one layer of the forward pass; harmless for unknown or ended ids.
    void cancel(RequestId id);
    // A paused request takes no steps and its clock stands still. It keeps its place among maxRuns, started or not;
    // others go on.
    void pause(RequestId id);
    void resume(RequestId id);

    // Does one scheduling step: one forward pass over what is ready (decode steps and prefill chunks together), and
    // prepares one request that has its turn. False when there is nothing to do (idle, or everything is paused).
    // Engine thread.
    bool step();

    // Logits of the last of `ids` on a fresh sequence; for comparisons with a reference. Refused while a run is active;
    // what the last run left for prefix reuse is given up. Engine thread.
    Result<std::vector<float>> logits(std::span<const TokenId> ids, const StopFlag &stop);

private:
    struct State;
    std::unique_ptr<State> m_state;
};

// Turns a request into the tokens that would be run: template, then tokenizer. Used by the engine and by the live
// prompt view alike. Any thread.
struct PreparedPrompt
{
    std::string text;
    std::vector<TextRange> userRanges;
    std::vector<TokenRecord> tokens;
    std::int64_t templateNs = 0, tokenizeNs = 0;
    std::vector<TextRange> leftOut;       // bytes of `text` that no token stands for
    std::optional<TextRange> secondBegin; // bytes of `text` of a second begin token
    std::vector<std::string> warnings;    // of both; English
};
Result<PreparedPrompt> preparePrompt(const LoadedModel &model, const Request &request, const StopFlag &stop);

std::string engineVersion(); // "0.1.0"
MachineInfo describeMachine();

} // namespace lectern
