// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/tiny_vocabulary.h"

#include "engine/base/utf8.h"

#include <array>
#include <utility>

namespace lectern::test {

namespace {

// Merges by rank; '_' stands for a space. Both parts of each exist by the time it is listed.
constexpr std::array<std::pair<std::string_view, std::string_view>, 40> kMerges = {{
    {"_", "t"},  {"h", "e"},    {"_t", "he"},   {"i", "n"},  {"e", "r"},      {"_", "a"}, {"o", "n"},
    {"r", "e"},  {"_", "s"},    {"_", "w"},     {"e", "n"},  {"o", "r"},      {"i", "t"}, {"_", "o"},
    {"a", "n"},  {"_", "c"},    {"e", "s"},     {"i", "s"},  {"_o", "f"},     {"_", "p"}, {"in", "g"},
    {"a", "t"},  {"_a", "n"},   {"_an", "d"},   {"l", "l"},  {"_t", "o"},     {"o", "u"}, {"a", "l"},
    {"_", "m"},  {"k", "en"},   {"_to", "ken"}, {"_p", "r"}, {"_pr", "o"},    {"m", "p"}, {"c", "h"},
    {"a", "ch"}, {"_c", "ach"}, {"_cach", "e"}, {"_m", "o"}, {"_token", "s"},
}};

constexpr std::string_view kChatTemplate =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + "
    "'\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

enum Kind : std::int32_t
{
    Normal = 1,
    Unknown = 2,
    Control = 3,
    UserDefined = 4,
    Unused = 5,
    Byte = 6
};

std::string withSpaceAs(std::string_view part, std::string_view space)
{
    std::string text;
    for (const char c : part)
        text += c == '_' ? std::string(space) : std::string(1, c);
    return text;
}

// GPT-2's printable stand-in for a byte.
std::string byteSymbol(int byte)
{
    const auto isKept = [](int b) { return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174; };
    int code = byte;
    if (!isKept(byte)) {
        code = 256;
        for (int other = 0; other < byte; ++other)
            code += isKept(other) ? 0 : 1;
    }
    std::string text;
    appendUtf8(text, static_cast<char32_t>(code));
    return text;
}

int addByteBpe(GgufWriter &writer, const TinyModelSpec &spec)
{
    const std::string space = byteSymbol(' ');
    std::vector<std::string> pieces;
    std::vector<std::int32_t> kinds;
    for (int byte = 0; byte < 256; ++byte) {
        const bool isMissing = spec.missingBytes.find(static_cast<char>(byte)) != std::string::npos;
        pieces.push_back(isMissing ? "<unused" + std::to_string(byte) + ">" : byteSymbol(byte));
        kinds.push_back(isMissing ? Unused : Normal);
    }
    std::vector<std::string> merges;
    for (const auto &[left, right] : kMerges) {
        merges.push_back(withSpaceAs(left, space) + " " + withSpaceAs(right, space));
        pieces.push_back(withSpaceAs(left, space) + withSpaceAs(right, space));
    }
    kinds.resize(pieces.size(), Normal);
    const auto firstSpecial = static_cast<std::uint32_t>(pieces.size());
    for (const auto &[piece, kind] : {std::pair("<|endoftext|>", Control), std::pair("<|im_start|>", Control),
                                      std::pair("<|im_end|>", Control), std::pair("<tool_call>", UserDefined)}) {
        pieces.emplace_back(piece);
        kinds.push_back(kind);
    }
    writer.addText("tokenizer.ggml.model", "gpt2").addText("tokenizer.ggml.pre", spec.pre);
    writer.addTexts("tokenizer.ggml.tokens", pieces).addI32s("tokenizer.ggml.token_type", kinds);
    writer.addTexts("tokenizer.ggml.merges", merges);
    writer.addU32("tokenizer.ggml.bos_token_id", firstSpecial + 1);
    writer.addU32("tokenizer.ggml.eos_token_id", firstSpecial + 2);
    writer.addU32("tokenizer.ggml.unknown_token_id", firstSpecial);
    writer.addBool("tokenizer.ggml.add_bos_token", false);
    writer.addText("tokenizer.chat_template", spec.chatTemplate.empty() ? kChatTemplate : spec.chatTemplate);
    return static_cast<int>(pieces.size());
}

int addSentencePiece(GgufWriter &writer, const TinyModelSpec &spec)
{
    const std::string space = "\xE2\x96\x81"; // U+2581
    std::vector<std::string> pieces = {"<unk>", "<s>", "</s>"};
    std::vector<std::int32_t> kinds = {Unknown, Control, Control};
    std::vector<float> scores(3, 0.0f);
    for (int byte = 0; byte < 256; ++byte) {
        const char *digits = "0123456789ABCDEF";
        pieces.push_back(std::string("<0x") + digits[byte >> 4] + digits[byte & 15] + ">");
        kinds.push_back(Byte);
        scores.push_back(0.0f);
    }
    float score = 0;
    const auto addNormal = [&](std::string piece) {
        pieces.push_back(std::move(piece));
        kinds.push_back(Normal);
        scores.push_back(score);
        score -= 1;
    };
    for (const auto &[left, right] : kMerges)
        addNormal(withSpaceAs(left, space) + withSpaceAs(right, space));
    addNormal(space);
    for (char c = '!'; c <= '~'; ++c)
        addNormal(std::string(1, c));
    writer.addText("tokenizer.ggml.model", "llama").addText("tokenizer.ggml.pre", "default");
    writer.addTexts("tokenizer.ggml.tokens", pieces).addFloats("tokenizer.ggml.scores", scores);
    writer.addI32s("tokenizer.ggml.token_type", kinds);
    writer.addU32("tokenizer.ggml.bos_token_id", 1).addU32("tokenizer.ggml.eos_token_id", 2);
    writer.addU32("tokenizer.ggml.unknown_token_id", 0);
    writer.addBool("tokenizer.ggml.add_bos_token", true).addBool("tokenizer.ggml.add_eos_token", false);
    if (!spec.chatTemplate.empty())
        writer.addText("tokenizer.chat_template", spec.chatTemplate);
    return static_cast<int>(pieces.size());
}

} // namespace

int addTinyVocabulary(GgufWriter &writer, const TinyModelSpec &spec)
{
    return spec.vocabulary == TinyVocabulary::ByteBpe ? addByteBpe(writer, spec) : addSentencePiece(writer, spec);
}

} // namespace lectern::test
