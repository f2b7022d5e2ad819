// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/vocabulary_loader.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <unordered_set>

namespace lectern {

namespace {

tl::unexpected<Error> failAtKey(const GgufFile &file, std::string_view key, const std::string &message)
{
    return fail(ErrorCode::BadFormat, "key " + std::string(key) + ": " + message, file.path().string());
}

constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kKindsKey = "tokenizer.ggml.token_type";

constexpr std::array<std::string_view, 11> kEndMarks{
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|end|>",
    "<|return|>", "<end_of_turn>", "</s>",       "<eos>",      "<EOT>",
};

Result<void> readPieces(const GgufFile &file, Vocabulary &vocabulary)
{
    const std::vector<std::string> *pieces = file.strings(kTokensKey);
    if (pieces == nullptr)
        return failAtKey(file, kTokensKey, "expected an array of texts with the tokens");
    if (pieces->empty())
        return failAtKey(file, kTokensKey, "the vocabulary is empty");
    vocabulary.pieces = *pieces;

    std::unordered_set<std::string_view> seen;
    seen.reserve(pieces->size());
    std::size_t duplicates = 0;
    std::size_t firstDuplicate = 0;
    for (std::size_t i = 0; i < pieces->size(); ++i) {
        if (!seen.insert((*pieces)[i]).second && duplicates++ == 0)
            firstDuplicate = i;
    }
    if (duplicates != 0)
        vocabulary.warnings.push_back(
            {WarningKind::DuplicatePieces, std::string(kTokensKey) + ": " + std::to_string(duplicates) +
                                               " pieces occur twice (the first is [" + std::to_string(firstDuplicate) +
                                               "], '" + printableText((*pieces)[firstDuplicate]) +
                                               "'); text is given the lower id"});
    return {};
}

Result<void> readKinds(const GgufFile &file, Vocabulary &vocabulary)
{
    const std::vector<std::int64_t> *kinds = file.integers(kKindsKey);
    if (kinds == nullptr) {
        if (file.find(kKindsKey) != nullptr)
            return failAtKey(file, kKindsKey, "expected an array of whole numbers");
        vocabulary.kinds.assign(vocabulary.pieces.size(), TokenKind::Normal);
        vocabulary.warnings.push_back(
            {WarningKind::KindsMissing, std::string(kKindsKey) + " is missing: every piece counts as ordinary text"});
        return {};
    }
    if (kinds->size() != vocabulary.pieces.size())
        return failAtKey(file, kKindsKey,
                         std::to_string(kinds->size()) + " entries for " + std::to_string(vocabulary.pieces.size()) +
                             " tokens");
    vocabulary.kinds.reserve(kinds->size());
    for (std::size_t i = 0; i < kinds->size(); ++i) {
        std::int64_t kind = (*kinds)[i];
        if (kind == 0) // "undefined": some converters write it for ordinary pieces
            kind = static_cast<std::int64_t>(TokenKind::Normal);
        if (kind < static_cast<std::int64_t>(TokenKind::Normal) || kind > static_cast<std::int64_t>(TokenKind::Byte))
            return failAtKey(file, kKindsKey,
                             "type " + std::to_string(kind) + " of token " + std::to_string(i) +
                                 " is not one of 1 to 6");
        vocabulary.kinds.push_back(static_cast<TokenKind>(kind));
    }
    return {};
}

Result<std::optional<TokenId>> readSpecialId(const GgufFile &file, const Vocabulary &vocabulary, std::string_view key)
{
    if (file.find(key) == nullptr)
        return std::optional<TokenId>();
    const auto value = file.uintValue(key);
    if (!value)
        return tl::unexpected(value.error());
    if (*value >= vocabulary.pieces.size())
        return failAtKey(file, key,
                         "token " + std::to_string(*value) + " is outside the vocabulary of " +
                             std::to_string(vocabulary.pieces.size()) + " tokens");
    return std::optional<TokenId>(static_cast<TokenId>(*value));
}

std::optional<TokenId> findControlToken(const Vocabulary &vocabulary, std::string_view piece)
{
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
        if (vocabulary.kind(id) == TokenKind::Control && vocabulary.pieces[static_cast<std::size_t>(id)] == piece)
            return id;
    }
    return std::nullopt;
}

Result<void> readSpecialIds(const GgufFile &file, Vocabulary &vocabulary)
{
    struct Entry
    {
        std::string_view key;
        std::optional<TokenId> *target;
    };
    std::optional<TokenId> eom;
    const std::array entries{
        Entry{"tokenizer.ggml.bos_token_id", &vocabulary.bos},
        Entry{"tokenizer.ggml.eos_token_id", &vocabulary.eos},
        Entry{"tokenizer.ggml.eot_token_id", &vocabulary.eot},
        Entry{"tokenizer.ggml.eom_token_id", &eom},
        Entry{"tokenizer.ggml.unknown_token_id", &vocabulary.unknown},
    };
    for (const Entry &entry : entries) {
        const auto id = readSpecialId(file, vocabulary, entry.key);
        if (!id)
            return tl::unexpected(id.error());
        *entry.target = *id;
    }
    // Widely shared files name a padding token one past the end; nothing here depends on it.
    const auto padding = readSpecialId(file, vocabulary, "tokenizer.ggml.padding_token_id");
    if (padding)
        vocabulary.padding = *padding;
    else
        vocabulary.warnings.push_back({WarningKind::PaddingToken, padding.error().message});
    if (vocabulary.model == "llama" && !vocabulary.bos)
        vocabulary.bos = findControlToken(vocabulary, "<s>");
    if (vocabulary.model == "llama" && !vocabulary.eos)
        vocabulary.eos = findControlToken(vocabulary, "</s>");
    findEndTokens(vocabulary, eom);
    return {};
}

// A flag of the file, or its default; adding a token that the vocabulary does not name is switched off with a warning.
Result<bool> readAddFlag(const GgufFile &file, std::string_view key, bool fallback, std::optional<TokenId> token,
                         std::vector<FileWarning> &warnings)
{
    const auto wanted = file.boolOr(key, fallback);
    if (!wanted || !*wanted || token)
        return wanted;
    if (file.find(key) != nullptr)
        warnings.push_back(
            {WarningKind::AddedToken, std::string(key) + " is true, but the file names no such token: none is added"});
    return false;
}

} // namespace

