// SPDX-License-Identifier: GPL-3.0-or-later
// Reader of GGUF files, versions 2 and 3 (ggml docs/gguf.md). Nothing else in the project parses model bytes.
//
// A file is read through a bounds-checked cursor, never mapped: every length is compared with the bytes left before
// anything is allocated. Errors name key, byte offset and tensor. Thread: a GgufFile is immutable once open; read() may
// be called from several threads.
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lectern {

// All integer widths of the file widen to int64 or uint64 (writers differ in the width they choose).
using GgufValue = std::variant<bool, std::uint64_t, std::int64_t, double, std::string, std::vector<bool>,
                               std::vector<std::int64_t>, std::vector<float>, std::vector<std::string>>;

struct GgufEntry
{
    std::string key;
    GgufValue value;
};

struct TensorInfo
{
    std::string name;
    std::vector<std::uint64_t> shape; // fastest dimension first, 1 to 4 entries, each >= 1
    std::uint32_t typeId = 0;         // ggml type number; may be unknown to this version
    std::uint64_t fileOffset = 0;     // absolute
    std::uint64_t bytes = 0;          // 0 when the type is unknown

    std::uint64_t columns() const { return shape.empty() ? 0 : shape[0]; }
    std::uint64_t rows() const; // product of the other dimensions
};

// "[576, 49152]", fastest dimension first as the file has it.
std::string shapeText(std::span<const std::uint64_t> shape);

class GgufFile
{
public:
    GgufFile(GgufFile &&) noexcept;
    GgufFile &operator=(GgufFile &&) noexcept;
    ~GgufFile();

    // Limits: 64 Ki keys and tensors, strings 16 MiB, arrays 16 Mi elements (not nested), alignment a power of
    // two 8..64 Ki, unique keys and tensor names, tensor ranges aligned, disjoint and inside the file.
    static Result<GgufFile> open(const std::filesystem::path &path);

    const std::filesystem::path &path() const;
    std::uint64_t fileBytes() const;
    std::uint32_t version() const;

    const std::vector<GgufEntry> &entries() const; // in file order
    const GgufValue *find(std::string_view key) const;

    // Typed access. The plain forms fail with NotFound or BadFormat naming the key; the *Or forms return the fallback
    // when the key is absent and still fail when it has another type or does not fit.
    Result<std::uint64_t> uintValue(std::string_view key) const;
    Result<double> floatValue(std::string_view key) const;
    Result<std::string> stringValue(std::string_view key) const;
    Result<std::uint64_t> uintOr(std::string_view key, std::uint64_t fallback) const;
    Result<bool> boolOr(std::string_view key, bool fallback) const;
    Result<std::string> stringOr(std::string_view key, std::string_view fallback) const;
    // nullptr when absent or of another type.
    const std::vector<std::string> *strings(std::string_view key) const;
    const std::vector<float> *floats(std::string_view key) const;
    const std::vector<std::int64_t> *integers(std::string_view key) const;

    const std::vector<TensorInfo> &tensors() const;
    const TensorInfo *findTensor(std::string_view name) const;

    // Reads bytes [offset, offset + out.size()) of a tensor's data.
    Result<void> read(const TensorInfo &tensor, std::uint64_t offset, std::span<std::byte> out) const;

private:
    struct Content;
    GgufFile();
    std::unique_ptr<Content> m_content;
};

} // namespace lectern
