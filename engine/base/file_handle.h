// SPDX-License-Identifier: GPL-3.0-or-later
// A regular file open for reading. Folders, pipes and devices are refused: a size and positions are all that readers
// here rely on. Thread: readAt() may be called from several threads.
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace lectern {

class FileHandle
{
public:
    FileHandle() = default;
    FileHandle(FileHandle &&other) noexcept;
    FileHandle &operator=(FileHandle &&other) noexcept;
    ~FileHandle();

    // NotFound or Unreadable; the message says why, `where` is the path.
    static Result<FileHandle> open(const std::filesystem::path &path);

    const std::filesystem::path &path() const { return m_path; }
    std::uint64_t size() const { return m_size; } // when it was opened

    // Fills `out` with the bytes at `offset`; Unreadable when the file holds less.
    Result<void> readAt(std::uint64_t offset, std::span<std::byte> out) const;

    // Hint that the file will be read from front to back once.
    void adviseSequential() const;

private:
    std::filesystem::path m_path;
    std::uint64_t m_size = 0;
    int m_descriptor = -1;
};

// The system's words for an errno value: "No space left on device".
std::string systemMessage(int errorNumber);

} // namespace lectern
