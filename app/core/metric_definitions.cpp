// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/metric_definitions.h"

#include <QCoreApplication>

#include <string_view>

namespace lectern {

namespace {

constexpr const char *kContext = "lectern::MetricDefinition";

// Sources of the remarks on other tools: ray-project/llmperf, NVIDIA AIPerf and GenAI-Perf, llama.cpp, textgen.
constexpr MetricDefinition kDefinitions[] = {
    {"prompt_tokens", "tokens",
     QT_TRANSLATE_NOOP("lectern::MetricDefinition",
                       "Tokens of the prompt after the chat template: taken from the cache + evaluated."),
     ""},
    {"reused_tokens", "tokens",
     QT_TRANSLATE_NOOP("lectern::MetricDefinition",
                       "Prompt tokens whose keys and values were still in the cache from the run before."),
     ""},
    {"evaluated_tokens", "tokens",
     QT_TRANSLATE_NOOP("lectern::MetricDefinition",
                       "Prompt tokens that this run had to compute: prompt − taken from the cache."),
     ""},
    {"output_tokens", "tokens", QT_TRANSLATE_NOOP("lectern::MetricDefinition", "Tokens that the model produced."), ""},
    {"context_tokens", "tokens",
     QT_TRANSLATE_NOOP("lectern::MetricDefinition", "Prompt tokens + output tokens at the end of the run."), ""},
    {"passes", "passes",
     QT_TRANSLATE_NOOP("lectern::MetricDefinition", "Forward passes through the model: prefill counts as one and gives "
                                                    "the first token, each further token takes one."),
     ""},
    {"ttft_ms", "ms",
     QT_TRANSLATE_NOOP("lectern::MetricDefinition", "First output token available − request submitted. Includes "
                                                    "queueing, tokenizing, prefill and the first sampling."),
     QT_TRANSLATE_NOOP("lectern::MetricDefinition",
                       "Tools that measure a server from outside also count the network.")},
    {"template_ms", "ms",
     QT_TRANSLATE_NOOP("lectern::MetricDefinition", "Time to write the messages into the chat template."), ""},
    {"tokenize_ms", "ms", QT_TRANSLATE_NOOP("lectern::MetricDefinition", "Time to cut the prompt into tokens."), ""},
    {"prefill_ms", "ms", QT_TRANSLATE_NOOP("lectern::MetricDefinition", "Forward passes over the prompt only."), ""},
    {"prefill_tokens_per_second", "tokens/s",
     QT_TRANSLATE_NOOP("lectern::MetricDefinition", "Computed prompt tokens ÷ prefill time, forward passes over the "
                                                    "prompt only. Tokens taken from the cache are left out."),
     QT_TRANSLATE_NOOP("lectern::MetricDefinition", "AIPerf divides the whole prompt by TTFT.")},
    {"tpot_ms", "ms",
     QT_TRANSLATE_NOOP("lectern::MetricDefinition",
                       "(Last token − first token) ÷ (output tokens − 1). Undefined for fewer than two tokens."),
     QT_TRANSLATE_NOOP("lectern::MetricDefinition", "AIPerf calls this mean \"inter-token latency\".")},
    {"decode_tokens_per_second", "tokens/s",
     QT_TRANSLATE_NOOP(
         "lectern::MetricDefinition",
         "1 ÷ TPOT = (output tokens − 1) ÷ (last token − first token). The first token is not part of it."),
     QT_TRANSLATE_NOOP("lectern::MetricDefinition",
                       "Some tools divide all output tokens by the whole time, waiting and prefill included.")},
    {"itl_p50_ms", "ms",
     QT_TRANSLATE_NOOP(
         "lectern::MetricDefinition",
         "Gap between two consecutive output tokens: 50 % of the gaps are this long or shorter (nearest rank)."),
     ""},
    {"itl_p90_ms", "ms",
     QT_TRANSLATE_NOOP(
         "lectern::MetricDefinition",
         "Gap between two consecutive output tokens: 90 % of the gaps are this long or shorter (nearest rank)."),
     ""},
    {"itl_p99_ms", "ms",
     QT_TRANSLATE_NOOP(
         "lectern::MetricDefinition",
         "Gap between two consecutive output tokens: 99 % of the gaps are this long or shorter (nearest rank)."),
     QT_TRANSLATE_NOOP("lectern::MetricDefinition", "AIPerf gives this name to the mean of a request; LLMPerf's value "
                                                    "includes TTFT and divides by all output tokens.")},
    {"end_to_end_ms", "ms", QT_TRANSLATE_NOOP("lectern::MetricDefinition", "Last token available − request submitted."),
     ""},
    {"step_slope_ns_per_token", "ns/token",
     QT_TRANSLATE_NOOP("lectern::MetricDefinition",
                       "Least-squares slope of the time of a decode step against the tokens in the context; needs 8 "
                       "steps. Charts show it only where it is larger than three times its standard error."),
     ""},
    {"step_slope_error_ns_per_token", "ns/token",
     QT_TRANSLATE_NOOP("lectern::MetricDefinition",
                       "Standard error of that slope, of the same fit: how far chance alone would move it. Steps that "
                       "are slow together count as fewer."),
     ""},
    {"kv_used_bytes", "bytes",
     QT_TRANSLATE_NOOP(
         "lectern::MetricDefinition",
         "Largest seen of 2 · layers · KV heads · head size · bytes per "
         "element · tokens held, counted where it is stored. The last token of the answer is in the context but "
         "not held: no forward pass has read it yet."),
     QT_TRANSLATE_NOOP("lectern::MetricDefinition",
                       "Many tools show only what is reserved, often for the whole context from the start.")},
    {"kv_allocated_bytes", "bytes",
     QT_TRANSLATE_NOOP("lectern::MetricDefinition",
                       "Largest seen of what the pool had reserved for this run, in whole blocks."),
     ""},
    {"paused_ms", "ms",
     QT_TRANSLATE_NOOP("lectern::MetricDefinition",
                       "Time that the run stood still because it was paused; in no other time."),
     ""},
};

} // namespace

std::span<const MetricDefinition> metricDefinitions()
{
    return kDefinitions;
}

const MetricDefinition &metricDefinition(const char *key)
{
    static constexpr MetricDefinition kNone{"", "", "", ""};
    for (const MetricDefinition &definition : kDefinitions)
        if (std::string_view(definition.key) == key)
            return definition;
    return kNone;
}

QString translatedDefinition(const char *key)
{
    return QCoreApplication::translate(kContext, metricDefinition(key).definition);
}

QString translatedOtherTools(const char *key)
{
    const char *text = metricDefinition(key).otherTools;
    return *text ? QCoreApplication::translate(kContext, text) : QString();
}

} // namespace lectern
