// SPDX-License-Identifier: GPL-3.0-or-later
// What a run was asked to do.
#pragma once

#include "engine/sampling/sampler.h"
#include "engine/text/chat_template.h"

#include <string>
#include <vector>

namespace lectern {

enum class PromptKind
{
    Text,
    Chat,
    Ids
};
enum class CacheMode
{
    Kv,
    None
}; // None: the whole context is computed again at every step

struct Request
{
    std::string title; // what a list shows; may be empty
    PromptKind kind = PromptKind::Text;
    std::string text;                  // Text
    std::vector<ChatMessage> messages; // Chat: rendered through the file's template
    std::vector<TokenId> ids;          // Ids
    bool addSpecial = true;            // Text only; a template's output gets no added tokens
    bool parseSpecial = false;         // Text only
    SamplingParams sampling;
    std::vector<std::string> stops;
    int maxTokens = 128;    // >= 1
    int topCandidates = 20; // kept per output token, 0..20
    CacheMode cache = CacheMode::Kv;
    bool reusesPrefix = true;      // take over what a cache of an earlier run shares with this prompt
    bool tracesOperations = false; // every pass tells its operations: RunRecord::passes
};

} // namespace lectern
