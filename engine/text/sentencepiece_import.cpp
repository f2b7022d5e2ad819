// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/sentencepiece_import.h"

#include "engine/base/utf8.h"

#include <array>
#include <charconv>
#include <cmath>
#include <unordered_set>

namespace lectern {

namespace {

constexpr std::string_view kScoresKey = "tokenizer.ggml.scores";
constexpr std::string_view kCharsmapKey = "tokenizer.ggml.precompiled_charsmap";

tl::unexpected<Error> failAtKey(const GgufFile &file, std::string_view key, const std::string &message)
{
    return fail(ErrorCode::BadFormat, "key " + std::string(key) + ": " + message, file.path().string());
}

Result<void> readScores(const GgufFile &file, const Vocabulary &vocabulary, SentencePieceModel &model)
{
    const std::vector<float> *scores = file.floats(kScoresKey);
    if (scores == nullptr)
        return failAtKey(file, kScoresKey,
                         file.find(kScoresKey) == nullptr ? "is missing; a SentencePiece vocabulary needs it"
                                                          : "expected an array of decimal numbers");
    if (scores->size() != vocabulary.pieces.size())
        return failAtKey(file, kScoresKey,
                         std::to_string(scores->size()) + " scores for " + std::to_string(vocabulary.pieces.size()) +
                             " tokens");
    model.pieces.resize(scores->size());
    for (std::size_t i = 0; i < scores->size(); ++i) {
        if (std::isnan((*scores)[i]))
            return failAtKey(file, kScoresKey, "the score of token " + std::to_string(i) + " is not a number");
        model.pieces[i].score = (*scores)[i];
    }
    return {};
}

// Byte pieces are usable only if all 256 are there.
Result<bool> hasAllBytes(const GgufFile &file, const Vocabulary &vocabulary)
{
    std::array<bool, 256> found{};
    std::size_t count = 0;
    for (std::size_t i = 0; i < vocabulary.pieces.size(); ++i) {
        if (vocabulary.kinds[i] != TokenKind::Byte)
            continue;
        const auto byte = byteOfPiece(vocabulary.pieces[i]);
        if (!byte)
            return failAtKey(file, "tokenizer.ggml.tokens",
                             "byte token " + std::to_string(i) + ", '" + printableText(vocabulary.pieces[i]) +
                                 "', is not of the form <0xNN>");
        count += found[*byte] ? 0 : 1;
        found[*byte] = true;
    }
    return count == found.size();
}

TokenId chooseUnknown(const Vocabulary &vocabulary)
{
    if (vocabulary.unknown)
        return *vocabulary.unknown;
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
        if (vocabulary.kind(id) == TokenKind::Unknown)
            return id;
    }
    return vocabulary.size();
}

// Pieces that text must not produce by itself get a name that no text gives: the library looks single characters up
// among control pieces too.
std::string unmatchableName(TokenId id)
{
    std::string name(1, '\0');
    name += std::to_string(id);
    return name;
}

void fillPieces(Vocabulary &vocabulary, SentencePieceModel &model)
{
    const TokenId unknown = chooseUnknown(vocabulary);
    std::unordered_set<std::string_view> seen;
    bool hasIdleBytes = false;
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
        const auto index = static_cast<std::size_t>(id);
        const std::string &piece = vocabulary.pieces[index];
        const TokenKind kind = vocabulary.kind(id);
        const bool isByte = kind == TokenKind::Byte && model.hasByteFallback;
        hasIdleBytes = hasIdleBytes || (kind == TokenKind::Byte && !isByte);
        const bool isText = kind == TokenKind::Normal || kind == TokenKind::Unused || isByte;
        SentencePieceEntry &entry = model.pieces[index];
        if (id == unknown || !isText || piece.empty() || !seen.insert(piece).second) {
            entry.piece = unmatchableName(id);
            entry.kind = id == unknown ? TokenKind::Unknown : TokenKind::Control;
        } else {
            entry.piece = piece;
            entry.kind = kind;
        }
    }
    if (unknown == vocabulary.size())
        model.pieces.push_back({unmatchableName(unknown), 0, TokenKind::Unknown});
    if (hasIdleBytes)
        vocabulary.warnings.push_back(
            {WarningKind::BytePiecesUnused, "not all of the 256 byte pieces are there: none of them is used"});
}

// Rules and flags for the text before it is cut.
Result<void> readNormalizer(const GgufFile &file, SentencePieceModel &model)
{
    const auto addsPrefix = file.boolOr("tokenizer.ggml.add_space_prefix", true);
    if (!addsPrefix)
        return tl::unexpected(addsPrefix.error());
    const auto removesSpaces = file.boolOr("tokenizer.ggml.remove_extra_whitespaces", false);
    if (!removesSpaces)
        return tl::unexpected(removesSpaces.error());
    model.addsSpacePrefix = *addsPrefix;
    model.removesExtraSpaces = *removesSpaces;
    if (const std::vector<std::int64_t> *charsmap = file.integers(kCharsmapKey)) {
        for (const std::int64_t byte : *charsmap)
            model.charsmap += static_cast<char>(byte);
    } else if (file.find(kCharsmapKey) != nullptr) {
        return failAtKey(file, kCharsmapKey, "expected an array of whole numbers");
    }
    if (!isValidCharsmap(model.charsmap))
        return failAtKey(file, kCharsmapKey, "the normalisation rules are damaged");
    return {};
}

} // namespace

Result<SentencePieceModel> importSentencePieceModel(const GgufFile &file, Vocabulary &vocabulary)
{
    SentencePieceModel model;
    if (const auto done = readScores(file, vocabulary, model); !done)
        return tl::unexpected(done.error());
    const auto hasBytes = hasAllBytes(file, vocabulary);
    if (!hasBytes)
        return tl::unexpected(hasBytes.error());
    model.hasByteFallback = *hasBytes;
    if (const auto done = readNormalizer(file, model); !done)
        return tl::unexpected(done.error());
    fillPieces(vocabulary, model);
    return model;
}

std::optional<std::uint8_t> byteOfPiece(std::string_view piece)
{
    if (piece.size() != 6 || !piece.starts_with("<0x") || !piece.ends_with('>'))
        return std::nullopt;
    std::uint8_t byte = 0;
    const auto [end, error] = std::from_chars(piece.data() + 3, piece.data() + 5, byte, 16);
    if (error != std::errc() || end != piece.data() + 5)
        return std::nullopt;
    return byte;
}

} // namespace lectern
