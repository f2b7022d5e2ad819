// SPDX-License-Identifier: GPL-3.0-or-later
// The tokenizers of tiny models.
#pragma once

#include "tests/support/gguf_writer.h"
#include "tests/support/tiny_model.h"

namespace lectern::test {

// Writes the tokenizer.* keys of the specification; returns the number of pieces.
int addTinyVocabulary(GgufWriter &writer, const TinyModelSpec &spec);

} // namespace lectern::test
