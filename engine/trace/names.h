// SPDX-License-Identifier: GPL-3.0-or-later
// How files and machine-readable output spell the enumerators. These texts are part of the run format: never change
// one.
#pragma once

#include "engine/trace/run_record.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace lectern {

template <class Enum>
struct EnumNames; // one specialisation per enumeration: `table`, pairs of enumerator and text

template <>
struct EnumNames<Phase>
{
    static constexpr std::array<std::pair<Phase, std::string_view>, 4> table{{{Phase::Template, "template"},
                                                                              {Phase::Tokenize, "tokenize"},
                                                                              {Phase::Prefill, "prefill"},
                                                                              {Phase::Decode, "decode"}}};
};

template <>
struct EnumNames<FinishReason>
{
    static constexpr std::array<std::pair<FinishReason, std::string_view>, 6> table{
        {{FinishReason::EndToken, "endToken"},
         {FinishReason::StopString, "stopString"},
         {FinishReason::MaxTokens, "maxTokens"},
         {FinishReason::ContextFull, "contextFull"},
         {FinishReason::MemoryFull, "memoryFull"},
         {FinishReason::Cancelled, "cancelled"}}};
};

template <>
struct EnumNames<RunState>
{
    static constexpr std::array<std::pair<RunState, std::string_view>, 5> table{{{RunState::Queued, "queued"},
                                                                                 {RunState::Prefill, "prefill"},
                                                                                 {RunState::Decode, "decode"},
                                                                                 {RunState::Finished, "finished"},
                                                                                 {RunState::Failed, "failed"}}};
};

template <>
struct EnumNames<PromptKind>
{
    static constexpr std::array<std::pair<PromptKind, std::string_view>, 3> table{
        {{PromptKind::Text, "text"}, {PromptKind::Chat, "chat"}, {PromptKind::Ids, "ids"}}};
};

template <>
struct EnumNames<CacheMode>
{
    static constexpr std::array<std::pair<CacheMode, std::string_view>, 2> table{
        {{CacheMode::Kv, "kv"}, {CacheMode::None, "none"}}};
};

template <>
struct EnumNames<ErrorCode>
{
    static constexpr std::array<std::pair<ErrorCode, std::string_view>, 10> table{
        {{ErrorCode::InvalidInput, "invalidInput"},
         {ErrorCode::NotFound, "notFound"},
         {ErrorCode::Unreadable, "unreadable"},
         {ErrorCode::BadFormat, "badFormat"},
         {ErrorCode::Unsupported, "unsupported"},
         {ErrorCode::OutOfMemory, "outOfMemory"},
         {ErrorCode::ContextFull, "contextFull"},
         {ErrorCode::Cancelled, "cancelled"},
         {ErrorCode::WriteFailed, "writeFailed"},
         {ErrorCode::Numerics, "numerics"}}};
};

template <>
struct EnumNames<Operation>
{
    static constexpr std::array<std::pair<Operation, std::string_view>, kOperationCount> table{
        {{Operation::Embed, "embed"},
         {Operation::AttentionNorm, "attentionNorm"},
         {Operation::Qkv, "qkv"},
         {Operation::RopeStore, "ropeStore"},
         {Operation::Attention, "attention"},
         {Operation::AttentionOutput, "attentionOutput"},
         {Operation::FfnNorm, "ffnNorm"},
         {Operation::GateUp, "gateUp"},
         {Operation::Down, "down"},
         {Operation::OutputNorm, "outputNorm"},
         {Operation::Logits, "logits"},
         {Operation::Sample, "sample"}}};
};

template <class Enum>
constexpr std::string_view nameOf(Enum value)
{
    for (const auto &[candidate, name] : EnumNames<Enum>::table)
        if (candidate == value)
            return name;
    return "unknown";
}

template <class Enum>
constexpr std::optional<Enum> fromName(std::string_view text)
{
    for (const auto &[candidate, name] : EnumNames<Enum>::table)
        if (name == text)
            return candidate;
    return std::nullopt;
}

} // namespace lectern
