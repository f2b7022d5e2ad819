// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/gguf_writer.h"

#include <bit>

namespace lectern::test {

namespace {

enum ValueType : std::uint32_t
{
    U32 = 4,
    I32 = 5,
    F32 = 6,
    Bool = 7,
    Text = 8,
    Array = 9,
    U64 = 10
};

std::string littleEndian(std::uint64_t value, int bytes)
{
    std::string text;
    for (int i = 0; i < bytes; ++i)
        text += static_cast<char>(value >> (8 * i) & 0xFF);
    return text;
}

void padTo(std::string &text, std::uint64_t alignment)
{
    if (alignment != 0)
        text.resize((text.size() + alignment - 1) / alignment * alignment, '\0');
}

std::string arrayHead(ValueType type, std::size_t count)
{
    return u32Bytes(type) + u64Bytes(count);
}

} // namespace

std::string u32Bytes(std::uint32_t value)
{
    return littleEndian(value, 4);
}

std::string u64Bytes(std::uint64_t value)
{
    return littleEndian(value, 8);
}

std::string f32Bytes(float value)
{
    return u32Bytes(std::bit_cast<std::uint32_t>(value));
}

std::string textBytes(std::string_view text)
{
    return u64Bytes(text.size()) + std::string(text);
}

GgufWriter &GgufWriter::setVersion(std::uint32_t version)
{
    m_version = version;
    return *this;
}

GgufWriter &GgufWriter::setAlignment(std::uint32_t alignment)
{
    m_alignment = alignment;
    return addU32("general.alignment", alignment);
}

GgufWriter &GgufWriter::addRaw(std::string_view key, std::uint32_t valueType, std::string_view bytes)
{
    m_entries += textBytes(key) + u32Bytes(valueType);
    m_entries += bytes;
    ++m_entryCount;
    return *this;
}

GgufWriter &GgufWriter::addU32(std::string_view key, std::uint32_t value)
{
    return addRaw(key, U32, u32Bytes(value));
}

GgufWriter &GgufWriter::addU64(std::string_view key, std::uint64_t value)
{
    return addRaw(key, U64, u64Bytes(value));
}

GgufWriter &GgufWriter::addI32(std::string_view key, std::int32_t value)
{
    return addRaw(key, I32, u32Bytes(static_cast<std::uint32_t>(value)));
}

GgufWriter &GgufWriter::addF32(std::string_view key, float value)
{
    return addRaw(key, F32, f32Bytes(value));
}

GgufWriter &GgufWriter::addBool(std::string_view key, bool value)
{
    return addRaw(key, Bool, std::string(1, value ? '\1' : '\0'));
}

GgufWriter &GgufWriter::addText(std::string_view key, std::string_view value)
{
    return addRaw(key, Text, textBytes(value));
}

GgufWriter &GgufWriter::addTexts(std::string_view key, const std::vector<std::string> &values)
{
    std::string bytes = arrayHead(Text, values.size());
    for (const std::string &value : values)
        bytes += textBytes(value);
    return addRaw(key, Array, bytes);
}

GgufWriter &GgufWriter::addFloats(std::string_view key, const std::vector<float> &values)
{
    std::string bytes = arrayHead(F32, values.size());
    for (const float value : values)
        bytes += f32Bytes(value);
    return addRaw(key, Array, bytes);
}

GgufWriter &GgufWriter::addI32s(std::string_view key, const std::vector<std::int32_t> &values)
{
    std::string bytes = arrayHead(I32, values.size());
    for (const std::int32_t value : values)
        bytes += u32Bytes(static_cast<std::uint32_t>(value));
    return addRaw(key, Array, bytes);
}

GgufWriter &GgufWriter::addTensor(std::string_view name, const std::vector<std::uint64_t> &shape, std::uint32_t typeId,
                                  std::string data, std::optional<std::uint64_t> offset)
{
    m_tensors.push_back({std::string(name), shape, typeId, std::move(data), offset});
    return *this;
}

std::string GgufWriter::bytes() const
{
    std::string file = "GGUF" + u32Bytes(m_version) + u64Bytes(m_tensors.size()) + u64Bytes(m_entryCount) + m_entries;
    std::string data;
    for (const Tensor &tensor : m_tensors) {
        file += textBytes(tensor.name) + u32Bytes(static_cast<std::uint32_t>(tensor.shape.size()));
        for (const std::uint64_t dimension : tensor.shape)
            file += u64Bytes(dimension);
        file += u32Bytes(tensor.typeId) + u64Bytes(tensor.offset.value_or(data.size()));
        data += tensor.data;
        padTo(data, m_alignment);
    }
    if (!m_tensors.empty())
        padTo(file, m_alignment);
    return file + data;
}

} // namespace lectern::test
