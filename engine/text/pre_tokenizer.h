// SPDX-License-Identifier: GPL-3.0-or-later
// Cuts a text into the words inside which byte-level BPE merges. Which rule a vocabulary was trained with stands in
// tokenizer.ggml.pre; each rule is a scanner written by hand over character classes (std::regex overflows the stack on
// long runs: llama.cpp#21257). A new rule is one function and one row of the table in pre_tokenizer.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lectern {

struct PreTokenizer
{
    std::string_view name; // as in tokenizer.ggml.pre
    // End of the word that starts at `begin` (< text.size()); greater than `begin`. Any bytes are accepted: an invalid
    // one counts as a sign of one byte.
    std::size_t (*wordEnd)(std::string_view text, std::size_t begin);
};

// nullptr when this version does not know the name.
const PreTokenizer *findPreTokenizer(std::string_view name);

std::string preTokenizerNames(); // "gpt-2, smollm", for messages

} // namespace lectern
