// SPDX-License-Identifier: GPL-3.0-or-later
// From the bytes of a GGUF file to metadata and tensor directory, with every check that does not need to know what
// the model is. Internal to engine/gguf.
#pragma once

#include "engine/base/file_handle.h"
#include "engine/gguf/byte_cursor.h"
#include "engine/gguf/gguf_file.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lectern {

// A tree, not a hash table: names come from the file and could be chosen to collide.
using NameIndex = std::map<std::string, std::size_t, std::less<>>;

struct ParsedGguf
{
    std::uint32_t version = 0;
    std::vector<GgufEntry> entries;
    std::vector<TensorInfo> tensors;
    NameIndex entryIndex;
    NameIndex tensorIndex;
};

Result<ParsedGguf> parseGguf(const FileHandle &file);

// gguf_values.cpp. Numbers of the value types in the file.
enum class ValueType : std::uint32_t
{
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    String,
    Array,
    U64,
    I64,
    F64
};

// Reads one value. `memoryLeft` is what decoded values may still take; it shrinks by what this one takes.
Result<GgufValue> readGgufValue(ByteCursor &cursor, ValueType type, std::uint64_t &memoryLeft);

// gguf_tensors.cpp. Reads `count` tensor descriptions, places them behind the padding of `alignment`, and checks types,
// sizes and ranges.
Result<std::vector<TensorInfo>> readTensorDirectory(ByteCursor &cursor, const FileHandle &file, std::uint64_t count,
                                                    std::uint64_t alignment, NameIndex &index);

// Takes `bytes` from what decoded metadata may still use; fails when too little is left.
Result<void> takeMemory(std::uint64_t &memoryLeft, std::uint64_t bytes);

// The error with the place where it happened in front of its message: "key x at byte 24: ...".
tl::unexpected<Error> within(const std::string &place, Error error);

} // namespace lectern
