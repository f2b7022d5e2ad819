// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/gguf/gguf_parser.h"

#include "engine/base/utf8.h"

#include <array>
#include <bit>

namespace lectern {

namespace {

constexpr std::uint64_t kMaxEntries = std::uint64_t{64} << 10;
constexpr std::uint64_t kMaxTensors = std::uint64_t{64} << 10;
constexpr std::uint64_t kMaxKeyBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kMaxMetadataMemory = std::uint64_t{1} << 30;
constexpr std::uint64_t kLeastEntryBytes = 8 + 1 + 4 + 1; // key of one letter, type, one byte
constexpr std::uint64_t kLeastTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;
constexpr std::uint64_t kDefaultAlignment = 32;
constexpr std::string_view kAlignmentKey = "general.alignment";

struct Counts
{
    std::uint32_t version = 0;
    std::uint64_t tensors = 0;
    std::uint64_t entries = 0;
};

tl::unexpected<Error> notGguf(const FileHandle &file, const std::string &why)
{
    return fail(ErrorCode::BadFormat, "not a GGUF file: " + why, file.path().string(), "Choose a .gguf model file");
}

Result<void> checkMagic(ByteCursor &cursor, const FileHandle &file)
{
    if (file.size() == 0)
        return notGguf(file, "the file is empty");
    std::string magic(static_cast<std::size_t>(std::min<std::uint64_t>(4, file.size())), '\0');
    if (Result<void> read = cursor.bytes(std::as_writable_bytes(std::span(magic))); !read)
        return read;
    if (magic == "GGUF")
        return {};
    if (magic[0] == '<')
        return notGguf(file, "it begins like a web page");
    if (magic == "ggml" || magic == "lmgg" || magic == "fmgg" || magic == "tjgg")
        return notGguf(file, "it has the older format GGML");
    return notGguf(file, "it begins with \"" + printableText(magic) + "\" instead of \"GGUF\"");
}

Result<Counts> readHeader(ByteCursor &cursor, const FileHandle &file)
{
    if (Result<void> magic = checkMagic(cursor, file); !magic)
        return tl::unexpected(magic.error());

    Counts counts;
    const Result<std::uint32_t> version = cursor.number<std::uint32_t>();
    if (!version)
        return tl::unexpected(version.error());
    counts.version = *version;
    if ((*version & 0xFFFFu) == 0 && *version != 0) {
        return fail(ErrorCode::Unsupported, "the file was written for a big-endian machine", file.path().string(),
                    "Get the little-endian file of this model");
    }
    if (*version != 2 && *version != 3) {
        return fail(ErrorCode::Unsupported,
                    "GGUF version " + std::to_string(*version) + " is not supported, versions 2 and 3 are",
                    file.path().string(),
                    *version > 3 ? "Use a newer version of this program" : "Get a newer file of this model");
    }

    const Result<std::uint64_t> tensors = cursor.number<std::uint64_t>();
    if (!tensors)
        return tl::unexpected(tensors.error());
    const Result<std::uint64_t> entries = cursor.number<std::uint64_t>();
    if (!entries)
        return tl::unexpected(entries.error());
    counts.tensors = *tensors;
    counts.entries = *entries;

    const auto refuse = [&](std::uint64_t count, std::uint64_t limit, const char *what) {
        return fail(ErrorCode::BadFormat,
                    "the header announces " + std::to_string(count) + " " + what + ", " +
                        (count > limit
                             ? "at most " + std::to_string(limit) + " are accepted"
                             : "more than fit into the " + std::to_string(cursor.remaining()) + " bytes left"),
                    file.path().string(), "The file is incomplete or damaged: fetch it again");
    };
    if (counts.tensors > kMaxTensors || counts.tensors * kLeastTensorBytes > cursor.remaining())
        return refuse(counts.tensors, kMaxTensors, "tensors");
    if (counts.entries > kMaxEntries || counts.entries * kLeastEntryBytes > cursor.remaining())
        return refuse(counts.entries, kMaxEntries, "metadata keys");
    return counts;
}

Result<GgufEntry> readEntry(ByteCursor &cursor, const FileHandle &file, std::uint64_t &memoryLeft)
{
    const std::uint64_t start = cursor.position();
    GgufEntry entry;
    Result<std::string> key = cursor.string(kMaxKeyBytes);
    if (!key)
        return within("key at byte " + std::to_string(start), key.error());
    entry.key = std::move(*key);

    const std::string place = "key " + printableText(entry.key) + " at byte " + std::to_string(start);
    const auto refuse = [&](const std::string &message) {
        return fail(ErrorCode::BadFormat, place + ": " + message, file.path().string());
    };
    if (entry.key.empty())
        return refuse("the key is empty");
    if (const Result<void> taken = takeMemory(memoryLeft, 2 * (entry.key.size() + sizeof entry)); !taken)
        return refuse(taken.error().message); // twice: the index holds a copy
    const Result<std::uint32_t> type = cursor.number<std::uint32_t>();
    if (!type)
        return within(place, type.error());
    if (entry.key == kAlignmentKey && static_cast<ValueType>(*type) != ValueType::U32)
        return refuse("its value type is " + std::to_string(*type) + ", 4 (u32) is expected");
    Result<GgufValue> value = readGgufValue(cursor, static_cast<ValueType>(*type), memoryLeft);
    if (!value) {
        Error error = value.error();
        error.where = file.path().string();
        return within(place, std::move(error));
    }
    entry.value = std::move(*value);
    return entry;
}

Result<std::uint64_t> readAlignment(const ParsedGguf &parsed, const FileHandle &file)
{
    const auto found = parsed.entryIndex.find(kAlignmentKey);
    if (found == parsed.entryIndex.end())
        return kDefaultAlignment;
    const std::uint64_t alignment = std::get<std::uint64_t>(parsed.entries[found->second].value);
    if (alignment < 8 || alignment > (64 << 10) || !std::has_single_bit(alignment)) {
        return fail(ErrorCode::BadFormat,
                    "key general.alignment: " + std::to_string(alignment) +
                        " is refused, a power of two from 8 to 65536 is expected",
                    file.path().string());
    }
    return alignment;
}

} // namespace

tl::unexpected<Error> within(const std::string &place, Error error)
{
    error.message = place + ": " + error.message;
    return tl::unexpected<Error>(std::move(error));
}

Result<ParsedGguf> parseGguf(const FileHandle &file)
{
    ByteCursor cursor(file);
    const Result<Counts> counts = readHeader(cursor, file);
    if (!counts)
        return tl::unexpected(counts.error());

    ParsedGguf parsed;
    parsed.version = counts->version;
    std::uint64_t memoryLeft = kMaxMetadataMemory;
    for (std::uint64_t i = 0; i < counts->entries; ++i) {
        Result<GgufEntry> entry = readEntry(cursor, file, memoryLeft);
        if (!entry)
            return tl::unexpected(entry.error());
        if (!parsed.entryIndex.emplace(entry->key, parsed.entries.size()).second) {
            return fail(ErrorCode::BadFormat, "key " + printableText(entry->key) + " is there twice",
                        file.path().string());
        }
        parsed.entries.push_back(std::move(*entry));
    }

    const Result<std::uint64_t> alignment = readAlignment(parsed, file);
    if (!alignment)
        return tl::unexpected(alignment.error());
    Result<std::vector<TensorInfo>> tensors =
        readTensorDirectory(cursor, file, counts->tensors, *alignment, parsed.tensorIndex);
    if (!tensors)
        return tl::unexpected(tensors.error());
    parsed.tensors = std::move(*tensors);
    return parsed;
}

} // namespace lectern
