// SPDX-License-Identifier: GPL-3.0-or-later
// Rounds of: read-bandwidth probe, every prefill, every decode. Interleaved, since the bandwidth of a shared machine
// moves.
#include "engine/base/clock.h"
#include "engine/base/cpu_features.h"
#include "engine/cli/bandwidth_probe.h"
#include "engine/cli/command.h"
#include "engine/engine_load.h"
#include "engine/schedule/step_plan.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>

namespace lectern::cli {

namespace {

constexpr int kWarmUpDecodeTokens = 8;

struct Options
{
    ModelOptions model;
    std::vector<int> prompts{32, 512};
    std::vector<int> depths{0, 4096};
    bool hasDefaultDepths = true;
    int decodeTokens = 128;
    int rounds = 5;
    bool asJson = false;
};

// One thing that is measured, and its rounds.
struct Series
{
    int tokens = 0;
    int depth = -1;          // -1: prefill
    std::uint64_t bytes = 0; // read by one round, as the backend states it
    std::unique_ptr<KvSequence> kv;
    std::vector<double> seconds;

    bool isPrefill() const { return depth < 0; }
};

struct Spread
{
    double mean = 0;
    double stddev = 0; // of the single rounds
};

// Total amount over total time: never the mean of rates.
Spread rateOf(double amount, const std::vector<double> &seconds)
{
    double total = 0;
    for (const double s : seconds)
        total += s;
    const auto count = static_cast<double>(seconds.size());
    Spread spread{amount * count / total, 0};
    if (seconds.size() < 2)
        return spread;
    double squares = 0;
    for (const double s : seconds)
        squares += (amount / s - spread.mean) * (amount / s - spread.mean);
    spread.stddev = std::sqrt(squares / (count - 1));
    return spread;
}

class Bench
{
public:
    Bench(Options options, Model model, std::unique_ptr<Backend> backend)
        : m_options(std::move(options))
        , m_model(std::move(model))
        , m_backend(std::move(backend))
    {
    }

    Result<void> prepare();
    Result<void> measure();
    void printTable() const;
    void printJson() const;

private:
    std::vector<int> depths() const;
    Result<void> add(int tokens, int depth);
    Result<void> run(Series &series, int tokens, bool counts);
    Result<void> forward(KvSequence &kv, int tokens, int perPass, bool wantsLogits);

