// SPDX-License-Identifier: GPL-3.0-or-later
// Chat templates: a small bounded interpreter of the Jinja subset that model files use.
//
// A template is code from the file: it has no access to anything but its variables, and steps, nesting and output size
// are limited (CVE-2024-34359 and CVE-2026-5760 came from unbounded ones). Output is identical to Python Jinja2 3.1
// with trim_blocks and lstrip_blocks on, as the published tokenizers use it.
#pragma once

#include "engine/base/result.h"
#include "engine/text/tokenizer.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lectern {

struct ChatMessage
{
    std::string role; // "system", "user", "assistant"
    std::string content;
    bool operator==(const ChatMessage &) const = default;
};

struct RenderedPrompt
{
    std::string text;
    std::vector<TextRange>
        userRanges; // what came out of messages' contents: tokenized as text, never as control tokens
};

class ChatTemplate
{
public:
    ChatTemplate(ChatTemplate &&) noexcept;
    ChatTemplate &operator=(ChatTemplate &&) noexcept;
    ~ChatTemplate();

    // Syntax errors and unsupported constructs name line and column.
    static Result<ChatTemplate> compile(std::string source);

    struct Options
    {
        bool addGenerationPrompt = true;
        std::string bosToken;
        std::string eosToken;
    };
    // raise_exception in a template gives its own text as InvalidInput and builds nothing.
    Result<RenderedPrompt> render(std::span<const ChatMessage> messages, const Options &options) const;

private:
    struct Program;
    explicit ChatTemplate(std::unique_ptr<Program> program);
    std::unique_ptr<Program> m_program;
};

} // namespace lectern
