// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/byte_bpe_tokenizer.h"

#include "engine/base/utf8.h"
#include "engine/text/byte_map.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace lectern {

namespace {

constexpr std::string_view kPreKey = "tokenizer.ggml.pre";
constexpr std::string_view kMergesKey = "tokenizer.ggml.merges";
constexpr std::string_view kDefaultPre = "gpt-2";

using PieceIds = std::unordered_map<std::string_view, TokenId>;

PieceIds pieceIdsOf(const Vocabulary &vocabulary)
{
    PieceIds ids;
    ids.reserve(vocabulary.pieces.size());
    for (TokenId id = 0; id < vocabulary.size(); ++id)
        ids.try_emplace(vocabulary.pieces[static_cast<std::size_t>(id)], id);
    return ids;
}

TokenId idOf(const PieceIds &ids, std::string_view piece, TokenId fallback)
{
    const auto found = ids.find(piece);
    return found == ids.end() ? fallback : found->second;
}

Result<const PreTokenizer *> choosePreTokenizer(const GgufFile &file, Vocabulary &vocabulary)
{
    if (vocabulary.pre.empty()) {
        vocabulary.warnings.push_back(
            {WarningKind::PreTokenizerMissing,
             std::string(kPreKey) +
                 " is missing: text is cut as GPT-2 does it, which may not be how this model was trained"});
        return findPreTokenizer(kDefaultPre);
    }
    if (const PreTokenizer *row = findPreTokenizer(vocabulary.pre))
        return row;
    return fail(ErrorCode::Unsupported,
                "key " + std::string(kPreKey) + ": pre-tokenizer '" + printableText(vocabulary.pre) +
                    "' is not supported",
                file.path().string(), "This version knows: " + preTokenizerNames());
}

// Merges that name pieces outside the vocabulary can never give a token; they are left out and counted.
Result<MergeTable> readMerges(const GgufFile &file, const PieceIds &ids, Vocabulary &vocabulary)
{
    const std::vector<std::string> *lines = file.strings(kMergesKey);
    if (lines == nullptr) {
        if (file.find(kMergesKey) != nullptr)
            return fail(ErrorCode::BadFormat, "key " + std::string(kMergesKey) + ": expected an array of texts",
                        file.path().string());
        vocabulary.warnings.push_back({WarningKind::MergesMissing,
                                       std::string(kMergesKey) + " is missing: every byte becomes a token of its own"});
        return MergeTable(0);
    }
    MergeTable table(lines->size());
    std::size_t unusable = 0;
    std::string joined;
    for (std::size_t rank = 0; rank < lines->size(); ++rank) {
        const std::string_view line = (*lines)[rank];
        const std::size_t space = line.find(' ', 1);
        if (space == std::string_view::npos || space + 1 == line.size())
            return fail(ErrorCode::BadFormat,
                        "key " + std::string(kMergesKey) + ": entry " + std::to_string(rank) + ", '" +
                            printableText(line) + "', is not two pieces with a space between",
                        file.path().string());
        const std::string_view left = line.substr(0, space);
        const std::string_view right = line.substr(space + 1);
        joined.assign(left).append(right);
        constexpr TokenId kAbsent = -1;
        const TokenId leftId = idOf(ids, left, kAbsent);
        const TokenId rightId = idOf(ids, right, kAbsent);
        const TokenId result = idOf(ids, joined, kAbsent);
        if (leftId == kAbsent || rightId == kAbsent || result == kAbsent)
            ++unusable;
        else
            table.add(leftId, rightId, {static_cast<std::int32_t>(rank), result});
    }
    if (unusable != 0)
        vocabulary.warnings.push_back(
            {WarningKind::MergesUnusable, std::string(kMergesKey) + ": " + std::to_string(unusable) + " of " +
                                              std::to_string(lines->size()) +
                                              " merges name pieces that are not in the vocabulary and are not used"});
    return table;
}

} // namespace

