// SPDX-License-Identifier: GPL-3.0-or-later
// From the tokenizer keys of a GGUF file to a model that the sentencepiece library accepts.
#pragma once

#include "engine/base/result.h"
#include "engine/gguf/gguf_file.h"
#include "engine/text/sentencepiece_proto.h"
#include "engine/text/vocabulary.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace lectern {

// Same ids as the vocabulary. The library refuses pieces that are empty or occur twice, byte pieces that are not all
// 256, and a model without exactly one unknown piece: such pieces become unmatchable, a missing unknown piece is added
// past the end, and the vocabulary gets a warning. Fails naming the key when scores are missing, too few or not
// numbers.
Result<SentencePieceModel> importSentencePieceModel(const GgufFile &file, Vocabulary &vocabulary);

// The byte of a piece "<0xNN>" (exactly two hex digits; "<0x-1>" was a heap write: llama.cpp#25969).
std::optional<std::uint8_t> byteOfPiece(std::string_view piece);

} // namespace lectern
