// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/sentencepiece_tokenizer.h"

#include "engine/base/utf8.h"
#include "engine/text/sentencepiece_import.h"
#include "engine/text/vocabulary_loader.h"

#include <algorithm>
#include <utility>

#include <sentencepiece_processor.h>

namespace lectern {

namespace {

constexpr std::string_view kSpaceMark = "\xE2\x96\x81"; // U+2581 stands for a space in pieces

std::string withSpaces(std::string_view piece)
{
    std::string text;
    for (std::size_t offset = 0; offset < piece.size();) {
        const bool isMark = piece.substr(offset, kSpaceMark.size()) == kSpaceMark;
        text += isMark ? ' ' : piece[offset];
        offset += isMark ? kSpaceMark.size() : 1;
    }
    return text;
}

// The library gives a character that was split into byte pieces as a whole to the last of them: share it out, one byte
// each. Text that belongs to no piece (spaces that a rule removes) goes to the piece after it, at the end to the last
// one.
void settleRanges(std::span<EncodedToken> tokens, TextRange range, const Vocabulary &vocabulary)
{
    const auto isOpenByte = [&vocabulary](const EncodedToken &token) {
        return vocabulary.kind(token.id) == TokenKind::Byte && token.source.begin == token.source.end;
    };
    std::size_t covered = range.begin;
    for (std::size_t i = 0; i < tokens.size();) {
        std::size_t shares = 1;
        while (i + shares < tokens.size() && isOpenByte(tokens[i + shares - 1]))
            ++shares;
        const std::size_t end = std::clamp(tokens[i + shares - 1].source.end, covered, range.end);
        for (; shares > 0; --shares, ++i) {
            const std::size_t next = covered + (end - covered) / shares;
            tokens[i].source = {covered, next};
            covered = next;
        }
    }
    if (!tokens.empty())
        tokens.back().source.end = range.end;
}

Result<std::unique_ptr<sentencepiece::SentencePieceProcessor>> startProcessor(std::string_view modelBytes,
                                                                              int pieceCount, const std::string &where)
{
    auto processor = std::make_unique<sentencepiece::SentencePieceProcessor>();
    const auto status = processor->LoadFromSerializedProto(modelBytes);
    if (!status.ok())
        return fail(ErrorCode::BadFormat,
                    "the sentencepiece library refuses this vocabulary: " + std::string(status.message()), where);
    if (processor->GetPieceSize() < pieceCount)
        return fail(ErrorCode::BadFormat, "the sentencepiece library reads fewer pieces than the file holds", where);
    return processor;
}

std::optional<TokenId> optionalId(int id)
{
    return id < 0 ? std::nullopt : std::optional<TokenId>(id);
}

} // namespace

Result<std::unique_ptr<Tokenizer>> SentencePieceTokenizer::load(const GgufFile &file, Vocabulary vocabulary)
{
    const auto model = importSentencePieceModel(file, vocabulary);
    if (!model)
        return tl::unexpected(model.error());
    auto processor = startProcessor(writeSentencePieceModel(*model), vocabulary.size(), file.path().string());
    if (!processor)
        return tl::unexpected(processor.error());
    return std::unique_ptr<Tokenizer>(
        new SentencePieceTokenizer(std::move(vocabulary), std::move(*processor), model->addsSpacePrefix, true));
}

Result<std::unique_ptr<Tokenizer>> SentencePieceTokenizer::loadModel(std::string_view bytes, const std::string &where)
{
    auto model = readSentencePieceModel(bytes);
    if (!model)
        return fail(model.error().code, model.error().message, where);
    auto processor = startProcessor(bytes, static_cast<int>(model->pieces.size()), where);
    if (!processor)
        return tl::unexpected(processor.error());
    Vocabulary vocabulary;
    vocabulary.model = "sentencepiece";
    for (SentencePieceEntry &entry : model->pieces) {
        vocabulary.pieces.push_back(std::move(entry.piece));
        vocabulary.kinds.push_back(entry.kind);
    }
    vocabulary.bos = optionalId((*processor)->bos_id());
    vocabulary.eos = optionalId((*processor)->eos_id());
    vocabulary.unknown = optionalId((*processor)->unk_id());
    vocabulary.padding = optionalId((*processor)->pad_id());
    vocabulary.addsBos = vocabulary.bos.has_value();
    findEndTokens(vocabulary, std::nullopt);
    return std::unique_ptr<Tokenizer>(
        new SentencePieceTokenizer(std::move(vocabulary), std::move(*processor), model->addsSpacePrefix, false));
}

SentencePieceTokenizer::SentencePieceTokenizer(Vocabulary vocabulary, std::unique_ptr<Processor> processor,
                                               bool addsSpacePrefix, bool matchesUserDefined)
    : Tokenizer(std::move(vocabulary))
    , m_processor(std::move(processor))
    , m_addsSpacePrefix(addsSpacePrefix)
    , m_specials(m_vocabulary, matchesUserDefined)
{
}

SentencePieceTokenizer::~SentencePieceTokenizer() = default;

Result<std::vector<EncodedToken>> SentencePieceTokenizer::encode(std::string_view text, const EncodeOptions &options,
                                                                 const StopFlag &stop) const
{
    if (const std::size_t offset = firstInvalidUtf8(text); offset != std::string_view::npos)
        return fail(ErrorCode::InvalidInput, "this tokenizer (SentencePiece) needs valid UTF-8 text",
                    "text, byte offset " + std::to_string(offset), "Replace the invalid bytes");
    std::vector<EncodedToken> tokens;
    if (options.addSpecial && m_vocabulary.addsBos)
        tokens.push_back({*m_vocabulary.bos, {0, 0}, true});
    for (const Fragment &fragment : m_specials.split(text, options)) {
        if (stop.isRequested())
            return fail(ErrorCode::Cancelled, "tokenizing was stopped");
        if (fragment.token)
            tokens.push_back({*fragment.token, fragment.range, m_vocabulary.isSpecial(*fragment.token)});
        else if (const auto done = encodeText(text, fragment.range, tokens); !done)
            return tl::unexpected(done.error());
    }
    if (options.addSpecial && m_vocabulary.addsEos)
        tokens.push_back({*m_vocabulary.eos, {text.size(), text.size()}, true});
    return tokens;
}

Result<void> SentencePieceTokenizer::encodeText(std::string_view text, TextRange range,
                                                std::vector<EncodedToken> &tokens) const
{
    sentencepiece::ImmutableSentencePieceText encoded;
    const auto status = m_processor->Encode(text.substr(range.begin, range.end - range.begin), encoded.mutable_proto());
    if (!status.ok())
        return fail(ErrorCode::InvalidInput, "the sentencepiece library failed: " + std::string(status.message()));
    // The tokens and the text since the last character that is left out: their ranges are settled together.
    std::size_t first = tokens.size();
    TextRange rest = range;
    for (const auto &piece : encoded.pieces()) {
        const TextRange source{range.begin + piece.begin(), range.begin + piece.end()};
        const auto id = static_cast<TokenId>(piece.id());
        if (m_vocabulary.contains(id)) {
            tokens.push_back({id, source, m_vocabulary.isSpecial(id)});
            continue;
        }
        settleRanges(std::span(tokens).subspan(first), {rest.begin, source.begin}, m_vocabulary);
        first = tokens.size();
        rest.begin = source.end;
    }
    settleRanges(std::span(tokens).subspan(first), rest, m_vocabulary);
    return {};
}

std::string SentencePieceTokenizer::bytes(TokenId id) const
{
    if (!m_vocabulary.contains(id))
        return {};
    const std::string &piece = m_vocabulary.pieces[static_cast<std::size_t>(id)];
    if (m_vocabulary.kind(id) == TokenKind::Byte) {
        if (const auto byte = byteOfPiece(piece))
            return std::string(1, static_cast<char>(*byte));
    }
    return m_vocabulary.isSpecial(id) ? piece : withSpaces(piece);
}

std::string SentencePieceTokenizer::decode(std::span<const TokenId> ids, bool withSpecial) const
{
    std::string text;
    bool isFirst = true;
    for (const TokenId id : ids) {
        if (!m_vocabulary.contains(id))
            continue;
        const bool isSpecial = m_vocabulary.isSpecial(id);
        if (isSpecial && !withSpecial)
            continue;
        std::string piece = bytes(id);
        if (!isSpecial && std::exchange(isFirst, false) && m_addsSpacePrefix && piece.starts_with(' '))
            piece.erase(0, 1);
        text += piece;
    }
    return text;
}

} // namespace lectern
