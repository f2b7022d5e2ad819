// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/generate_batch.h"

#include "engine/base/clock.h"
#include "engine/base/interrupt.h"
#include "engine/cli/batch_request.h"
#include "engine/cli/json_lines.h"
#include "engine/trace/metrics.h"
#include "engine/trace/names.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

namespace lectern::cli {

namespace {

// One line of the file and what became of it. Its record is let go once its result is printed.
class Item : public EventSink
{
public:
    Item(std::int64_t line, Result<Request> request)
        : m_line(line)
        , m_request(std::move(request))
    {
        if (!m_request)
            m_result = tl::unexpected(m_request.error());
    }

    void emitEvent(Event event) override
    {
        apply(event, m_record);
        if (auto *tokenized = std::get_if<Tokenized>(&event.body))
            m_warnings = std::move(tokenized->warnings);
        if (m_record.state == RunState::Finished || m_record.state == RunState::Failed)
            end();
    }

    std::int64_t line() const { return m_line; }
    const Result<Request> &request() const { return m_request; }
    const std::optional<Result<std::string>> &result() const { return m_result; } // nothing before it has ended
    int promptTokens() const { return m_promptTokens; }
    int outputTokens() const { return m_outputTokens; }
    int preemptions() const { return m_preemptions; }

private:
    void end();

    std::int64_t m_line;
    Result<Request> m_request;
    RunRecord m_record;
    std::vector<std::string> m_warnings; // about the prompt
    std::optional<Result<std::string>> m_result;
    int m_promptTokens = 0, m_outputTokens = 0, m_preemptions = 0;
};

Json nsOrNull(const std::optional<double> &ns)
{
    return ns ? Json(static_cast<std::int64_t>(*ns)) : Json(nullptr);
}

void Item::end()
{
    const RunRecord record = std::exchange(m_record, {});
    const Metrics metrics = metricsOf(record);
    m_promptTokens = metrics.promptTokens;
    m_outputTokens = metrics.outputTokens;
    m_preemptions = static_cast<int>(record.preemptions.size());
    if (record.error) {
        m_result = tl::unexpected(*record.error);
        return;
    }
    Json json = Json::object();
    if (!record.request.title.empty())
        json["id"] = record.request.title;
    json.update({{"text", textToJson(record.answer())},
                 {"promptTokens", metrics.promptTokens},
                 {"reusedTokens", metrics.reusedTokens},
                 {"outputTokens", metrics.outputTokens},
                 {"finish", nameOf(*record.finishReason)},
                 {"ttftNs", nsOrNull(metrics.ttftNs)},
                 {"tpotNs", nsOrNull(metrics.tpotNs)},
                 {"endToEndNs", nsOrNull(metrics.endToEndNs)},
                 {"preemptions", m_preemptions}});
    if (!m_warnings.empty())
        json["warnings"] = m_warnings;
    m_result = json.dump();
}

using Items = std::vector<std::unique_ptr<Item>>;

Result<Items> readItems(const BatchOptions &options, const StopFlag &stop)
{
    Result<JsonLines> lines = JsonLines::open(options.file);
    if (!lines)
        return tl::unexpected(std::move(lines.error()));
    Items items;
    for (;;) {
        Result<std::optional<JsonLine>> line = lines->next(stop);
        if (!line)
            return tl::unexpected(std::move(line.error()));
        if (!*line)
            return items;
        Result<Request> request =
            (*line)->object.and_then([&](const Json &object) { return requestFromJson(object, options.defaults); });
        items.push_back(std::make_unique<Item>((*line)->number, std::move(request)));
    }
}

// Prints the results that are there, in the order of the file.
class Printer
{
public:
    explicit Printer(const Items &items)
        : m_items(items)
    {
    }

    void printEnded()
    {
        for (; m_next < m_items.size() && m_items[m_next]->result(); ++m_next)
            m_results.print(m_items[m_next]->line(), *m_items[m_next]->result());
    }
    const LineResults &results() const { return m_results; }

private:
    const Items &m_items;
    std::size_t m_next = 0;
    LineResults m_results;
};

void printSummary(const Items &items, std::int64_t ns, int atOnce)
{
    std::uint64_t prompt = 0, output = 0, preemptions = 0;
    for (const auto &item : items) {
        prompt += static_cast<std::uint64_t>(item->promptTokens());
        output += static_cast<std::uint64_t>(item->outputTokens());
        preemptions += static_cast<std::uint64_t>(item->preemptions());
    }
    const double seconds = static_cast<double>(ns) / 1e9;
    std::fprintf(stderr,
                 "%s, %d at once: %llu prompt + %llu output tokens in %.2f s, %.1f tok/s in all, %.1f output tok/s%s\n",
                 countOf(items.size(), "request").c_str(), atOnce, static_cast<unsigned long long>(prompt),
                 static_cast<unsigned long long>(output), seconds, static_cast<double>(prompt + output) / seconds,
                 static_cast<double>(output) / seconds,
                 preemptions > 0 ? (", " + countOf(preemptions, "preemption")).c_str() : "");
}

} // namespace

int runBatch(const BatchOptions &options)
{
    StopFlag stop;
    const Interrupt interrupt([&stop] { stop.request(); });
    const Result<Items> items = readItems(options, stop);
    if (!items)
        return failed(items.error());
    Engine engine;
    SilentSink loading;
    if (const auto loaded = engine.load(options.model, options.load, loading, stop); !loaded)
        return failed(loaded.error());

    const std::int64_t beginNs = nowNs();
    std::vector<RequestId> ids;
    for (const auto &item : *items)
        if (item->request())
            ids.push_back(engine.submit(*item->request(), *item));
    Printer printer(*items);
    do {
        printer.printEnded();
        if (isOutputLost())
            stop.request();
        if (stop.isRequested())
            for (const RequestId id : ids)
                engine.cancel(id);
    } while (engine.step());
    printer.printEnded();
    printSummary(*items, nowNs() - beginNs, options.load.maxRuns);
    if (stop.isRequested())
        return printer.results().end(Error{ErrorCode::Cancelled, "stopped", {}, {}});
    return printer.results().end();
}

} // namespace lectern::cli
