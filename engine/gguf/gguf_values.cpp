// SPDX-License-Identifier: GPL-3.0-or-later
// Metadata values. All integers widen to 64 bits, since writers differ in the width that they choose.
#include "engine/gguf/gguf_parser.h"

#include <limits>

namespace lectern {

namespace {

constexpr std::uint64_t kMaxStringBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kMaxArrayElements = std::uint64_t{16} << 20;

tl::unexpected<Error> badValue(std::string message, std::string remedy = {})
{
    return fail(ErrorCode::BadFormat, std::move(message), {}, std::move(remedy));
}

Result<bool> readBool(ByteCursor &cursor)
{
    const Result<std::uint8_t> byte = cursor.number<std::uint8_t>();
    if (!byte)
        return tl::unexpected(byte.error());
    if (*byte > 1)
        return badValue("the truth value is " + std::to_string(*byte) + ", only 0 and 1 are allowed");
    return *byte == 1;
}

// One number of type Stored, widened to Wide.
template <class Stored, class Wide>
Result<GgufValue> readNumber(ByteCursor &cursor)
{
    const Result<Stored> value = cursor.number<Stored>();
    if (!value)
        return tl::unexpected(value.error());
    return GgufValue(static_cast<Wide>(*value));
}

// An array of numbers of type Stored, widened to Wide. `count` elements are known to be in the file.
template <class Stored, class Wide>
Result<GgufValue> readNumbers(ByteCursor &cursor, std::uint64_t count)
{
    std::vector<Wide> values;
    values.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) {
        const Result<Stored> value = cursor.number<Stored>();
        if (!value)
            return tl::unexpected(value.error());
        if constexpr (std::is_same_v<Stored, std::uint64_t>) {
            if (*value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
                return badValue("element " + std::to_string(i) + " is " + std::to_string(*value) + ", too large");
        }
        values.push_back(static_cast<Wide>(*value));
    }
    return GgufValue(std::move(values));
}

Result<GgufValue> readBools(ByteCursor &cursor, std::uint64_t count)
{
    std::vector<bool> values;
    values.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) {
        const Result<bool> value = readBool(cursor);
        if (!value)
            return tl::unexpected(value.error());
        values.push_back(*value);
    }
    return GgufValue(std::move(values));
}

Result<GgufValue> readStrings(ByteCursor &cursor, std::uint64_t count, std::uint64_t &memoryLeft)
{
    std::vector<std::string> values;
    values.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) {
        Result<std::string> value = cursor.string(kMaxStringBytes);
        if (!value)
            return tl::unexpected(value.error());
        if (const Result<void> taken = takeMemory(memoryLeft, value->size()); !taken)
            return tl::unexpected(taken.error());
        values.push_back(std::move(*value));
    }
    return GgufValue(std::move(values));
}

struct ElementSize
{
    std::uint64_t stored;  // least bytes in the file
    std::uint64_t decoded; // bytes in memory
};

ElementSize elementSize(ValueType type)
{
    switch (type) {
    case ValueType::U8:
    case ValueType::I8:
        return {1, 8};
    case ValueType::U16:
    case ValueType::I16:
        return {2, 8};
    case ValueType::U32:
    case ValueType::I32:
        return {4, 8};
    case ValueType::F32:
        return {4, 4};
    case ValueType::F64:
        return {8, 4};
    case ValueType::Bool:
        return {1, 1};
    case ValueType::String:
        return {8, sizeof(std::string)};
    default:
        return {8, 8};
    }
}

