// SPDX-License-Identifier: GPL-3.0-or-later
// SentencePiece model files as bytes: sentencepiece_model.proto (github.com/google/sentencepiece, src/) in protobuf's
// wire format. The library takes models only in this form and its packages come without the generated classes.
#pragma once

#include "engine/base/result.h"
#include "engine/text/vocabulary.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lectern {

struct SentencePieceEntry
{
    std::string piece;
    float score = 0;
    TokenKind kind = TokenKind::Normal; // the file's type numbers are the same as GGUF's
    bool operator==(const SentencePieceEntry &) const = default;
};

struct SentencePieceModel
{
    std::vector<SentencePieceEntry> pieces;
    bool hasByteFallback = false;
    std::string charsmap; // compiled normalisation rules; empty: the text is taken as it is
    bool addsSpacePrefix = true;
    bool removesExtraSpaces = true;
};

// A BPE model.
std::string writeSentencePieceModel(const SentencePieceModel &model);

// Checks what the library does not: that the rules in `charsmap` stay inside their own table. BadFormat for everything
// that is no model.
Result<SentencePieceModel> readSentencePieceModel(std::string_view bytes);

// Whether compiled normalisation rules are well formed. The library follows their offsets without looking.
bool isValidCharsmap(std::string_view charsmap);

} // namespace lectern
