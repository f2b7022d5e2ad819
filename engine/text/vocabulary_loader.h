// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a vocabulary that every tokenizer model shares, read from tokenizer.ggml.* and checked once at load.
#pragma once

#include "engine/base/result.h"
#include "engine/gguf/gguf_file.h"
#include "engine/text/vocabulary.h"

namespace lectern {

// Pieces, kinds, special ids, flags. Refuses (BadFormat, naming the key) arrays of another length than the tokens and
// special ids outside the vocabulary; what is odd but usable becomes a warning.
Result<Vocabulary> readVocabulary(const GgufFile &file);

// Fills endOfGeneration: eos, eot, `extra`, and control tokens whose text is a known end mark. Chat models end turns
// with other tokens than the eos of the file; files do not list them (guessed from text, as llama.cpp does).
void findEndTokens(Vocabulary &vocabulary, std::optional<TokenId> extra);

} // namespace lectern
