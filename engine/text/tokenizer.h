// SPDX-License-Identifier: GPL-3.0-or-later
// Text to tokens and back. Immutable once loaded; every function may be called from any thread.
#pragma once

#include "engine/base/result.h"
#include "engine/base/stop_flag.h"
#include "engine/gguf/gguf_file.h"
#include "engine/text/vocabulary.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lectern {

// Bytes [begin, end) of a text.
struct TextRange
{
    std::size_t begin = 0;
    std::size_t end = 0;
    bool operator==(const TextRange &) const = default;
};

struct EncodedToken
{
    TokenId id = 0;
    TextRange source; // bytes of the text it stands for; empty for an added begin or end token
    bool isSpecial = false;
};

struct EncodeOptions
{
    bool addSpecial = false;   // begin and end token as the file asks for them
    bool parseSpecial = false; // control tokens written in the text become control tokens; user-defined ones always do
    // With parseSpecial: no control token is recognised that overlaps one of these (user content in a chat).
    std::span<const TextRange> plainRanges = {};
};

class Tokenizer
{
public:
    virtual ~Tokenizer() = default;

    const Vocabulary &vocabulary() const { return m_vocabulary; }

    // Source ranges are in order and cover the text but for what is left out: bytes that the vocabulary has no token
    // for (SmolLM2 lacks 21, among them 0xFF and 0x04); see trace/prompt_tokens.h. Any bytes are accepted, but
    // SentencePiece needs valid UTF-8: else InvalidInput with the byte offset. Work grows near-linearly with the text;
    // Cancelled when `stop` is set (SentencePiece looks between special tokens only: its library takes about 0.5 s for
    // a megabyte without any).
    virtual Result<std::vector<EncodedToken>> encode(std::string_view text, const EncodeOptions &options,
                                                     const StopFlag &stop) const = 0;

    // The bytes that a token adds to the text. A control token gives its piece ("<|im_end|>"): whether to show it is
    // the caller's choice. Out-of-range ids give "".
    virtual std::string bytes(TokenId id) const = 0;

    // Bytes of a whole sequence, without the space that SentencePiece adds in front of the first word. Control tokens
    // are left out unless `withSpecial`.
    virtual std::string decode(std::span<const TokenId> ids, bool withSpecial) const = 0;

    // SentencePiece vocabularies with a space prefix: strip one leading space of the first decoded token.
    virtual bool stripsFirstSpace() const { return false; }

protected:
    explicit Tokenizer(Vocabulary vocabulary)
        : m_vocabulary(std::move(vocabulary))
    {
    }
    Vocabulary m_vocabulary;
};

// From the tokenizer.ggml.* keys. Unknown models and pre-tokenizers are refused by name (Unsupported); lengths,
// duplicates and special ids are checked here, never at the first prompt.
Result<std::unique_ptr<Tokenizer>> loadTokenizer(const GgufFile &file);

// A SentencePiece .model file by itself, without weights.
Result<std::unique_ptr<Tokenizer>> loadSentencePieceModel(const std::filesystem::path &path);

// Either of the two, by the file's first bytes. Opens only the vocabulary, no weights.
Result<std::unique_ptr<Tokenizer>> openTokenizer(const std::filesystem::path &path);

} // namespace lectern
