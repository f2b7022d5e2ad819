// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/awkward_record.h"

#include <limits>

namespace lectern::test {

RunRecord awkwardRecord()
{
    RunRecord record;
    record.programVersion = "0.1.0";
    record.createdUtc = "2025-01-02T03:04:05Z";
    record.machine = {"CPU \"A\"", 2, "AVX2", 8ull << 30, "", "Linux x86_64"};
    record.model.name = "Tiny";
    record.model.fileName = "tïny.gguf";
    record.model.vocabulary = 300;
    record.model.layers = 2;
    record.model.fileBytes = 98'362'432;
    record.engine = {"cpu", "AVX2", 2, 90'000'000, 23'040, 188'743'680, 16, 8192};
    record.request.kind = PromptKind::Chat;
    record.request.text = std::string("a\0b\xff", 4);
    record.request.messages = {{"user", "What's the capital of France?"}};
    record.request.ids = {0, 7};
    record.request.sampling = {0.7f, 40, 0.9f, 0.05f, 1.1f, std::numeric_limits<std::uint64_t>::max()};
    record.request.stops = {"\n\n", "end"};
    record.request.cache = CacheMode::None;
    record.request.reusesPrefix = false;
    record.request.tracesOperations = true;
    record.promptText = "\xe9\x91\xab and more";
    record.userRanges = {{0, 3}, {4, 7}};
    for (const auto &[begin, end] : {std::pair{0, 2}, {2, 3}, {3, 7}, {7, 12}}) {
        TokenRecord token;
        token.id = begin;
        token.bytes = record.promptText.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        token.begin = static_cast<std::size_t>(begin);
        token.end = static_cast<std::size_t>(end);
        record.promptTokens.push_back(token);
    }
    record.reusedTokens = 1;
    record.phases = {
        {Phase::Template, 0, 5}, {Phase::Tokenize, 5, 9}, {Phase::Prefill, 10, 30}, {Phase::Decode, 31, 50}};
    record.prefillChunks = {{1, 3, 10, 20}, {3, 4, 20, 30}};
    record.kv = {{10, 1, 23'040, 368'640}, {20, 3, 69'120, 368'640}, {50, 5, 115'200, 368'640}};
    // All limits, no time, a cost that two operations share and one that differs in its name only; a pass that told
    // nothing, and one with others in it.
    constexpr std::uint64_t kMost = 1ull << 50;
    record.passes = {{10,
                      20,
                      1,
                      2,
                      2,
                      {{Operation::Embed, -1, 0, 0, {}},
                       {Operation::Qkv, 0, 0, 3, {kMost, 0, kMost}},
                       {Operation::Attention, 0, 4, 1, {0, kMost, 7}},
                       {Operation::Qkv, 1, 5, 5, {kMost, 0, kMost}},
                       {Operation::Down, 1, 10, 0, {kMost, 0, kMost}}}},
                     {20, 20, 1, 1, 1, {}},
                     {31, 50, 3, std::numeric_limits<int>::max(), 6, {{Operation::Sample, -1, 19, 0, {0, 0, 1}}}}};
    record.preemptions = {{20, 3}, {20, 0}, {60, 6}};
    TokenRecord token;
    token.id = 299;
    token.timeNs = 31;
    token.stepNs = 11;
    token.bytes = "\xe9\x91";
    token.logprob = -0.1f;
    token.rank = 2;
    token.kvTokens = 4;
    token.kvBytes = 92'160;
    token.top = {{5, -0.05f}, {299, -0.1f}, {6, -std::numeric_limits<float>::infinity()}};
    TokenRecord second;
    second.id = 3;
    second.timeNs = 50;
    second.stepNs = 19;
    second.bytes = "t\xe9";
    second.text = "\xef\xbf\xbdt";
    second.logprob = -std::numeric_limits<float>::infinity();
    record.outputTokens = {token, second};
    record.tailText = "\xef\xbf\xbd";
    record.endedInsideCharacter = true;
    record.state = RunState::Finished;
    record.finishReason = FinishReason::StopString;
    record.stopString = "end";
    record.endNs = 60;
    record.pausedNs = 7;
    return record;
}

} // namespace lectern::test
