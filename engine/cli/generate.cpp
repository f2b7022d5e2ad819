// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/file.h"
#include "engine/base/interrupt.h"
#include "engine/cli/command.h"
#include "engine/cli/generate_batch.h"
#include "engine/cli/trace_table.h"
#include "engine/trace/event_json.h"
#include "engine/trace/run_json.h"

#include <atomic>
#include <cstdio>
#include <optional>
#include <utility>

namespace lectern::cli {

namespace {

constexpr std::uint64_t kProgressParts = 10; // of a phase of loading: lines for programs

struct Options
{
    ModelOptions model;
    Request request;
    std::string promptFile;
    std::string system;
    bool hasSystem = false; // it may be empty on purpose: some templates put in their own when there is none
    bool isChat = false;
    bool withoutCache = false;
    int contextTokens = 0;
    std::uint64_t kvBudgetBytes = 0;
    std::string batchFile;
    int batchRuns = 8;
    std::string record;
    bool asJson = false;
};

// Prints what arrives and keeps the record. Asks to stop when what it prints is lost: nobody reads it any more.
class Printer : public EventSink
{
public:
    Printer(bool asJson, StopFlag &stop)
        : m_stop(stop)
        , m_asJson(asJson)
    {
    }

    void emitEvent(Event event) override
    {
        apply(event, m_record);
        const auto *progress = std::get_if<LoadProgress>(&event.body);
        if (m_asJson && progress && !isNews(*progress))
            return;
        if (const auto *tokenized = std::get_if<Tokenized>(&event.body); tokenized && !tokenized->tokens.empty())
            for (const std::string &warning : tokenized->warnings) // without tokens the failure says it
                warn(warning);
        if (m_asJson)
            print(eventToJsonLine(event, m_record) + "\n");
        else if (const auto *produced = std::get_if<TokenProduced>(&event.body))
            print(produced->token.text);
        else if (const auto *finished = std::get_if<Finished>(&event.body))
            print(finished->tailText + "\n");
        else if (const auto *failed = std::get_if<Failed>(&event.body); failed && !m_record.outputTokens.empty())
            print(failed->tailText + "\n");
        std::fflush(stdout);
        if (isOutputLost())
            m_stop.request();
    }

    const RunRecord &record() const { return m_record; }

private:
    // Loading tells every block that it has read: a line for each tenth is enough.
    bool isNews(const LoadProgress &progress)
    {
        const std::uint64_t part =
            progress.totalBytes > 0 ? progress.doneBytes / (progress.totalBytes / kProgressParts + 1) : 0;
        const std::pair now(progress.phase, progress.doneBytes == progress.totalBytes ? kProgressParts : part);
        return std::exchange(m_told, now) != now;
    }