Result<Vocabulary> readVocabulary(const GgufFile &file)
{
    Vocabulary vocabulary;
    const auto model = file.stringValue("tokenizer.ggml.model");
    if (!model)
        return tl::unexpected(model.error());
    vocabulary.model = *model;
    const auto pre = file.stringOr("tokenizer.ggml.pre", "");
    if (!pre)
        return tl::unexpected(pre.error());
    vocabulary.pre = *pre;
    for (const auto step : {readPieces, readKinds, readSpecialIds}) {
        if (const auto done = step(file, vocabulary); !done)
            return tl::unexpected(done.error());
    }
    const bool addsBosByDefault = vocabulary.model == "llama";
    const auto addsBos =
        readAddFlag(file, "tokenizer.ggml.add_bos_token", addsBosByDefault, vocabulary.bos, vocabulary.warnings);
    if (!addsBos)
        return tl::unexpected(addsBos.error());
    const auto addsEos = readAddFlag(file, "tokenizer.ggml.add_eos_token", false, vocabulary.eos, vocabulary.warnings);
    if (!addsEos)
        return tl::unexpected(addsEos.error());
    vocabulary.addsBos = *addsBos;
    vocabulary.addsEos = *addsEos;
    return vocabulary;
}

void findEndTokens(Vocabulary &vocabulary, std::optional<TokenId> extra)
{
    std::vector<TokenId> &ends = vocabulary.endOfGeneration;
    for (const std::optional<TokenId> &id : {vocabulary.eos, vocabulary.eot, extra}) {
        if (id)
            ends.push_back(*id);
    }
    // Only control tokens: gemma's "</s>" is a user-defined piece for struck-out HTML text.
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
        const std::string_view piece = vocabulary.pieces[static_cast<std::size_t>(id)];
        if (vocabulary.kind(id) == TokenKind::Control &&
            std::find(kEndMarks.begin(), kEndMarks.end(), piece) != kEndMarks.end())
            ends.push_back(id);
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
}

} // namespace lectern
