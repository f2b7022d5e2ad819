// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/file_handle.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace lectern {

namespace {
constexpr std::size_t kLargestRead = std::size_t{1} << 30; // a single pread transfers at most 2 GiB on Linux
} // namespace

std::string systemMessage(int errorNumber)
{
    const char *text = ::strerrordesc_np(errorNumber); // in English: strerror() speaks the language of the locale
    return text ? text : "system error " + std::to_string(errorNumber);
}

FileHandle::FileHandle(FileHandle &&other) noexcept
    : m_path(std::move(other.m_path))
    , m_size(other.m_size)
    , m_descriptor(std::exchange(other.m_descriptor, -1))
{
}

FileHandle &FileHandle::operator=(FileHandle &&other) noexcept
{
    std::swap(m_path, other.m_path);
    std::swap(m_size, other.m_size);
    std::swap(m_descriptor, other.m_descriptor);
    return *this;
}

FileHandle::~FileHandle()
{
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

Result<FileHandle> FileHandle::open(const std::filesystem::path &path)
{
    const std::string where = path.string();
    if (path.empty())
        return fail(ErrorCode::NotFound, "no file name was given");

    FileHandle file;
    file.m_path = path;
    // Without O_NONBLOCK, opening a pipe would wait for its writer.
    file.m_descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file.m_descriptor < 0) {
        const int reason = errno;
        if (reason == ENOENT || reason == ENOTDIR)
            return fail(ErrorCode::NotFound, "there is no such file", where, "Check the path");
        if (reason == EACCES || reason == EPERM)
            return fail(ErrorCode::Unreadable, "no permission to read the file", where, "Change its permissions");
        return fail(ErrorCode::Unreadable, "the file cannot be opened: " + systemMessage(reason), where);
    }
    struct stat status
    {
    };
    if (::fstat(file.m_descriptor, &status) != 0)
        return fail(ErrorCode::Unreadable, "the size of the file cannot be read: " + systemMessage(errno), where);
    if (S_ISDIR(status.st_mode))
        return fail(ErrorCode::Unreadable, "this is a folder, not a file", where, "Choose a file inside it");
    if (!S_ISREG(status.st_mode))
        return fail(ErrorCode::Unreadable, "this is a pipe or a device, not a file", where, "Save it as a file first");
    file.m_size = static_cast<std::uint64_t>(status.st_size);
    return file;
}

Result<void> FileHandle::readAt(std::uint64_t offset, std::span<std::byte> out) const
{
    while (!out.empty()) {
        if (offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()))
            return fail(ErrorCode::Unreadable, "offset " + std::to_string(offset) + " is out of range",
                        m_path.string());
        const ssize_t got =
            ::pread(m_descriptor, out.data(), std::min(out.size(), kLargestRead), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            return fail(ErrorCode::Unreadable,
                        "reading at byte " + std::to_string(offset) + " failed: " + systemMessage(errno),
                        m_path.string());
        }
        if (got == 0) {
            return fail(ErrorCode::Unreadable,
                        "the file ends at byte " + std::to_string(offset) + ", " + std::to_string(out.size()) +
                            " more bytes are needed",
                        m_path.string());
        }
        out = out.subspan(static_cast<std::size_t>(got));
        offset += static_cast<std::uint64_t>(got);
    }
    return {};
}

void FileHandle::adviseSequential() const
{
    ::posix_fadvise(m_descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
}

} // namespace lectern
