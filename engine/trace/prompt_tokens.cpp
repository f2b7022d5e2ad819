// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/prompt_tokens.h"

#include <algorithm>
#include <cstdio>

namespace lectern {

namespace {

constexpr std::size_t kMostNamed = 8; // bytes in a warning

void addByte(std::vector<TextRange> &ranges, std::size_t offset)
{
    if (ranges.empty() || ranges.back().end < offset)
        ranges.push_back({offset, offset + 1});
    else if (ranges.back().end == offset)
        ++ranges.back().end;
}

// The first byte that can be the next one of the token is it: a byte that is left out is in no such token.
void addSkipped(std::vector<TextRange> &ranges, std::string_view text, const TokenRecord &token)
{
    std::size_t found = 0;
    for (std::size_t offset = token.begin; offset < token.end; ++offset) {
        if (found < token.bytes.size() && text[offset] == token.bytes[found])
            ++found;
        else
            addByte(ranges, offset);
    }
}

} // namespace

std::vector<TokenRecord> promptTokens(const Tokenizer &tokenizer, std::span<const EncodedToken> tokens)
{
    std::vector<TokenRecord> records;
    records.reserve(tokens.size());
    for (const EncodedToken &token : tokens) {
        TokenRecord &record = records.emplace_back();
        record.id = token.id;
        record.bytes = tokenizer.bytes(token.id);
        record.isSpecial = token.isSpecial;
        record.begin = token.source.begin;
        record.end = token.source.end;
    }
    return records;
}

bool isByteLevel(std::string_view tokenizer)
{
    return tokenizer.starts_with("gpt2");
}

bool areBytesOf(std::string_view bytes, std::string_view text)
{
    if (bytes.empty() || text.empty())
        return bytes.empty() && text.empty();
    std::size_t found = 0;
    for (const char byte : text)
        found += found < bytes.size() && byte == bytes[found];
    return found == bytes.size() && bytes.front() == text.front() && bytes.back() == text.back();
}

std::vector<TextRange> leftOutRanges(std::string_view text, std::span<const TokenRecord> tokens,
                                     std::string_view tokenizer)
{
    const bool areBytes = isByteLevel(tokenizer);
    std::vector<TextRange> ranges;
    std::size_t covered = 0;
    const auto coverUntil = [&](std::size_t begin) {
        for (; covered < begin; ++covered)
            addByte(ranges, covered);
    };
    for (const TokenRecord &token : tokens) {
        coverUntil(token.begin);
        if (areBytes && !token.isSpecial)
            addSkipped(ranges, text, token);
        covered = std::max(covered, token.end);
    }
    coverUntil(text.size());
    return ranges;
}

std::vector<TextRange> leftOutRanges(const RunRecord &record)
{
    return leftOutRanges(record.promptText, record.promptTokens, record.model.tokenizer);
}

std::string bytesIn(std::string_view text, std::span<const TextRange> ranges)
{
    std::string bytes;
    for (const TextRange &range : ranges)
        bytes += text.substr(range.begin, range.end - range.begin);
    return bytes;
}

std::string leftOutWarning(std::string_view text, std::span<const TextRange> leftOut, std::string_view textName)
{
    std::size_t count = 0;
    std::string named;
    for (const TextRange &range : leftOut) {
        for (std::size_t offset = range.begin; offset < range.end; ++offset) {
            if (++count > kMostNamed)
                continue;
            char place[64];
            std::snprintf(place, sizeof place, "%s0x%02X at byte %zu", count > 1 ? ", " : "",
                          static_cast<unsigned>(static_cast<unsigned char>(text[offset])), offset);
            named += place;
        }
    }
    if (count == 0)
        return {};
    if (count > kMostNamed)
        named += " and " + std::to_string(count - kMostNamed) + " more";
    const bool isOne = count == 1;
    return countOf(count, "byte") + " of the " + std::string(textName) + (isOne ? " is" : " are") +
           " left out, since no token of the vocabulary stands for " + (isOne ? "it: " : "them: ") + named;
}

} // namespace lectern
