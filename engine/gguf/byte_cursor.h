// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a file from front to back through a buffer. Every length is compared with the bytes left before anything is
// allocated, so a hostile file costs no more memory than it has bytes. Errors name the byte offset.
#pragma once

#include "engine/base/file_handle.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace lectern {

class ByteCursor
{
public:
    // `file` must outlive the cursor.
    explicit ByteCursor(const FileHandle &file);

    std::uint64_t position() const { return m_bufferOffset + m_bufferAt; }
    std::uint64_t remaining() const { return m_file.size() - position(); }

    // A little-endian integer or IEEE float of the width of T.
    template <class T>
    Result<T> number()
    {
        static_assert(std::is_arithmetic_v<T>);
        T value;
        if (m_buffer.size() - m_bufferAt < sizeof value) {
            if (Result<void> filled = fill(sizeof value); !filled)
                return tl::unexpected(filled.error());
        }
        std::memcpy(&value, m_buffer.data() + m_bufferAt, sizeof value);
        m_bufferAt += sizeof value;
        return value;
    }

    // u64 length, then that many bytes; `limit` is the longest accepted.
    Result<std::string> string(std::uint64_t limit);

    // Fills `out`, whose size the caller has compared with remaining().
    Result<void> bytes(std::span<std::byte> out);

private:
    Result<void> fill(std::size_t needed); // at most kBufferBytes
    tl::unexpected<Error> endsTooEarly(std::uint64_t needed) const;

    const FileHandle &m_file;
    std::vector<std::byte> m_buffer; // bytes of the file from m_bufferOffset on
    std::uint64_t m_bufferOffset = 0;
    std::size_t m_bufferAt = 0; // next byte inside the buffer
};

} // namespace lectern
