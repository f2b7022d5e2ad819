// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/clock.h"
#include "engine/base/utf8.h"
#include "engine/engine.h"
#include "engine/trace/prompt_tokens.h"

#include <new>
#include <utility>

namespace lectern {

namespace {

std::string pieceText(const Vocabulary &vocabulary, std::optional<TokenId> id)
{
    return id && vocabulary.contains(*id) ? vocabulary.pieces[static_cast<std::size_t>(*id)] : std::string();
}

Result<void> renderChat(const LoadedModel &model, const Request &request, PreparedPrompt &prompt)
{
    if (!model.chatTemplate && model.chatTemplateProblem.empty())
        return fail(ErrorCode::Unsupported, "the model file has no chat template", "", "Use a raw prompt.");
    if (!model.chatTemplate)
        return fail(ErrorCode::Unsupported, model.chatTemplateProblem);
    const Vocabulary &vocabulary = model.tokenizer->vocabulary();
    ChatTemplate::Options options;
    options.bosToken = pieceText(vocabulary, vocabulary.bos);
    options.eosToken = pieceText(vocabulary, vocabulary.eos);
    const std::int64_t beginNs = nowNs();
    Result<RenderedPrompt> rendered = model.chatTemplate->render(request.messages, options);
    prompt.templateNs = nowNs() - beginNs;
    if (!rendered)
        return tl::unexpected(std::move(rendered.error()));
    prompt.text = std::move(rendered->text);
    prompt.userRanges = std::move(rendered->userRanges);
    return {};
}

// Ids as they are; the text is what they stand for.
Result<void> takeIds(const Tokenizer &tokenizer, const Request &request, PreparedPrompt &prompt)
{
    const Vocabulary &vocabulary = tokenizer.vocabulary();
    for (std::size_t i = 0; i < request.ids.size(); ++i) {
        TokenRecord token;
        token.id = request.ids[i];
        if (!vocabulary.contains(token.id))
            return fail(ErrorCode::InvalidInput,
                        "id " + std::to_string(token.id) + " at position " + std::to_string(i) +
                            " is not in the vocabulary of " + std::to_string(vocabulary.size()) + " tokens",
                        "prompt ids");
        token.bytes = tokenizer.bytes(token.id);
        token.isSpecial = vocabulary.isSpecial(token.id);
        token.begin = prompt.text.size();
        prompt.text += token.bytes;
        token.end = prompt.text.size();
        prompt.tokens.push_back(std::move(token));
    }
    return {};
}

Result<void> tokenize(const Tokenizer &tokenizer, const EncodeOptions &options, const StopFlag &stop,
                      PreparedPrompt &prompt)
{
    const std::int64_t beginNs = nowNs();
    const Result<std::vector<EncodedToken>> encoded = tokenizer.encode(prompt.text, options, stop);
    prompt.tokenizeNs = nowNs() - beginNs;
    if (!encoded)
        return tl::unexpected(encoded.error());
    prompt.tokens = promptTokens(tokenizer, *encoded);
    prompt.leftOut = leftOutRanges(prompt.text, prompt.tokens, tokenizer.vocabulary().model);
    return {};
}

// A tokenizer that needs UTF-8 names a byte of the rendered text; who wrote a message knows only that one.
Error placedInMessage(Error error, const std::vector<ChatMessage> &messages)
{
    for (const ChatMessage &message : messages)
        if (const std::size_t offset = firstInvalidUtf8(message.content);
            offset != std::string_view::npos && error.where.starts_with("text, byte offset")) {
            error.where = message.role + " message, byte offset " + std::to_string(offset);
            break;
        }
    return error;
}

// llama.cpp#7332: two begin tokens make answers worse and nothing says so.
void warnOfSecondBegin(const Vocabulary &vocabulary, PreparedPrompt &prompt)
{
    const std::vector<TokenRecord> &tokens = prompt.tokens;
    const bool isDouble =
        vocabulary.bos && tokens.size() >= 2 && tokens[0].id == *vocabulary.bos && tokens[1].id == *vocabulary.bos;
    if (!isDouble)
        return;
    prompt.secondBegin = TextRange{tokens[1].begin, tokens[1].end};
    prompt.warnings.push_back("The prompt starts with two begin tokens (" +
                              printableText(pieceText(vocabulary, vocabulary.bos)) +
                              "): leave out the one in the text or switch off the added one.");
}

// Offsets are those of the text that is sent: in a chat the template's.
void warnOfLeftOut(PromptKind kind, PreparedPrompt &prompt)
{
    if (!prompt.leftOut.empty())
        prompt.warnings.push_back(
            leftOutWarning(prompt.text, prompt.leftOut, kind == PromptKind::Chat ? "rendered prompt" : "text"));
}

} // namespace

Result<PreparedPrompt> preparePrompt(const LoadedModel &model, const Request &request, const StopFlag &stop)
try {
    const Tokenizer &tokenizer = *model.tokenizer;
    PreparedPrompt prompt;
    Result<void> done;
    switch (request.kind) {
    case PromptKind::Text:
        prompt.text = request.text;
        done = tokenize(tokenizer, {request.addSpecial, request.parseSpecial, {}}, stop, prompt);
        break;
    case PromptKind::Chat:
        done = renderChat(model, request, prompt)
                   .and_then([&] {
                       return tokenize(tokenizer, {false, true, prompt.userRanges}, stop, prompt);
                   })
                   .map_error([&](Error error) { return placedInMessage(std::move(error), request.messages); });
        break;
    case PromptKind::Ids:
        done = takeIds(tokenizer, request, prompt);
        break;
    }
    if (!done)
        return tl::unexpected(std::move(done.error()));
    warnOfLeftOut(request.kind, prompt);
    warnOfSecondBegin(tokenizer.vocabulary(), prompt);
    return prompt;
} catch (const std::bad_alloc &) {
    return fail(ErrorCode::OutOfMemory, "there is too little memory to tokenize this prompt", "",
                "Shorten the prompt.");
}

} // namespace lectern