Result<std::unique_ptr<Tokenizer>> ByteBpeTokenizer::load(const GgufFile &file, Vocabulary vocabulary)
{
    const auto preTokenizer = choosePreTokenizer(file, vocabulary);
    if (!preTokenizer)
        return tl::unexpected(preTokenizer.error());
    const PieceIds ids = pieceIdsOf(vocabulary);
    auto merges = readMerges(file, ids, vocabulary);
    if (!merges)
        return tl::unexpected(merges.error());
    ByteIds byteIds{};
    for (std::size_t byte = 0; byte < byteIds.size(); ++byte)
        byteIds[byte] = idOf(ids, byteLevelPiece(static_cast<std::uint8_t>(byte)), kNoPiece);
    const auto missing = std::count(byteIds.begin(), byteIds.end(), kNoPiece);
    if (missing != 0)
        vocabulary.warnings.push_back(
            {WarningKind::BytesMissing,
             std::to_string(missing) + " of 256 bytes have no piece: they are left out of texts"});
    return std::unique_ptr<Tokenizer>(
        new ByteBpeTokenizer(std::move(vocabulary), **preTokenizer, std::move(*merges), byteIds));
}

ByteBpeTokenizer::ByteBpeTokenizer(Vocabulary vocabulary, const PreTokenizer &preTokenizer, MergeTable merges,
                                   const ByteIds &byteIds)
    : Tokenizer(std::move(vocabulary))
    , m_preTokenizer(preTokenizer)
    , m_merges(std::move(merges))
    , m_byteIds(byteIds)
    , m_specials(m_vocabulary, true)
{
}

Result<std::vector<EncodedToken>> ByteBpeTokenizer::encode(std::string_view text, const EncodeOptions &options,
                                                           const StopFlag &stop) const
{
    if (text.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        return fail(ErrorCode::InvalidInput,
                    "a text of " + std::to_string(text.size()) + " bytes is too long to tokenize");
    std::vector<EncodedToken> tokens;
    if (options.addSpecial && m_vocabulary.addsBos)
        tokens.push_back({*m_vocabulary.bos, {0, 0}, true});
    for (const Fragment &fragment : m_specials.split(text, options)) {
        if (fragment.token)
            tokens.push_back({*fragment.token, fragment.range, m_vocabulary.isSpecial(*fragment.token)});
        else if (const auto done = encodeText(text, fragment.range, tokens, stop); !done)
            return tl::unexpected(done.error());
    }
    if (options.addSpecial && m_vocabulary.addsEos)
        tokens.push_back({*m_vocabulary.eos, {text.size(), text.size()}, true});
    return tokens;
}

Result<void> ByteBpeTokenizer::encodeText(std::string_view text, TextRange range, std::vector<EncodedToken> &tokens,
                                          const StopFlag &stop) const
{
    const std::string_view part = text.substr(range.begin, range.end - range.begin);
    std::vector<Symbol> word;
    for (std::size_t begin = 0; begin < part.size();) {
        const std::size_t end = m_preTokenizer.wordEnd(part, begin);
        word.clear();
        for (std::size_t i = begin; i < end; ++i)
            if (const TokenId id = byteId(part[i]); id != kNoPiece)
                word.push_back({id, 1});
        if (stop.isRequested() || !mergeSymbols(m_merges, word, stop))
            return fail(ErrorCode::Cancelled, "tokenizing was stopped");
        std::size_t at = begin;
        for (const Symbol &symbol : word) {
            while (byteId(part[at]) == kNoPiece)
                ++at;
            const std::size_t first = range.begin + at;
            for (std::int32_t bytes = symbol.bytes; bytes > 0; ++at)
                bytes -= byteId(part[at]) != kNoPiece;
            tokens.push_back({symbol.id, {first, range.begin + at}, m_vocabulary.isSpecial(symbol.id)});
        }
        begin = end;
    }
    return {};
}

std::string ByteBpeTokenizer::bytes(TokenId id) const
{
    if (!m_vocabulary.contains(id))
        return {};
    const std::string &piece = m_vocabulary.pieces[static_cast<std::size_t>(id)];
    return m_vocabulary.kind(id) == TokenKind::Normal ? byteLevelBytes(piece) : piece;
}

std::string ByteBpeTokenizer::decode(std::span<const TokenId> ids, bool withSpecial) const
{
    std::string text;
    for (const TokenId id : ids) {
        if (m_vocabulary.contains(id) && (withSpecial || !m_vocabulary.isSpecial(id)))
            text += bytes(id);
    }
    return text;
}

} // namespace lectern
