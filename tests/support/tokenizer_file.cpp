// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/tokenizer_file.h"

#include "engine/base/utf8.h"
#include "engine/trace/prompt_tokens.h"
#include "tests/support/tiny_vocabulary.h"

#include <QTemporaryDir>

#include <array>
#include <fstream>
#include <random>

namespace lectern::test {

Result<std::unique_ptr<Tokenizer>> tokenizerFromBytes(const std::string &bytes)
{
    const QTemporaryDir folder;
    const std::filesystem::path path = folder.filePath("vocabulary").toStdString();
    std::ofstream(path, std::ios::binary) << bytes;
    return openTokenizer(path);
}

Result<std::unique_ptr<Tokenizer>> tokenizerFrom(const GgufWriter &writer)
{
    return tokenizerFromBytes(writer.bytes());
}

std::unique_ptr<Tokenizer> tinyTokenizer(TinyVocabulary vocabulary, const std::string &pre)
{
    GgufWriter writer;
    addTinyVocabulary(writer, {.vocabulary = vocabulary, .pre = pre});
    auto tokenizer = tokenizerFrom(writer);
    if (!tokenizer)
        qFatal("%s", tokenizer.error().text().c_str());
    return std::move(*tokenizer);
}

std::vector<TokenId> idsOf(const std::vector<EncodedToken> &tokens)
{
    std::vector<TokenId> ids;
    for (const EncodedToken &token : tokens)
        ids.push_back(token.id);
    return ids;
}

std::string rangeFault(const std::vector<EncodedToken> &tokens, std::string_view text)
{
    std::size_t covered = 0;
    for (const EncodedToken &token : tokens) {
        if (token.source.begin != covered || token.source.end < covered)
            return "token " + std::to_string(token.id) + " has [" + std::to_string(token.source.begin) + ", " +
                   std::to_string(token.source.end) + ") after " + std::to_string(covered);
        covered = token.source.end;
    }
    return covered == text.size() ? "" : "covered " + std::to_string(covered) + " of " + std::to_string(text.size());
}

std::vector<TextRange> leftOutOf(const Tokenizer &tokenizer, const std::vector<EncodedToken> &tokens,
                                 std::string_view text)
{
    return leftOutRanges(text, promptTokens(tokenizer, tokens), tokenizer.vocabulary().model);
}

std::string leftOutFault(const Tokenizer &tokenizer, const nlohmann::json &row)
{
    const auto text = row["text"].get<std::string>();
    const auto tokens = tokenizer.encode(text, {}, StopFlag());
    if (!tokens)
        return tokens.error().text();
    if (idsOf(*tokens) != row["ids"].get<std::vector<TokenId>>())
        return "other ids for " + row.dump();
    std::vector<std::size_t> offsets;
    for (const TextRange &range : leftOutOf(tokenizer, *tokens, text))
        for (std::size_t offset = range.begin; offset < range.end; ++offset)
            offsets.push_back(offset);
    return offsets == row["left_out"].get<std::vector<std::size_t>>() ? "" : "other bytes left out of " + row.dump();
}

std::string withoutRanges(std::string_view text, const std::vector<TextRange> &ranges)
{
    std::string rest;
    std::size_t begin = 0;
    for (const TextRange &range : ranges) {
        rest += text.substr(begin, range.begin - begin);
        begin = range.end;
    }
    return rest + std::string(text.substr(begin));
}

std::vector<std::string> mixedTexts(int count, bool hasInvalidBytes)
{
    struct Block
    {
        char32_t first;
        char32_t last;
    };
    static constexpr std::array kBlocks{
        Block{0x20, 0x7E},       Block{0x61, 0x7A},     Block{0x09, 0x0D},     Block{0xA0, 0x24F},
        Block{0x300, 0x36F},     Block{0x370, 0x52F},   Block{0x5D0, 0x5EA},   Block{0x600, 0x6FF},
        Block{0x900, 0x97F},     Block{0x2000, 0x206F}, Block{0x3000, 0x30FF}, Block{0x4E00, 0x9FFF},
        Block{0xAC00, 0xD7A3},   Block{0xE000, 0xE0FF}, Block{0xFE00, 0xFE0F}, Block{0x1F300, 0x1FAFF},
        Block{0xE0020, 0xE007F},
    };
    static constexpr std::array<std::string_view, 12> kParts{
        "  ",          "\n\n",       "'s",
        "12",          " the token", "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80",
        "e\xCC\x81",   "\xC2\xA0",   "<|im_end|>",
        "<tool_call>", "<0x0A>",     "\r\n",
    };
    std::mt19937 random(11); // the engine's numbers are fixed by the standard; distributions are not
    const auto below = [&random](std::size_t end) { return random() % end; };
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) {
        std::string text;
        for (std::size_t parts = 1 + below(12); parts > 0; --parts) {
            if (below(3) == 0)
                text += kParts[below(kParts.size())];
            if (hasInvalidBytes && below(3) == 0)
                text += static_cast<char>(0x80 + below(0x80));
            const Block &block = kBlocks[below(kBlocks.size())];
            for (std::size_t length = below(5); length > 0; --length)
                appendUtf8(text, static_cast<char32_t>(block.first + below(block.last - block.first + 1)));
        }
        texts.push_back(text);
    }
    return texts;
}

} // namespace lectern::test