Result<GgufValue> readArray(ByteCursor &cursor, std::uint64_t &memoryLeft)
{
    const Result<std::uint32_t> typeNumber = cursor.number<std::uint32_t>();
    if (!typeNumber)
        return tl::unexpected(typeNumber.error());
    const Result<std::uint64_t> count = cursor.number<std::uint64_t>();
    if (!count)
        return tl::unexpected(count.error());
    const auto type = static_cast<ValueType>(*typeNumber);
    if (type == ValueType::Array)
        return badValue("arrays inside an array are not supported");
    if (type > ValueType::F64)
        return badValue("elements of the unknown value type " + std::to_string(*typeNumber));
    if (*count > kMaxArrayElements) {
        return badValue("an array of " + std::to_string(*count) + " elements, at most " +
                        std::to_string(kMaxArrayElements) + " are accepted");
    }
    const ElementSize size = elementSize(type);
    if (*count * size.stored > cursor.remaining()) {
        return badValue("an array of " + std::to_string(*count) + " elements needs at least " +
                            std::to_string(*count * size.stored) + " bytes, " + std::to_string(cursor.remaining()) +
                            " are left in the file",
                        "The file is incomplete or damaged: fetch it again");
    }
    if (const Result<void> taken = takeMemory(memoryLeft, *count * size.decoded); !taken)
        return tl::unexpected(taken.error());

    switch (type) {
    case ValueType::U8:
        return readNumbers<std::uint8_t, std::int64_t>(cursor, *count);
    case ValueType::I8:
        return readNumbers<std::int8_t, std::int64_t>(cursor, *count);
    case ValueType::U16:
        return readNumbers<std::uint16_t, std::int64_t>(cursor, *count);
    case ValueType::I16:
        return readNumbers<std::int16_t, std::int64_t>(cursor, *count);
    case ValueType::U32:
        return readNumbers<std::uint32_t, std::int64_t>(cursor, *count);
    case ValueType::I32:
        return readNumbers<std::int32_t, std::int64_t>(cursor, *count);
    case ValueType::U64:
        return readNumbers<std::uint64_t, std::int64_t>(cursor, *count);
    case ValueType::I64:
        return readNumbers<std::int64_t, std::int64_t>(cursor, *count);
    case ValueType::F32:
        return readNumbers<float, float>(cursor, *count);
    case ValueType::F64:
        return readNumbers<double, float>(cursor, *count);
    case ValueType::Bool:
        return readBools(cursor, *count);
    default:
        return readStrings(cursor, *count, memoryLeft);
    }
}

} // namespace

Result<void> takeMemory(std::uint64_t &memoryLeft, std::uint64_t bytes)
{
    if (bytes > memoryLeft)
        return fail(ErrorCode::BadFormat, "the metadata are larger than 1 GiB");
    memoryLeft -= bytes;
    return {};
}

Result<GgufValue> readGgufValue(ByteCursor &cursor, ValueType type, std::uint64_t &memoryLeft)
{
    switch (type) {
    case ValueType::U8:
        return readNumber<std::uint8_t, std::uint64_t>(cursor);
    case ValueType::U16:
        return readNumber<std::uint16_t, std::uint64_t>(cursor);
    case ValueType::U32:
        return readNumber<std::uint32_t, std::uint64_t>(cursor);
    case ValueType::U64:
        return readNumber<std::uint64_t, std::uint64_t>(cursor);
    case ValueType::I8:
        return readNumber<std::int8_t, std::int64_t>(cursor);
    case ValueType::I16:
        return readNumber<std::int16_t, std::int64_t>(cursor);
    case ValueType::I32:
        return readNumber<std::int32_t, std::int64_t>(cursor);
    case ValueType::I64:
        return readNumber<std::int64_t, std::int64_t>(cursor);
    case ValueType::F32:
        return readNumber<float, double>(cursor);
    case ValueType::F64:
        return readNumber<double, double>(cursor);
    case ValueType::Bool:
        return readBool(cursor).map([](bool value) { return GgufValue(value); });
    case ValueType::String: {
        Result<std::string> text = cursor.string(kMaxStringBytes);
        if (!text)
            return tl::unexpected(text.error());
        if (const Result<void> taken = takeMemory(memoryLeft, text->size()); !taken)
            return tl::unexpected(taken.error());
        return GgufValue(std::move(*text));
    }
    case ValueType::Array:
        return readArray(cursor, memoryLeft);
    }
    return badValue("unknown value type " + std::to_string(static_cast<std::uint32_t>(type)));
}

} // namespace lectern