    RunRecord m_record;
    StopFlag &m_stop;
    bool m_asJson;
    std::optional<std::pair<LoadPhase, std::uint64_t>> m_told; // phase and part of it, of the last line
};

// Ends that a reader of the text alone would not notice.
void explainEnd(const RunRecord &record)
{
    if (record.finishReason == FinishReason::ContextFull)
        failed("stopped: the context of " + std::to_string(record.engine.contextTokens) + " tokens is full");
    else if (record.finishReason == FinishReason::Cancelled && !isOutputLost()) // which is said at the end
        failed("stopped by a signal after " + countOf(record.outputTokens.size(), "token"));
    else if (record.finishReason == FinishReason::MemoryFull)
        failed("stopped: the KV budget of " + std::to_string(record.engine.kvBudgetBytes) + " bytes is used up");
}

Result<Request> completeRequest(const Options &options)
{
    Request request = options.request;
    request.cache = options.withoutCache ? CacheMode::None : CacheMode::Kv;
    if (!request.ids.empty()) {
        request.kind = PromptKind::Ids;
        return request;
    }
    if (!options.promptFile.empty()) {
        Result<std::string> text = readInput(options.promptFile);
        if (!text)
            return tl::unexpected(std::move(text.error()));
        request.text = std::move(*text);
    }
    if (!options.isChat)
        return request;
    request.kind = PromptKind::Chat;
    if (options.hasSystem)
        request.messages.push_back({"system", options.system});
    request.messages.push_back({"user", std::move(request.text)});
    request.text.clear();
    return request;
}

LoadOptions loadOptionsOf(const Options &options)
{
    LoadOptions load = options.model.loadOptions();
    load.contextTokens = options.contextTokens;
    load.kvBudgetBytes = options.kvBudgetBytes;
    return load;
}

int runRequestsOf(const Options &options)
{
    BatchOptions batch{options.model.model, loadOptionsOf(options), options.request, options.batchFile};
    batch.load.maxRuns = options.batchRuns;
    batch.defaults.cache = options.withoutCache ? CacheMode::None : CacheMode::Kv;
    batch.defaults.topCandidates = 0; // nobody sees them
    return runBatch(batch);
}

int run(const Options &options)
{
    // Known before anything is computed, not after.
    if (!options.record.empty())
        if (const Result<void> writable = checkWritable(options.record); !writable)
            return failed(writable.error());
    Result<Request> request = completeRequest(options);
    if (!request)
        return failed(request.error());
    LoadOptions loadOptions = loadOptionsOf(options);
    loadOptions.hashesFile = !options.record.empty();

    Engine engine;
    StopFlag stop;
    Printer printer(options.asJson, stop);
    std::atomic<RequestId> id = 0;
    const Interrupt interrupt([&] {
        stop.request();
        engine.cancel(id);
    });
    const auto loaded = engine.load(options.model.model, loadOptions, printer, stop);
    if (!loaded)
        return failed(loaded.error());
    for (const FileWarning &warning : (*loaded)->warnings)
        if (warning.kind != WarningKind::BytesMissing) // what a prompt loses by it is said then
            warn(warning.text);
    id = engine.submit(std::move(*request), printer);
    do {
        if (stop.isRequested()) // by a signal before the id was known, or by the printer
            engine.cancel(id);
    } while (engine.step());

    const RunRecord &record = printer.record();
    printTraceTable(record);
    const bool isWorthKeeping = record.state == RunState::Finished || !record.outputTokens.empty();
    if (!options.record.empty() && isWorthKeeping)
        if (const Result<void> saved = saveRun(record, options.record); !saved)
            return failed(saved.error());
    if (record.error)
        return failed(*record.error);
    explainEnd(record);
    return kOk;
}

void addSamplingOptions(CLI::App &command, Request &request)
{
    SamplingParams &sampling = request.sampling;
    command.add_option("--max-tokens", request.maxTokens, "Tokens to generate at most")
        ->type_name("N")
        ->check(wholeNumber(1, kMaxOutputTokens));
    command.add_option("--temp", sampling.temperature, "Temperature; 0: always the most likely token")
        ->type_name("X")
        ->check(decimalNumber(0, kMaxTemperature));
    command.add_option("--top-k", sampling.topK, "Keep the K most likely tokens; 0: off")
        ->type_name("K")
        ->check(wholeNumber(0, kMaxTopK));
    command.add_option("--top-p", sampling.topP, "Keep the most likely tokens up to this probability; 1: off")
        ->type_name("P")
        ->check(decimalNumber(0, 1));
    command.add_option("--min-p", sampling.minP, "Keep tokens above this share of the best one; 0: off")
        ->type_name("P")
        ->check(decimalNumber(0, 1));
    command.add_option("--repetition-penalty", sampling.repetitionPenalty, "Over the last 64 tokens; 1: off")
        ->type_name("X")
        ->check(decimalNumber(kMinRepetitionPenalty, kMaxRepetitionPenalty));
    command.add_option("--seed", sampling.seed, "Start of the random numbers")->type_name("S")->check(wholeNumber64());
    command.add_option("--top-logprobs", request.topCandidates, "Candidates kept for every token")
        ->type_name("K")
        ->check(wholeNumber(0, kMaxTopCandidates));
    command.add_option("--stop", request.stops, "Text that ends the answer; may be given several times")
        ->type_name("TEXT")
        ->allow_extra_args(false)
        ->check(someText());
}

} // namespace

void addGenerate(CLI::App &program, int &exitCode)
{
    CLI::App *command = program.add_subcommand("generate", "Run a prompt and print the answer as it is made");
    const auto options = std::make_shared<Options>();
    addModelOption(*command, options->model);
    CLI::Option *prompt = command->add_option("--prompt", options->request.text, "The prompt")->type_name("TEXT");
    CLI::Option *file =
        command->add_option("--prompt-file", options->promptFile, "Read the prompt from a file; \"-\": standard input");
    CLI::Option *ids = addIdsOption(*command, options->request.ids, "The prompt as token ids, separated by commas");
    file->type_name("FILE")->check(someText());
    CLI::Option *chat =
        command->add_flag("--chat", options->isChat, "Put the prompt through the model's chat template");
    CLI::Option *system = command->add_option("--system", options->system, "System message");
    system->type_name("TEXT")->needs(chat);
    ids->excludes(chat);
    CLI::Option *batch = command->add_option("--batch", options->batchFile,
                                             "Run many requests at once: {\"prompt\" or \"messages\", \"maxTokens\", "
                                             "...} a line; \"-\": standard input");
    batch->type_name("FILE")->check(someText())->excludes(chat);
    command->add_option("--parallel", options->batchRuns, "With --batch: requests that run at the same time")
        ->type_name("N")
        ->check(wholeNumber(1, kMaxRuns))
        ->needs(batch);
    addSamplingOptions(*command, options->request);
    addBackendOptions(*command, options->model);
    command->add_flag("--no-kv-cache", options->withoutCache, "Compute the whole context again for every token");
    command
        ->add_option("--context", options->contextTokens,
                     "Tokens that prompt and answer may have together; 0: the model's, at most " +
                         std::to_string(kDefaultContextTokens))
        ->type_name("N")
        ->check(wholeNumber(0, kMaxContextTokens));
    command->add_option("--kv-budget", options->kvBudgetBytes, "Memory for the KV cache; 0: room for the context")
        ->type_name("BYTES")
        ->check(wholeNumber(0, kMaxKvBudgetBytes));
    command->add_option("--record", options->record, "Save the run (*.lectern.json)")
        ->type_name("FILE")
        ->check(someText())
        ->excludes(batch);
    command
        ->add_flag("--trace", options->request.tracesOperations,
                   "Time every operation: a table on standard error at the end, all of them in --record and --json")
        ->excludes(batch);
    command->add_flag("--json", options->asJson, "Print events as JSON lines instead of the answer")->excludes(batch);
    command->callback([=, &exitCode] {
        if ((prompt->count() > 0) + (file->count() > 0) + (ids->count() > 0) + (batch->count() > 0) != 1)
            throw CLI::ValidationError("generate", "give exactly one of --prompt, --prompt-file, --ids and --batch");
        options->hasSystem = system->count() > 0;
        exitCode = batch->count() > 0 ? runRequestsOf(*options) : run(*options);
    });
}

} // namespace lectern::cli
