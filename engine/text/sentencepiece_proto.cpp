// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/sentencepiece_proto.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace lectern {

namespace {

// Field numbers of sentencepiece_model.proto.
enum ModelField : std::uint32_t
{
    kPieces = 1,
    kTrainerSpec = 2,
    kNormalizerSpec = 3
};
enum PieceField : std::uint32_t
{
    kPiece = 1,
    kScore = 2,
    kKind = 3
};
enum TrainerField : std::uint32_t
{
    kModelType = 3,
    kByteFallback = 35
};
enum NormalizerField : std::uint32_t
{
    kName = 1,
    kCharsmap = 2,
    kSpacePrefix = 3,
    kExtraSpaces = 4,
    kEscapeSpaces = 5
};
constexpr std::uint64_t kBpe = 2;

enum class WireType : std::uint32_t
{
    Varint = 0,
    Fixed64 = 1,
    Bytes = 2,
    Fixed32 = 5
};

void writeVarint(std::string &out, std::uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}

void writeTag(std::string &out, std::uint32_t field, WireType type)
{
    writeVarint(out, field << 3 | static_cast<std::uint32_t>(type));
}

void writeNumber(std::string &out, std::uint32_t field, std::uint64_t value)
{
    writeTag(out, field, WireType::Varint);
    writeVarint(out, value);
}

void writeBytes(std::string &out, std::uint32_t field, std::string_view bytes)
{
    writeTag(out, field, WireType::Bytes);
    writeVarint(out, bytes.size());
    out += bytes;
}

void writeFloat(std::string &out, std::uint32_t field, float value)
{
    writeTag(out, field, WireType::Fixed32);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8)
        out += static_cast<char>(bits >> shift);
}

std::uint32_t littleEndian32(std::string_view bytes)
{
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
        value |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return value;
}

// One field after the other of a message; isBroken() after the end tells why it ended.
class MessageReader
{
public:
    explicit MessageReader(std::string_view bytes)
        : m_rest(bytes)
    {
    }

    std::uint32_t field = 0;
    WireType type = WireType::Varint;
    std::uint64_t number = 0; // value of a Varint or Fixed32 field
    std::string_view bytes;   // value of a Bytes field

    bool next()
    {
        if (m_rest.empty() || m_isBroken)
            return false;
        const std::uint64_t tag = takeVarint();
        field = static_cast<std::uint32_t>(tag >> 3);
        type = static_cast<WireType>(tag & 7);
        number = 0;
        bytes = {};
        switch (type) {
        case WireType::Varint:
            number = takeVarint();
            break;
        case WireType::Fixed64:
            take(8);
            break;
        case WireType::Fixed32:
            if (const std::string_view value = take(4); !m_isBroken)
                number = littleEndian32(value);
            break;
        case WireType::Bytes:
            bytes = take(takeVarint());
            break;
        default:
            m_isBroken = true;
        }
        m_isBroken = m_isBroken || field == 0;
        return !m_isBroken;
    }
    bool isBroken() const { return m_isBroken; }

private:
    std::string_view take(std::uint64_t count)
    {
        if (m_isBroken || count > m_rest.size()) {
            m_isBroken = true;
            return {};
        }
        const std::string_view taken = m_rest.substr(0, count);
        m_rest.remove_prefix(count);
        return taken;
    }

    std::uint64_t takeVarint()
    {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const std::string_view byte = take(1);
            if (m_isBroken)
                return 0;
            value |= std::uint64_t{static_cast<unsigned char>(byte[0]) & 0x7Fu} << shift;
            if ((static_cast<unsigned char>(byte[0]) & 0x80) == 0)
                return value;
        }
        m_isBroken = true;
        return 0;
    }

    std::string_view m_rest;
    bool m_isBroken = false;
};

bool readPiece(std::string_view message, SentencePieceEntry &entry)
{
    MessageReader reader(message);
    while (reader.next()) {
        if (reader.field == kPiece && reader.type == WireType::Bytes)
            entry.piece = reader.bytes;
        else if (reader.field == kScore && reader.type == WireType::Fixed32)
            entry.score = std::bit_cast<float>(static_cast<std::uint32_t>(reader.number));
        else if (reader.field == kKind && reader.type == WireType::Varint && reader.number >= 1 && reader.number <= 6)
            entry.kind = static_cast<TokenKind>(reader.number);
    }
    return !reader.isBroken() && !entry.piece.empty() && !std::isnan(entry.score);
}

