// SPDX-License-Identifier: GPL-3.0-or-later
// Tokenizers from vocabularies that a test writes itself.
#pragma once

#include "engine/text/tokenizer.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/tiny_model.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace lectern::test {

// Writes the file, opens its vocabulary and removes the file again.
Result<std::unique_ptr<Tokenizer>> tokenizerFrom(const GgufWriter &writer);
// The same with the bytes of any file.
Result<std::unique_ptr<Tokenizer>> tokenizerFromBytes(const std::string &bytes);

// The tokenizer of the tiny models. Ends the test program with a message when it is refused.
std::unique_ptr<Tokenizer> tinyTokenizer(TinyVocabulary vocabulary, const std::string &pre = "smollm");

std::vector<TokenId> idsOf(const std::vector<EncodedToken> &tokens);

// Empty if the ranges are in order and cover all of `text`, else what is wrong.
std::string rangeFault(const std::vector<EncodedToken> &tokens, std::string_view text);

// Bytes of `text` that its tokens leave out.
std::vector<TextRange> leftOutOf(const Tokenizer &tokenizer, const std::vector<EncodedToken> &tokens,
                                 std::string_view text);
// A row of tokens_left_out.json: empty if ids and left-out bytes are those of the reference, else what is wrong.
std::string leftOutFault(const Tokenizer &tokenizer, const nlohmann::json &row);
std::string withoutRanges(std::string_view text, const std::vector<TextRange> &ranges);

// The same texts in every run: letters of many scripts, marks, emoji sequences, right-to-left text, spaces of all
// kinds; with `hasInvalidBytes` also bytes that are no UTF-8.
std::vector<std::string> mixedTexts(int count, bool hasInvalidBytes);

} // namespace lectern::test
