// SPDX-License-Identifier: GPL-3.0-or-later
// SentencePiece vocabularies ("llama" in GGUF files, or a .model file) through the sentencepiece library.
#pragma once

#include "engine/text/sentencepiece_proto.h"
#include "engine/text/special_matcher.h"
#include "engine/text/tokenizer.h"

#include <memory>

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace lectern {

class SentencePieceTokenizer final : public Tokenizer
{
public:
    // Builds the library's model in memory from pieces, tokenizer.ggml.scores and kinds.
    static Result<std::unique_ptr<Tokenizer>> load(const GgufFile &file, Vocabulary vocabulary);
    // `bytes`: a whole .model file; `where` names it in messages.
    static Result<std::unique_ptr<Tokenizer>> loadModel(std::string_view bytes, const std::string &where);

    ~SentencePieceTokenizer() override;

    // A character without a piece is the unknown token; where the vocabulary has none it is left out.
    Result<std::vector<EncodedToken>> encode(std::string_view text, const EncodeOptions &options,
                                             const StopFlag &stop) const override;
    std::string bytes(TokenId id) const override;
    std::string decode(std::span<const TokenId> ids, bool withSpecial) const override;
    bool stripsFirstSpace() const override { return m_addsSpacePrefix; }

private:
    using Processor = sentencepiece::SentencePieceProcessor;

    SentencePieceTokenizer(Vocabulary vocabulary, std::unique_ptr<Processor> processor, bool addsSpacePrefix,
                           bool matchesUserDefined);
    Result<void> encodeText(std::string_view text, TextRange range, std::vector<EncodedToken> &tokens) const;

    std::unique_ptr<Processor> m_processor;
    bool m_addsSpacePrefix;
    SpecialMatcher m_specials;
};

} // namespace lectern