bool readNormalizerSpec(std::string_view message, SentencePieceModel &model)
{
    MessageReader reader(message);
    while (reader.next()) {
        if (reader.field == kCharsmap)
            model.charsmap = reader.bytes;
        else if (reader.field == kSpacePrefix)
            model.addsSpacePrefix = reader.number != 0;
        else if (reader.field == kExtraSpaces)
            model.removesExtraSpaces = reader.number != 0;
    }
    return !reader.isBroken() && isValidCharsmap(model.charsmap);
}

} // namespace

std::string writeSentencePieceModel(const SentencePieceModel &model)
{
    std::string out;
    std::string message;
    for (const SentencePieceEntry &entry : model.pieces) {
        message.clear();
        writeBytes(message, kPiece, entry.piece);
        writeFloat(message, kScore, entry.score);
        writeNumber(message, kKind, static_cast<std::uint64_t>(entry.kind));
        writeBytes(out, kPieces, message);
    }
    message.clear();
    writeNumber(message, kModelType, kBpe);
    writeNumber(message, kByteFallback, model.hasByteFallback ? 1 : 0);
    writeBytes(out, kTrainerSpec, message);
    message.clear();
    writeBytes(message, kName, "from-gguf");
    writeBytes(message, kCharsmap, model.charsmap);
    writeNumber(message, kSpacePrefix, model.addsSpacePrefix ? 1 : 0);
    writeNumber(message, kExtraSpaces, model.removesExtraSpaces ? 1 : 0);
    writeNumber(message, kEscapeSpaces, 1);
    writeBytes(out, kNormalizerSpec, message);
    return out;
}

Result<SentencePieceModel> readSentencePieceModel(std::string_view bytes)
{
    SentencePieceModel model;
    MessageReader reader(bytes);
    bool isGood = true;
    while (isGood && reader.next()) {
        if (reader.field == kPieces)
            isGood = readPiece(reader.bytes, model.pieces.emplace_back());
        else if (reader.field == kNormalizerSpec)
            isGood = readNormalizerSpec(reader.bytes, model);
    }
    if (!isGood || reader.isBroken() || model.pieces.empty())
        return fail(ErrorCode::BadFormat, "this is not a SentencePiece model, or it is damaged");
    return model;
}

bool isValidCharsmap(std::string_view charsmap)
{
    if (charsmap.empty())
        return true;
    // u32 size, a double-array trie (darts-clone) of that many bytes, then the replacement texts, each ended by a zero
    // byte.
    constexpr std::size_t kUnitBytes = 4;
    constexpr std::size_t kBlock = 256; // units; a step changes only the position inside its block
    if (charsmap.size() < kUnitBytes)
        return false;
    const std::size_t trieBytes = littleEndian32(charsmap);
    charsmap.remove_prefix(kUnitBytes);
    if (trieBytes >= charsmap.size() || trieBytes == 0 || trieBytes % (kBlock * kUnitBytes) != 0 ||
        charsmap.back() != '\0')
        return false;
    const std::size_t units = trieBytes / kUnitBytes;
    const std::size_t textBytes = charsmap.size() - trieBytes;
    const auto unitAt = [charsmap](std::size_t index) {
        return littleEndian32(charsmap.substr(index * kUnitBytes, 4));
    };
    for (std::size_t i = 0; i < units; ++i) {
        const std::uint32_t unit = unitAt(i);
        if (unit >> 31 != 0)
            continue; // a value, never followed
        const std::size_t target = i ^ (std::size_t{unit >> 10} << ((unit & (1u << 9)) >> 6));
        const bool hasValue = (unit >> 8 & 1) != 0;
        if (target >= units || (hasValue && (unitAt(target) & 0x7FFFFFFFu) >= textBytes))
            return false;
    }
    return true;
}

} // namespace lectern
