// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/aligned_buffer.h"

#include <cstdint>
#include <sys/mman.h>
#include <utility>

namespace lectern {

namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kHugePageBytes = 2u << 20;
constexpr std::size_t kLargeBytes = 2 * kHugePageBytes; // below this a huge page would mostly be padding

std::size_t roundUp(std::size_t bytes, std::size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

} // namespace

AlignedBuffer::AlignedBuffer(AlignedBuffer &&other) noexcept
    : m_data(std::exchange(other.m_data, nullptr))
    , m_size(std::exchange(other.m_size, 0))
    , m_mappedBytes(std::exchange(other.m_mappedBytes, 0))
{
}

AlignedBuffer &AlignedBuffer::operator=(AlignedBuffer &&other) noexcept
{
    std::swap(m_data, other.m_data);
    std::swap(m_size, other.m_size);
    std::swap(m_mappedBytes, other.m_mappedBytes);
    return *this;
}

AlignedBuffer::~AlignedBuffer()
{
    if (m_mappedBytes != 0)
        munmap(m_data, m_mappedBytes);
}

Result<AlignedBuffer> AlignedBuffer::create(std::size_t bytes)
{
    AlignedBuffer buffer;
    if (bytes == 0)
        return buffer;
    const auto outOfMemory = [bytes] {
        return fail(ErrorCode::OutOfMemory,
                    "the system could not reserve " + std::to_string(bytes) + " bytes of memory", {},
                    "Close other programs or choose a smaller model, context or KV budget.");
    };
    if (bytes > SIZE_MAX / 2)
        return outOfMemory();

    const bool isLarge = bytes >= kLargeBytes;
    const std::size_t wanted = roundUp(bytes, isLarge ? kHugePageBytes : kPageBytes);
    const std::size_t mapped = isLarge ? wanted + kHugePageBytes : wanted;
    void *address = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED)
        return outOfMemory();

    auto *start = static_cast<std::byte *>(address);
    if (isLarge) {
        // Cut what lies before and after the aligned part.
        const std::size_t lead =
            roundUp(reinterpret_cast<std::uintptr_t>(start), kHugePageBytes) - reinterpret_cast<std::uintptr_t>(start);
        if (lead != 0)
            munmap(start, lead);
        start += lead;
        if (const std::size_t tail = mapped - lead - wanted; tail != 0)
            munmap(start + wanted, tail);
        madvise(start, wanted, MADV_HUGEPAGE); // advice only: without it everything works, more slowly
    }
    buffer.m_data = start;
    buffer.m_size = bytes;
    buffer.m_mappedBytes = wanted;
    return buffer;
}

} // namespace lectern
