// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/engine_load.h"

#include "engine/base/cpu_features.h"
#include "engine/base/file.h"
#include "engine/trace/request_limits.h"

#include <algorithm>
#include <utility>

namespace lectern {

namespace {

struct Loader
{
    const std::filesystem::path &path;
    const LoadOptions &options;
    const EngineParts &parts;
    EventSink &sink;
    const StopFlag &stop;

    Result<std::unique_ptr<ModelRuntime>> load();

private:
    void progress(LoadPhase phase, std::uint64_t done, std::uint64_t total) const
    {
        sink.emitEvent({0, LoadProgress{phase, done, total}});
    }
    Result<void> checkStop() const;
    Result<void> checkThreads() const;
    Result<void> checkMemory(const ModelSpec &spec, int context) const;
    Result<void> checkRuns() const;
    std::uint64_t kvBudget(const KvLayout &layout, int context, std::uint64_t availableBytes) const;
    Result<std::string> hash(const GgufFile &file) const;
    void addTemplate(const GgufFile &file, LoadedModel &loaded) const;
};

Result<void> Loader::checkStop() const
{
    if (stop.isRequested())
        return fail(ErrorCode::Cancelled, "loading was stopped", path.filename().string());
    return {};
}

Result<void> Loader::checkThreads() const
{
    const int most = maxThreads();
    if (options.threads < 0 || options.threads > most)
        return fail(ErrorCode::InvalidInput,
                    "is " + std::to_string(options.threads) + ", expected 0 (all cores) to " + std::to_string(most) +
                        " (" + std::to_string(kMaxThreadsPerCore) + " per core)",
                    "threads");
    return {};
}

Result<void> Loader::checkRuns() const
{
    if (options.maxRuns < 1 || options.maxRuns > kMaxRuns)
        return fail(ErrorCode::InvalidInput,
                    "is " + std::to_string(options.maxRuns) + ", expected 1 to " + std::to_string(kMaxRuns),
                    "runs at the same time");
    return {};
}

// Room for the whole context of every run where memory is there, of one at least: runs that outgrow it together are
// preempted. `availableBytes`: beside the weights; 0 if not known.
std::uint64_t Loader::kvBudget(const KvLayout &layout, int context, std::uint64_t availableBytes) const
{
    if (options.kvBudgetBytes > 0)
        return options.kvBudgetBytes;
    const std::uint64_t ofAll = layout.budgetFor(context, options.maxRuns);
    return std::max(layout.budgetFor(context, 1), availableBytes > 0 ? std::min(ofAll, availableBytes / 2) : ofAll);
}

// Says what is needed before anything of it is taken.
Result<void> Loader::checkMemory(const ModelSpec &spec, int context) const
{
    const bool isReference = options.backend == BackendChoice::Reference;
    const KvLayout layout = KvLayout::of(spec, isReference ? KvElement::F32 : KvElement::F16);
    const std::uint64_t weights = isReference ? spec.parameters * sizeof(float) : spec.weightBytes;
    const std::uint64_t kv = options.kvBudgetBytes > 0 ? options.kvBudgetBytes : layout.budgetFor(context, 1);
    const std::uint64_t available = availableMemoryBytes();
    if (available == 0 || (kv <= available && weights <= available - kv))
        return {};
    const std::string cache = options.kvBudgetBytes > 0
                                  ? "the budget of the KV cache is " + std::to_string(kv) + " bytes"
                                  : "the KV cache for " + countOf(static_cast<std::uint64_t>(context), "token") +
                                        " needs " + std::to_string(kv) + " bytes (" +
                                        std::to_string(layout.bytesPerToken()) + " per token)";
    return fail(ErrorCode::OutOfMemory,
                "weights need " + std::to_string(weights) + " bytes and " + cache + "; " + std::to_string(available) +
                    " bytes are available",
                path.filename().string(),
                options.kvBudgetBytes > 0 ? "Choose a smaller KV budget or a smaller model."
                                          : "Choose a shorter context, a KV budget or a smaller model.");
}

Result<std::string> Loader::hash(const GgufFile &file) const
{
    if (!options.hashesFile)
        return std::string();
    return sha256OfFile(file.path(), stop,
                        [this](std::uint64_t done, std::uint64_t total) { progress(LoadPhase::Open, done, total); });
}

// A template that cannot be used is no reason to refuse the model: raw prompts still run.
void Loader::addTemplate(const GgufFile &file, LoadedModel &loaded) const
{
    if (!file.find("tokenizer.chat_template"))
        return;
    Result<std::string> source = file.stringValue("tokenizer.chat_template");
    Result<ChatTemplate> compiled = std::move(source).and_then(ChatTemplate::compile);
    if (compiled) {
        loaded.chatTemplate = std::make_shared<const ChatTemplate>(std::move(*compiled));
        return;
    }
    Error problem = std::move(compiled.error());
    if (problem.remedy.empty())
        problem.remedy = "Use the raw prompt with this model";
    loaded.chatTemplateProblem = problem.text();
}

ModelInfo describeModel(const Model &model, const Vocabulary &vocabulary, std::string sha256)
{
    const ModelSpec &spec = model.spec;
    ModelInfo info;
    info.name = spec.name;
    info.fileName = model.file->path().filename().string();
    info.architecture = spec.architecture->name;
    info.quantisation = spec.quantisation;
    info.tokenizer = vocabulary.pre.empty() ? vocabulary.model : vocabulary.model + " / " + vocabulary.pre;
    info.sha256 = std::move(sha256);
    info.fileBytes = model.file->fileBytes();
    info.parameters = spec.parameters;
    info.layers = spec.layerCount();
    info.width = spec.width;
    info.heads = spec.widest(&LayerSpec::heads);
    info.kvHeads = spec.widest(&LayerSpec::kvHeads);
    info.headSize = spec.widest(&LayerSpec::keySize);
    info.feedForward = spec.widest(&LayerSpec::feedForward);
    info.vocabulary = spec.vocabulary;
    info.contextLength = spec.contextLength;
    return info;
}

EngineInfo describeEngine(const Backend &backend, const KvPool &pool, int context)
{
    const BackendInfo backendInfo = backend.info();
    EngineInfo info;
    info.backend = backendInfo.name;
    info.instructionSet = backendInfo.instructionSet;
    info.threads = backendInfo.threads;
    info.weightBytes = backendInfo.weightBytes;
    info.kvBytesPerToken = pool.bytesPerToken();
    info.kvBudgetBytes = pool.budgetBytes();
    info.kvBlockTokens = kKvBlockTokens;
    info.contextTokens = context;
    return info;
}

Result<std::unique_ptr<ModelRuntime>> Loader::load()
{
    if (Result<void> ok =
            checkThreads().and_then([this] { return checkRuns(); }).and_then([this] { return checkStop(); });
        !ok)
        return tl::unexpected(std::move(ok.error()));
    progress(LoadPhase::Open, 0, 0);
    Result<GgufFile> opened = GgufFile::open(path);
    if (!opened)
        return tl::unexpected(std::move(opened.error()));
    const auto file = std::make_shared<const GgufFile>(std::move(*opened));
    const std::uint64_t total = file->fileBytes();

    progress(LoadPhase::Validate, 0, total);
    Result<Model> model = openModel(file);
    if (!model)
        return tl::unexpected(std::move(model.error()));
    const int wanted =
        options.takesLessContext ? std::min(options.contextTokens, model->spec.contextLength) : options.contextTokens;
    const Result<int> context = chooseContextTokens(model->spec, wanted);
    if (!context)
        return tl::unexpected(context.error());
    if (Result<void> ok = checkMemory(model->spec, *context).and_then([this] { return checkStop(); }); !ok)
        return tl::unexpected(std::move(ok.error()));
    Result<std::string> sha256 = hash(*file);
    if (!sha256)
        return tl::unexpected(std::move(sha256.error()));

    progress(LoadPhase::Tokenizer, 0, total);
    Result<std::unique_ptr<Tokenizer>> tokenizer = loadTokenizer(*file);
    if (!tokenizer)
        return tl::unexpected(std::move(tokenizer.error()));
    auto loaded = std::make_shared<LoadedModel>();
    loaded->tokenizer = std::move(*tokenizer);
    loaded->warnings = loaded->tokenizer->vocabulary().warnings;
    loaded->machine = describeMachine();
    addTemplate(*file, *loaded);
    loaded->model = describeModel(*model, loaded->tokenizer->vocabulary(), std::move(*sha256));

    auto runtime = std::make_unique<ModelRuntime>();
    runtime->model = std::move(*model);
    Result<std::unique_ptr<Backend>> backend = parts.createBackend(
        runtime->model, options,
        [this](std::uint64_t done, std::uint64_t all) { progress(LoadPhase::Weights, done, all); }, stop);
    if (!backend)
        return tl::unexpected(std::move(backend.error()));
    runtime->backend = std::move(*backend);
    const KvLayout layout = KvLayout::of(runtime->model.spec, runtime->backend->kvElement());
    Result<std::unique_ptr<KvPool>> pool = createKvPool(
        *runtime->backend, runtime->model.spec, kvBudget(layout, *context, availableMemoryBytes()), options.maxRuns);
    if (!pool)
        return tl::unexpected(std::move(pool.error()));
    runtime->pool = std::move(*pool);
    runtime->maxRuns = options.maxRuns;
    loaded->engine = describeEngine(*runtime->backend, *runtime->pool, *context);
    runtime->loaded = std::move(loaded);

    progress(LoadPhase::Ready, total, total);
    if (Result<void> ok = checkStop(); !ok)
        return tl::unexpected(std::move(ok.error()));
    return runtime;
}

} // namespace

Result<std::unique_ptr<Backend>> createChosenBackend(const Model &model, const LoadOptions &options,
                                                     const LoadProgressFunction &progress, const StopFlag &stop)
{
    if (options.backend == BackendChoice::Reference)
        return createReferenceBackend(model, options.threads, progress, stop);
    return createCpuBackend(model, options.threads, progress, stop);
}

Result<int> chooseContextTokens(const ModelSpec &spec, int asked)
{
    if (asked < 0 || asked > spec.contextLength)
        return fail(ErrorCode::InvalidInput,
                    "is " + std::to_string(asked) + ", the model was made for 1 to " +
                        countOf(static_cast<std::uint64_t>(spec.contextLength), "token"),
                    "context length", "Choose a shorter context.");
    return asked > 0 ? asked : std::min(spec.contextLength, kDefaultContextTokens);
}

Result<std::unique_ptr<ModelRuntime>> loadRuntime(const std::filesystem::path &path, const LoadOptions &options,
                                                  const EngineParts &parts, EventSink &sink, const StopFlag &stop)
{
    return Loader{path, options, parts, sink, stop}.load();
}

} // namespace lectern
