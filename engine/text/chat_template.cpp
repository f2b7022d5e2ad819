// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/chat_template.h"

#include "engine/base/utf8.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/parser.h"

#include <new>

namespace lectern {

struct ChatTemplate::Program
{
    jinja::Body body;
};

namespace {

constexpr std::size_t kMaxErrorBytes = 240; // a template may raise any text, and quotes names of any length

// Runs `work`, which may throw Failure, and gives its result as a value.
template <class Work>
auto guarded(Work work) -> Result<decltype(work())>
{
    try {
        return work();
    } catch (const jinja::Failure &failure) {
        Error error = failure.error;
        error.message = printableText(error.message, kMaxErrorBytes);
        error.where = printableText(error.where);
        return tl::unexpected(std::move(error));
    } catch (const std::bad_alloc &) {
        return fail(ErrorCode::OutOfMemory, "There is too little memory for it", "Chat template");
    }
}

jinja::Value messageValue(jinja::Meter &meter, const ChatMessage &message)
{
    return jinja::makeDict(
        meter, {{jinja::makeText(std::string("role")), jinja::makeText(message.role)},
                {jinja::makeText(std::string("content")), jinja::makeText(jinja::Text(message.content, true))}});
}

} // namespace

ChatTemplate::ChatTemplate(std::unique_ptr<Program> program)
    : m_program(std::move(program))
{
}
ChatTemplate::ChatTemplate(ChatTemplate &&) noexcept = default;
ChatTemplate &ChatTemplate::operator=(ChatTemplate &&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

Result<ChatTemplate> ChatTemplate::compile(std::string source)
{
    return guarded([&] { return ChatTemplate(std::make_unique<Program>(Program{jinja::parseTemplate(source)})); });
}

Result<RenderedPrompt> ChatTemplate::render(std::span<const ChatMessage> messages, const Options &options) const
{
    return guarded([&] {
        jinja::Meter meter;
        std::vector<jinja::Value> values;
        for (const ChatMessage &message : messages)
            values.push_back(messageValue(meter, message));
        const jinja::Value list = jinja::makeList(meter, std::move(values));

        // The published tokenizers also pass these, as none when there are no tools or documents.
        jinja::Scope variables{{"messages", list}, {"tools", jinja::None()}, {"documents", jinja::None()}};
        variables["add_generation_prompt"] = options.addGenerationPrompt;
        variables["bos_token"] = jinja::makeText(options.bosToken);
        variables["eos_token"] = jinja::makeText(options.eosToken);

        jinja::Interpreter interpreter(std::move(variables), *jinja::listOf(list));
        const jinja::Text text = interpreter.render(m_program->body);
        return RenderedPrompt{text.bytes(), text.userRanges()};
    });
}

} // namespace lectern
