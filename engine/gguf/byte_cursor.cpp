// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/gguf/byte_cursor.h"

#include <algorithm>
#include <bit>

namespace lectern {

static_assert(std::endian::native == std::endian::little, "GGUF numbers are read as they lie in memory");

namespace {
constexpr std::size_t kBufferBytes = std::size_t{256} << 10; // a vocabulary of 256,000 pieces is some 6 MB
} // namespace

ByteCursor::ByteCursor(const FileHandle &file)
    : m_file(file)
{
}

tl::unexpected<Error> ByteCursor::endsTooEarly(std::uint64_t needed) const
{
    return fail(ErrorCode::BadFormat,
                std::to_string(needed) + " bytes are needed at byte " + std::to_string(position()) +
                    ", the file ends at " + std::to_string(m_file.size()),
                m_file.path().string(), "The file is incomplete or damaged: fetch it again");
}

Result<void> ByteCursor::fill(std::size_t needed)
{
    if (needed > remaining())
        return endsTooEarly(needed);
    const std::uint64_t offset = position();
    m_buffer.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kBufferBytes, remaining())));
    m_bufferOffset = offset;
    m_bufferAt = 0;
    return m_file.readAt(offset, m_buffer);
}

Result<void> ByteCursor::bytes(std::span<std::byte> out)
{
    if (out.size() > remaining())
        return endsTooEarly(out.size());
    while (!out.empty()) {
        if (m_bufferAt == m_buffer.size()) {
            if (Result<void> filled = fill(1); !filled)
                return filled;
        }
        const std::size_t count = std::min(out.size(), m_buffer.size() - m_bufferAt);
        std::memcpy(out.data(), m_buffer.data() + m_bufferAt, count);
        m_bufferAt += count;
        out = out.subspan(count);
    }
    return {};
}

Result<std::string> ByteCursor::string(std::uint64_t limit)
{
    const std::uint64_t start = position();
    const Result<std::uint64_t> length = number<std::uint64_t>();
    if (!length)
        return tl::unexpected(length.error());
    if (*length > remaining())
        return endsTooEarly(*length);
    if (*length > limit) {
        return fail(ErrorCode::BadFormat,
                    "a text of " + std::to_string(*length) + " bytes at byte " + std::to_string(start) + ", at most " +
                        std::to_string(limit) + " are accepted",
                    m_file.path().string());
    }
    std::string text(static_cast<std::size_t>(*length), '\0');
    if (Result<void> done = bytes(std::as_writable_bytes(std::span(text))); !done)
        return tl::unexpected(done.error());
    return text;
}

} // namespace lectern
