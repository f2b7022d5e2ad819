// SPDX-License-Identifier: GPL-3.0-or-later
// Writes small GGUF files for tests, right ones and wrong ones. Layout: ggml docs/gguf.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lectern::test {

class GgufWriter
{
public:
    GgufWriter &setVersion(std::uint32_t version);
    GgufWriter &setAlignment(std::uint32_t alignment); // used for the layout and written as general.alignment

    GgufWriter &addU32(std::string_view key, std::uint32_t value);
    GgufWriter &addU64(std::string_view key, std::uint64_t value);
    GgufWriter &addI32(std::string_view key, std::int32_t value);
    GgufWriter &addF32(std::string_view key, float value);
    GgufWriter &addBool(std::string_view key, bool value);
    GgufWriter &addText(std::string_view key, std::string_view value);
    GgufWriter &addTexts(std::string_view key, const std::vector<std::string> &values);
    GgufWriter &addFloats(std::string_view key, const std::vector<float> &values);
    GgufWriter &addI32s(std::string_view key, const std::vector<std::int32_t> &values);
    // Any value type with the bytes that follow it.
    GgufWriter &addRaw(std::string_view key, std::uint32_t valueType, std::string_view bytes);

    // `shape` fastest dimension first. Without `offset` the tensor is placed behind the one before.
    GgufWriter &addTensor(std::string_view name, const std::vector<std::uint64_t> &shape, std::uint32_t typeId,
                          std::string data, std::optional<std::uint64_t> offset = std::nullopt);

    std::string bytes() const;

private:
    struct Tensor
    {
        std::string name;
        std::vector<std::uint64_t> shape;
        std::uint32_t typeId;
        std::string data;
        std::optional<std::uint64_t> offset;
    };

    std::uint32_t m_version = 3;
    std::uint32_t m_alignment = 32;
    std::uint64_t m_entryCount = 0;
    std::string m_entries;
    std::vector<Tensor> m_tensors;
};

// A number as its little-endian bytes; a text as GGUF stores it.
std::string u32Bytes(std::uint32_t value);
std::string u64Bytes(std::uint64_t value);
std::string f32Bytes(float value);
std::string textBytes(std::string_view text);

} // namespace lectern::test