    Options m_options;
    Model m_model;
    std::unique_ptr<Backend> m_backend;
    std::unique_ptr<KvPool> m_pool;
    std::unique_ptr<BandwidthProbe> m_probe;
    std::vector<Series> m_series;
    std::vector<double> m_probeSeconds;
    const StopFlag m_neverStops;
};

// Without -d: only depths that the model's context has room for.
std::vector<int> Bench::depths() const
{
    std::vector<int> depths = m_options.depths;
    if (m_options.hasDefaultDepths)
        std::erase_if(depths,
                      [this](int depth) { return depth + m_options.decodeTokens > m_model.spec.contextLength; });
    return depths;
}

// Any ids will do: the work does not depend on them.
Result<void> Bench::forward(KvSequence &kv, int tokens, int perPass, bool wantsLogits)
{
    std::vector<TokenId> ids;
    for (int done = 0; done < tokens; done += static_cast<int>(ids.size())) {
        ids.clear();
        for (int i = done; i < std::min(tokens, done + perPass); ++i)
            ids.push_back((kv.tokens() + static_cast<int>(ids.size())) * 7 % m_model.spec.vocabulary);
        const bool isLast = done + static_cast<int>(ids.size()) == tokens;
        if (Result<void> room = kv.reserve(static_cast<int>(ids.size())); !room)
            return room;
        const auto logits = m_backend->forward(kv, ids, wantsLogits && (isLast || perPass == 1), m_neverStops);
        if (!logits)
            return tl::unexpected(logits.error());
    }
    return {};
}

Result<void> Bench::add(int tokens, int depth)
{
    const int end = tokens + std::max(depth, 0);
    if (end > m_model.spec.contextLength)
        return fail(ErrorCode::InvalidInput, std::to_string(end) + " tokens are asked for, the model's context holds " +
                                                 std::to_string(m_model.spec.contextLength));
    Series series;
    series.tokens = tokens;
    series.depth = depth;
    series.kv = std::make_unique<KvSequence>(*m_pool);
    const int perPass = series.isPrefill() ? kPassTokens : 1;
    for (int at = std::max(depth, 0); at < end; at += perPass) {
        const int count = std::min(perPass, end - at);
        const PassCost cost = m_backend->cost(at, count, !series.isPrefill() || at + count == end);
        series.bytes += cost.weightBytes + cost.kvBytes;
    }
    if (Result<void> filled = forward(*series.kv, std::max(depth, 0), kPassTokens, false); !filled)
        return filled;
    m_series.push_back(std::move(series));
    return {};
}

Result<void> Bench::prepare()
{
    const std::vector<int> chosenDepths = depths();
    std::uint64_t tokens = 0; // of all sequences, each rounded up to whole blocks
    for (const int count : m_options.prompts)
        tokens += static_cast<std::uint64_t>(count) + kKvBlockTokens;
    for (const int depth : chosenDepths)
        tokens +=
            static_cast<std::uint64_t>(depth) + static_cast<std::uint64_t>(m_options.decodeTokens) + kKvBlockTokens;
    const KvElement element = m_backend->kvElement();
    const std::uint64_t budget = (tokens + kKvBlockTokens) * m_model.spec.kvBytesPerToken(kvElementBytes(element));
    Result<KvPool> pool = KvPool::create(m_model.spec, element, budget);
    if (!pool)
        return tl::unexpected(std::move(pool.error()));
    m_pool = std::make_unique<KvPool>(std::move(*pool));
    Result<BandwidthProbe> probe =
        BandwidthProbe::create(m_options.model.threads > 0 ? m_options.model.threads : cpuCoreCount());
    if (!probe)
        return tl::unexpected(std::move(probe.error()));
    m_probe = std::make_unique<BandwidthProbe>(std::move(*probe));
    for (const int count : m_options.prompts)
        if (Result<void> added = add(count, -1); !added)
            return added;
    for (const int depth : chosenDepths)
        if (Result<void> added = add(m_options.decodeTokens, depth); !added)
            return added;
    return {};
}

Result<void> Bench::run(Series &series, int tokens, bool counts)
{
    const std::int64_t beginNs = nowNs();
    if (Result<void> done = forward(*series.kv, tokens, series.isPrefill() ? kPassTokens : 1, true); !done)
        return done;
    if (counts)
        series.seconds.push_back(static_cast<double>(nowNs() - beginNs) / 1e9);
    series.kv->truncate(std::max(series.depth, 0));
    return {};
}

Result<void> Bench::measure()
{
    m_probe->measure(); // warm-up: pages, clocks and branch predictors
    for (Series &series : m_series)
        if (Result<void> done =
                run(series, series.isPrefill() ? series.tokens : std::min(series.tokens, kWarmUpDecodeTokens), false);
            !done)
            return done;
    for (int round = 0; round < m_options.rounds; ++round) {
        m_probeSeconds.push_back(1 / m_probe->measure());
        for (Series &series : m_series)
            if (Result<void> done = run(series, series.tokens, true); !done)
                return done;
    }
    return {};
}

void Bench::printTable() const
{
    const MachineInfo machine = describeMachine();
    const BackendInfo backend = m_backend->info();
    std::printf("machine  %s, %d cores, %s\n", machine.cpu.c_str(), machine.cores, machine.system.c_str());
    std::printf("model    %s, %s, %s\n", m_model.spec.name.c_str(), m_model.spec.architecture->name,
                m_model.spec.quantisation.c_str());
    std::printf("build    %s, g++ %s; backend %s, %s, %d threads\n\n", engineVersion().c_str(), __VERSION__,
                backend.name.c_str(), backend.instructionSet.c_str(), backend.threads);
    for (const Series &series : m_series) {
        const Spread rate = rateOf(series.tokens, series.seconds);
        const Spread bytes = rateOf(static_cast<double>(series.bytes), series.seconds);
        const std::string name = series.isPrefill() ? "prefill" : "decode at " + std::to_string(series.depth);
        std::printf("%-16s %6d tokens  %10.1f ± %6.1f tok/s  %7.2f GB/s\n", name.c_str(), series.tokens, rate.mean,
                    rate.stddev, bytes.mean / 1e9);
    }
    const Spread probe = rateOf(1, m_probeSeconds);
    std::printf("%-16s %43.2f ± %.2f GB/s\n", "read bandwidth", probe.mean / 1e9, probe.stddev / 1e9);
}

void Bench::printJson() const
{
    using Json = nlohmann::ordered_json;
    Json prefill = Json::array();
    Json decode = Json::array();
    for (const Series &series : m_series) {
        const Spread rate = rateOf(series.tokens, series.seconds);
        Json entry = {{"tokens", series.tokens}};
        if (!series.isPrefill())
            entry["depth"] = series.depth;
        entry["tokensPerSecond"] = {{"mean", rate.mean}, {"stddev", rate.stddev}};
        entry["bytesPerSecond"] = rateOf(static_cast<double>(series.bytes), series.seconds).mean;
        (series.isPrefill() ? prefill : decode).push_back(std::move(entry));
    }
    const MachineInfo machine = describeMachine();
    const BackendInfo backend = m_backend->info();
    const Spread probe = rateOf(1, m_probeSeconds);
    const Json json = {{"prefill", prefill},
                       {"decode", decode},
                       {"readBandwidthGBs", probe.mean / 1e9},
                       {"readBandwidthStddevGBs", probe.stddev / 1e9},
                       {"rounds", m_options.rounds},
                       {"machine",
                        {{"cpu", machine.cpu},
                         {"cores", machine.cores},
                         {"memoryBytes", machine.memoryBytes},
                         {"system", machine.system}}},
                       {"model",
                        {{"name", m_model.spec.name},
                         {"fileName", m_model.file->path().filename().string()},
                         {"architecture", m_model.spec.architecture->name},
                         {"quantisation", m_model.spec.quantisation},
                         {"parameters", m_model.spec.parameters},
                         {"fileBytes", m_model.file->fileBytes()}}},
                       {"build",
                        {{"version", engineVersion()},
                         {"compiler", __VERSION__},
                         {"backend", backend.name},
                         {"instructionSet", backend.instructionSet},
                         {"threads", backend.threads}}}};
    print(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

int run(const Options &options)
{
    const StopFlag neverStops;
    Result<GgufFile> file = GgufFile::open(options.model.model);
    if (!file)
        return failed(file.error());
    Result<Model> model = openModel(std::make_shared<const GgufFile>(std::move(*file)));
    if (!model)
        return failed(model.error());
    // The backend refers to the model, so the model is in its place first.
    const auto place = std::make_unique<Model>(std::move(*model));
    auto backend = createChosenBackend(
        *place, options.model.loadOptions(), [](std::uint64_t, std::uint64_t) {}, neverStops);
    if (!backend)
        return failed(backend.error());
    Bench bench(options, *place, std::move(*backend));
    if (const Result<void> done = bench.prepare().and_then([&] { return bench.measure(); }); !done)
        return failed(done.error());
    if (options.asJson)
        bench.printJson();
    else
        bench.printTable();
    return kOk;
}

} // namespace

void addBench(CLI::App &program, int &exitCode)
{
    CLI::App *command = program.add_subcommand("bench", "Measure prefill, decode and the machine's read bandwidth");
    const auto options = std::make_shared<Options>();
    addModelOption(*command, options->model);
    addBackendOptions(*command, options->model);
    command->add_option("-p,--prompt-tokens", options->prompts, "Prompt lengths to prefill")
        ->delimiter(',')
        ->type_name("N,...")
        ->check(CLI::Range(1, 1 << 20));
    command->add_option("-n,--decode-tokens", options->decodeTokens, "Tokens to decode")
        ->type_name("N")
        ->check(CLI::Range(1, 1 << 20));
    CLI::Option *depths =
        command->add_option("-d,--depth", options->depths, "Tokens already held when decoding starts");
    depths->delimiter(',')->type_name("N,...")->check(CLI::Range(0, 1 << 20));
    command->add_option("-r,--rounds", options->rounds, "Rounds of everything")
        ->type_name("N")
        ->check(CLI::Range(1, 1000));
    command->add_flag("--json", options->asJson, "Print one JSON object");
    command->callback([=, &exitCode] {
        options->hasDefaultDepths = depths->count() == 0;
        exitCode = run(*options);
    });
}

} // namespace lectern::cli
