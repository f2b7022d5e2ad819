// SPDX-License-Identifier: GPL-3.0-or-later
// The pieces of a tokenizer with their kinds and the special ids. Immutable once loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lectern {

using TokenId = std::int32_t;

enum class TokenKind : std::uint8_t
{
    Normal = 1,
    Unknown = 2,
    Control = 3,
    UserDefined = 4,
    Unused = 5,
    Byte = 6
};

// What can be odd about a file that is used all the same.
enum class WarningKind
{
    DuplicatePieces,
    KindsMissing,
    PaddingToken,
    AddedToken, // to be added, but not named
    PreTokenizerMissing,
    MergesMissing,
    MergesUnusable,
    BytesMissing,    // of a byte-level vocabulary
    BytePiecesUnused // of a SentencePiece vocabulary
};
inline constexpr int kWarningKinds = 9;

struct FileWarning
{
    WarningKind kind;
    std::string text; // key and numbers; English
};

struct Vocabulary
{
    std::string model;               // "gpt2", "llama", "sentencepiece"
    std::string pre;                 // pre-tokenizer, "" if none
    std::vector<std::string> pieces; // as stored in the file
    std::vector<TokenKind> kinds;    // same size
    std::optional<TokenId> bos, eos, eot, unknown, padding;
    std::vector<TokenId> endOfGeneration; // sorted; a model may have several end tokens
    bool addsBos = false;                 // only with a bos
    bool addsEos = false;                 // only with an eos
    std::vector<FileWarning> warnings;    // what was odd but usable in the file

    int size() const { return static_cast<int>(pieces.size()); }
    bool contains(TokenId id) const { return id >= 0 && id < size(); }
    TokenKind kind(TokenId id) const { return kinds[static_cast<std::size_t>(id)]; }
    bool isSpecial(TokenId id) const { return kind(id) == TokenKind::Control || kind(id) == TokenKind::Unknown; }
    bool endsGeneration(TokenId id) const;
};

} // namespace lectern
