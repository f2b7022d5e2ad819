// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/gguf/gguf_file.h"

#include "engine/base/utf8.h"
#include "engine/gguf/gguf_parser.h"

#include <new>
#include <optional>

namespace lectern {

struct GgufFile::Content
{
    FileHandle file;
    ParsedGguf parsed;
};

namespace {

// What a value is, as messages name it; in the order of GgufValue.
const char *kindOf(const GgufValue &value)
{
    static constexpr const char *kKinds[] = {"a truth value",
                                             "a whole number",
                                             "a whole number",
                                             "a decimal number",
                                             "a text",
                                             "an array of truth values",
                                             "an array of whole numbers",
                                             "an array of decimal numbers",
                                             "an array of texts"};
    static_assert(std::size(kKinds) == std::variant_size_v<GgufValue>);
    return kKinds[value.index()];
}

// The conversions that a typed access allows: the exact type; for whole numbers any that is not negative.
template <class T>
std::optional<T> convert(const GgufValue &value)
{
    if (const T *exact = std::get_if<T>(&value))
        return *exact;
    if constexpr (std::is_same_v<T, std::uint64_t>) {
        const std::int64_t *number = std::get_if<std::int64_t>(&value);
        if (number && *number >= 0)
            return static_cast<std::uint64_t>(*number);
    }
    return std::nullopt;
}

// `fallback` null: the key must be there.
template <class T>
Result<T> typed(const GgufFile &file, std::string_view key, const T *fallback, const char *expected)
{
    const GgufValue *value = file.find(key);
    if (!value && fallback)
        return *fallback;
    if (!value)
        return fail(ErrorCode::NotFound, "key " + std::string(key) + " is missing", file.path().string());
    if (std::optional<T> converted = convert<T>(*value))
        return std::move(*converted);
    std::string found = kindOf(*value);
    if (const std::int64_t *number = std::get_if<std::int64_t>(value))
        found = std::to_string(*number);
    return fail(ErrorCode::BadFormat, "key " + std::string(key) + ": found " + found + ", expected " + expected,
                file.path().string());
}

constexpr const char *kWholeNumber = "a whole number that is not negative";
constexpr const char *kDecimal = "a decimal number";
constexpr const char *kTruth = "a truth value";
constexpr const char *kText = "a text";

} // namespace

std::uint64_t TensorInfo::rows() const
{
    std::uint64_t count = shape.empty() ? 0 : 1;
    for (std::size_t i = 1; i < shape.size(); ++i)
        count *= shape[i];
    return count;
}

std::string shapeText(std::span<const std::uint64_t> shape)
{
    std::string text = "[";
    for (const std::uint64_t dimension : shape)
        text += (text.size() > 1 ? ", " : "") + std::to_string(dimension);
    return text + "]";
}

GgufFile::GgufFile() = default;
GgufFile::GgufFile(GgufFile &&) noexcept = default;
GgufFile &GgufFile::operator=(GgufFile &&) noexcept = default;
GgufFile::~GgufFile() = default;

Result<GgufFile> GgufFile::open(const std::filesystem::path &path)
{
    Result<FileHandle> handle = FileHandle::open(path);
    if (!handle)
        return tl::unexpected(handle.error());
    try {
        Result<ParsedGguf> parsed = parseGguf(*handle);
        if (!parsed)
            return tl::unexpected(parsed.error());
        GgufFile file;
        file.m_content = std::make_unique<Content>(Content{std::move(*handle), std::move(*parsed)});
        return file;
    } catch (const std::bad_alloc &) {
        return fail(ErrorCode::OutOfMemory, "too little memory for the metadata of this file", path.string());
    }
}

const std::filesystem::path &GgufFile::path() const
{
    return m_content->file.path();
}

std::uint64_t GgufFile::fileBytes() const
{
    return m_content->file.size();
}

std::uint32_t GgufFile::version() const
{
    return m_content->parsed.version;
}

const std::vector<GgufEntry> &GgufFile::entries() const
{
    return m_content->parsed.entries;
}

const GgufValue *GgufFile::find(std::string_view key) const
{
    const auto found = m_content->parsed.entryIndex.find(key);
    return found == m_content->parsed.entryIndex.end() ? nullptr : &m_content->parsed.entries[found->second].value;
}

Result<std::uint64_t> GgufFile::uintValue(std::string_view key) const
{
    return typed<std::uint64_t>(*this, key, nullptr, kWholeNumber);
}

Result<double> GgufFile::floatValue(std::string_view key) const
{
    return typed<double>(*this, key, nullptr, kDecimal);
}

Result<std::string> GgufFile::stringValue(std::string_view key) const
{
    return typed<std::string>(*this, key, nullptr, kText);
}

Result<std::uint64_t> GgufFile::uintOr(std::string_view key, std::uint64_t fallback) const
{
    return typed<std::uint64_t>(*this, key, &fallback, kWholeNumber);
}

Result<bool> GgufFile::boolOr(std::string_view key, bool fallback) const
{
    return typed<bool>(*this, key, &fallback, kTruth);
}

Result<std::string> GgufFile::stringOr(std::string_view key, std::string_view fallback) const
{
    const std::string text(fallback);
    return typed<std::string>(*this, key, &text, kText);
}

const std::vector<std::string> *GgufFile::strings(std::string_view key) const
{
    const GgufValue *value = find(key);
    return value ? std::get_if<std::vector<std::string>>(value) : nullptr;
}

const std::vector<float> *GgufFile::floats(std::string_view key) const
{
    const GgufValue *value = find(key);
    return value ? std::get_if<std::vector<float>>(value) : nullptr;
}

const std::vector<std::int64_t> *GgufFile::integers(std::string_view key) const
{
    const GgufValue *value = find(key);
    return value ? std::get_if<std::vector<std::int64_t>>(value) : nullptr;
}

const std::vector<TensorInfo> &GgufFile::tensors() const
{
    return m_content->parsed.tensors;
}

const TensorInfo *GgufFile::findTensor(std::string_view name) const
{
    const auto found = m_content->parsed.tensorIndex.find(name);
    return found == m_content->parsed.tensorIndex.end() ? nullptr : &m_content->parsed.tensors[found->second];
}

Result<void> GgufFile::read(const TensorInfo &tensor, std::uint64_t offset, std::span<std::byte> out) const
{
    if (offset > tensor.bytes || out.size() > tensor.bytes - offset) {
        return fail(ErrorCode::InvalidInput,
                    "tensor " + printableText(tensor.name) + " has " + std::to_string(tensor.bytes) + " bytes; byte " +
                        std::to_string(offset) + " and " + std::to_string(out.size()) +
                        " bytes from there were asked for",
                    path().string());
    }
    if (const Result<void> done = m_content->file.readAt(tensor.fileOffset + offset, out); !done)
        return within("tensor " + printableText(tensor.name), done.error());
    return {};
}

} // namespace lectern
