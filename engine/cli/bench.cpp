// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/cpu_features.h"
#include "engine/base/interrupt.h"
#include "engine/cli/bench_rounds.h"
#include "engine/cli/command.h"
#include "engine/engine_load.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <unistd.h>

namespace lectern::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Options
{
    ModelOptions model;
    BenchPlan plan{{32, 512}, {0, 4096}, {1}};
    bool hasDefaultDepths = true;
    bool asJson = false;
};

double bytesPerSecond(const BenchSeries &series)
{
    return rateOf(static_cast<double>(series.bytes), series.seconds).mean;
}

void printTable(const BenchRounds &rounds, const Model &model, const BackendInfo &backend)
{
    const MachineInfo machine = describeMachine();
    std::printf("machine  %s, %d cores, %s\n", machine.cpu.c_str(), machine.cores, machine.system.c_str());
    std::printf("model    %s, %s, %s\n", model.spec.name.c_str(), model.spec.architecture->name,
                model.spec.quantisation.c_str());
    std::printf("build    %s, g++ %s; backend %s, %s, %d threads\n\n", engineVersion().c_str(), __VERSION__,
                backend.name.c_str(), backend.instructionSet.c_str(), backend.threads);
    for (const BenchSeries &series : rounds.series()) {
        const Spread rate = rateOf(series.tokensPerRound(), series.seconds);
        std::printf("%-16s %6d tokens  %10.1f ± %6.1f tok/s  %7.2f GB/s\n", series.name().c_str(), series.tokens,
                    rate.mean, rate.stddev, bytesPerSecond(series) / 1e9);
    }
    const Spread probe = rounds.readBandwidth();
    std::printf("%-16s %6zu MiB     %10.2f ± %6.2f GB/s\n", "read bandwidth", BandwidthProbe::kBytes >> 20,
                probe.mean / 1e9, probe.stddev / 1e9);
}

void printJson(const BenchRounds &rounds, const Model &model, const BackendInfo &backend, int roundCount)
{
    Json prefill = Json::array();
    Json decode = Json::array();
    for (const BenchSeries &series : rounds.series()) {
        const Spread rate = rateOf(series.tokensPerRound(), series.seconds);
        Json entry = {{"tokens", series.tokens}};
        if (!series.isPrefill()) {
            entry["depth"] = series.depth;
            entry["sequences"] = series.sequences.size();
        }
        entry["tokensPerSecond"] = {{"mean", rate.mean}, {"stddev", rate.stddev}};
        entry["bytesPerSecond"] = bytesPerSecond(series);
        (series.isPrefill() ? prefill : decode).push_back(std::move(entry));
    }
    const MachineInfo machine = describeMachine();
    const Spread probe = rounds.readBandwidth();
    const Json json = {{"prefill", prefill},
                       {"decode", decode},
                       {"readBandwidthGBs", probe.mean / 1e9},
                       {"readBandwidthStddevGBs", probe.stddev / 1e9},
                       {"rounds", roundCount},
                       {"machine",
                        {{"cpu", machine.cpu},
                         {"cores", machine.cores},
                         {"memoryBytes", machine.memoryBytes},
                         {"system", machine.system}}},
                       {"model",
                        {{"name", model.spec.name},
                         {"fileName", model.file->path().filename().string()},
                         {"architecture", model.spec.architecture->name},
                         {"quantisation", model.spec.quantisation},
                         {"parameters", model.spec.parameters},
                         {"fileBytes", model.file->fileBytes()}}},
                       {"build",
                        {{"version", engineVersion()},
                         {"compiler", __VERSION__},
                         {"backend", backend.name},
                         {"instructionSet", backend.instructionSet},
                         {"threads", backend.threads}}}};
    print(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

// One line that is written over and over, on a terminal alone.
void sayProgress(const std::string &text)
{
    if (isatty(STDERR_FILENO))
        std::fprintf(stderr, "\r\033[K%s", text.c_str());
}

int run(const Options &options)
{
    StopFlag stop;
    const Interrupt interrupt([&stop] { stop.request(); });
    Result<GgufFile> file = GgufFile::open(options.model.model);
    if (!file)
        return failed(file.error());
    const Result<Model> model = openModel(std::make_shared<const GgufFile>(std::move(*file)));
    if (!model)
        return failed(model.error());
    BenchPlan plan = options.plan;
    plan.probeThreads = options.model.threads > 0 ? options.model.threads : cpuCoreCount();
    if (options.hasDefaultDepths) // only those that the model has room for
        std::erase_if(plan.depths, [&](int depth) { return depth + plan.decodeTokens > model->spec.contextLength; });
    if (const Result<void> fits = checkPlan(plan, model->spec); !fits)
        return failed(fits.error());
    const auto backend = createChosenBackend(
        *model, options.model.loadOptions(), [](std::uint64_t, std::uint64_t) {}, stop);
    if (!backend)
        return failed(backend.error());
    BenchRounds rounds(*model, **backend, plan, stop);
    const Result<void> done = rounds.run(sayProgress);
    sayProgress("");
    if (!done)
        return failed(done.error());
    if (options.asJson)
        printJson(rounds, *model, (*backend)->info(), plan.rounds);
    else
        printTable(rounds, *model, (*backend)->info());
    return kOk;
}

} // namespace

void addBench(CLI::App &program, int &exitCode)
{
    CLI::App *command = program.add_subcommand("bench", "Measure prefill, decode and the machine's read bandwidth");
    const auto options = std::make_shared<Options>();
    BenchPlan &plan = options->plan;
    addModelOption(*command, options->model);
    addBackendOptions(*command, options->model);
    command->add_option("-p,--prompt-tokens", plan.prompts, "Prompt lengths to prefill")
        ->delimiter(',')
        ->type_name("N,...")
        ->check(wholeNumber(1, 1 << 20));
    command->add_option("-n,--decode-tokens", plan.decodeTokens, "Tokens to decode")
        ->type_name("N")
        ->check(wholeNumber(1, 1 << 20));
    CLI::Option *depths = command->add_option("-d,--depth", plan.depths, "Tokens held when decoding starts");
    depths->delimiter(',')->type_name("N,...")->check(wholeNumber(0, 1 << 20));
    command->add_option("-s,--sequences", plan.sequences, "Sequences that decode together")
        ->delimiter(',')
        ->type_name("N,...")
        ->check(wholeNumber(1, kPassTokens));
    command->add_option("-r,--rounds", plan.rounds, "Rounds of everything")
        ->type_name("N")
        ->check(wholeNumber(1, 1000));
    command->add_flag("--json", options->asJson, "Print one JSON object");
    command->callback([=, &exitCode] {
        options->hasDefaultDepths = depths->count() == 0;
        exitCode = run(*options);
    });
}

} // namespace lectern::cli
