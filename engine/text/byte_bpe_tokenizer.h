// SPDX-License-Identifier: GPL-3.0-or-later
// Byte-level BPE ("gpt2" in GGUF files): words cut by a pre-tokenizer, their bytes merged by rank.
#pragma once

#include "engine/text/merge_table.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/special_matcher.h"
#include "engine/text/tokenizer.h"

#include <array>

namespace lectern {

class ByteBpeTokenizer final : public Tokenizer
{
public:
    // Reads tokenizer.ggml.pre and tokenizer.ggml.merges.
    static Result<std::unique_ptr<Tokenizer>> load(const GgufFile &file, Vocabulary vocabulary);

    // A byte that the vocabulary has no piece for is dropped before its word is merged, so that merges go across it, as
    // the tokenizers library does. The unknown token of such files is never used: SmolLM2 names one and drops.
    Result<std::vector<EncodedToken>> encode(std::string_view text, const EncodeOptions &options,
                                             const StopFlag &stop) const override;
    std::string bytes(TokenId id) const override;
    std::string decode(std::span<const TokenId> ids, bool withSpecial) const override;

private:
    static constexpr TokenId kNoPiece = -1;
    using ByteIds = std::array<TokenId, 256>;

    ByteBpeTokenizer(Vocabulary vocabulary, const PreTokenizer &preTokenizer, MergeTable merges,
                     const ByteIds &byteIds);
    TokenId byteId(char byte) const { return m_byteIds[static_cast<unsigned char>(byte)]; }
    Result<void> encodeText(std::string_view text, TextRange range, std::vector<EncodedToken> &tokens,
                            const StopFlag &stop) const;

    const PreTokenizer &m_preTokenizer;
    MergeTable m_merges;
    ByteIds m_byteIds; // kNoPiece where the vocabulary lacks the byte
    SpecialMatcher m_specials;
};

} // namespace lectern
