// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/file.h"

#include "engine/base/file_handle.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <new>
#include <openssl/evp.h>
#include <optional>
#include <span>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace lectern {

namespace {

constexpr int kMaxLinks = 40; // as Linux has it
constexpr std::size_t kHashPieceBytes = std::size_t{4} << 20;

tl::unexpected<Error> writeFailed(const std::filesystem::path &path, int reason)
{
    std::string remedy;
    if (reason == ENOSPC || reason == EDQUOT)
        remedy = "Free some space or choose another folder";
    else if (reason == EACCES || reason == EPERM || reason == EROFS)
        remedy = "Choose a folder you may write to";
    else if (reason == ENOENT || reason == ENOTDIR)
        remedy = "The folder does not exist: create it or choose another one";
    return fail(ErrorCode::WriteFailed, "the file could not be written: " + systemMessage(reason), path.string(),
                remedy);
}

// A file under construction: removed again unless it was moved to its final name.
class TemporaryFile
{
public:
    ~TemporaryFile()
    {
        close();
        if (!m_path.empty())
            ::unlink(m_path.c_str());
    }

    // The following return 0 or an errno value.
    int createIn(const std::filesystem::path &folder)
    {
        static std::atomic<unsigned> counter{0};
        for (int attempt = 0; attempt < 100; ++attempt) {
            const std::filesystem::path candidate =
                folder / (".lectern-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp");
            m_descriptor = ::open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (m_descriptor >= 0) {
                m_path = candidate;
                return 0;
            }
            if (errno != EEXIST)
                return errno;
        }
        return EEXIST;
    }

    int write(std::string_view bytes)
    {
        while (!bytes.empty()) {
            const ssize_t written = ::write(m_descriptor, bytes.data(), bytes.size());
            if (written < 0 && errno == EINTR)
                continue;
            if (written < 0)
                return errno;
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
        return 0;
    }

    int setMode(mode_t mode) { return ::fchmod(m_descriptor, mode) == 0 ? 0 : errno; }
    int sync() { return ::fsync(m_descriptor) == 0 ? 0 : errno; }

    int close()
    {
        const int descriptor = std::exchange(m_descriptor, -1);
        return descriptor < 0 || ::close(descriptor) == 0 ? 0 : errno;
    }

    int moveTo(const std::filesystem::path &path)
    {
        if (::rename(m_path.c_str(), path.c_str()) != 0)
            return errno;
        m_path.clear();
        return 0;
    }

private:
    std::filesystem::path m_path;
    int m_descriptor = -1;
};

// Makes the new name itself survive a power cut. Some file systems cannot do that, which is no error.
void syncFolder(const std::filesystem::path &folder)
{
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    ::fsync(descriptor);
    ::close(descriptor);
}

// Where a file goes.
struct Target
{
    std::filesystem::path path;
    std::optional<mode_t> oldMode; // of the file that it replaces

    std::filesystem::path folder() const { return path.has_parent_path() ? path.parent_path() : "."; }
};

// A link stays a link: the file it points to is replaced, or made.
Result<Target> writableTarget(const std::filesystem::path &path)
{
    std::error_code problem;
    Target target{path, {}};
    for (int followed = 0; std::filesystem::is_symlink(target.path, problem); ++followed) {
        const std::filesystem::path next = std::filesystem::read_symlink(target.path, problem);
        if (problem || followed == kMaxLinks)
            return writeFailed(path, problem ? problem.value() : ELOOP);
        target.path = target.path.parent_path() / next; // an absolute one stands for itself
    }
    if (target.path.empty() || target.path.filename().empty())
        return fail(ErrorCode::WriteFailed, "no file name was given", path.string());

    struct stat old
    {
    };
    if (::stat(target.path.c_str(), &old) != 0)
        return target;
    if (S_ISDIR(old.st_mode))
        return writeFailed(path, EISDIR);
    if (!S_ISREG(old.st_mode))
        return fail(ErrorCode::WriteFailed, "this is a pipe or a device, not a file", path.string());
    if (::access(target.path.c_str(), W_OK) != 0)
        return writeFailed(path, errno);
    target.oldMode = old.st_mode & 07777;
    return target;
}

} // namespace

Result<std::string> readFile(const std::filesystem::path &path, std::uint64_t maxBytes)
{
    const Result<FileHandle> file = FileHandle::open(path);
    if (!file)
        return tl::unexpected(file.error());
    if (file->size() > maxBytes) {
        return fail(ErrorCode::InvalidInput,
                    "the file has " + std::to_string(file->size()) + " bytes, at most " + std::to_string(maxBytes) +
                        " are read here",
                    path.string());
    }
    std::string bytes;
    try {
        bytes.resize(static_cast<std::size_t>(file->size()));
    } catch (const std::bad_alloc &) {
        return fail(ErrorCode::OutOfMemory,
                    "there is too little memory for the " + std::to_string(file->size()) + " bytes of this file",
                    path.string());
    }
    if (const Result<void> done = file->readAt(0, std::as_writable_bytes(std::span(bytes))); !done)
        return tl::unexpected(done.error());
    return bytes;
}

Result<void> writeFileAtomically(const std::filesystem::path &path, std::string_view bytes)
{
    const Result<Target> target = writableTarget(path);
    if (!target)
        return tl::unexpected(target.error());
    TemporaryFile file;
    int reason = file.createIn(target->folder());
    if (reason == 0)
        reason = file.write(bytes);
    if (reason == 0 && target->oldMode)
        reason = file.setMode(*target->oldMode);
    if (reason == 0)
        reason = file.sync();
    if (reason == 0)
        reason = file.close();
    if (reason == 0)
        reason = file.moveTo(target->path);
    if (reason != 0)
        return writeFailed(path, reason);
    syncFolder(target->folder());
    return {};
}

Result<void> checkWritable(const std::filesystem::path &path)
{
    const Result<Target> target = writableTarget(path);
    if (!target)
        return tl::unexpected(target.error());
    TemporaryFile file;
    if (const int reason = file.createIn(target->folder()); reason != 0)
        return writeFailed(path, reason);
    return {};
}

Result<std::string> sha256OfFile(const std::filesystem::path &path, const StopFlag &stop,
                                 const std::function<void(std::uint64_t, std::uint64_t)> &progress)
{
    const Result<FileHandle> file = FileHandle::open(path);
    if (!file)
        return tl::unexpected(file.error());
    file->adviseSequential();

    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1)
        return fail(ErrorCode::Unsupported, "the SHA-256 function of OpenSSL is not available");

    std::vector<std::byte> piece(kHashPieceBytes);
    for (std::uint64_t done = 0; done < file->size();) {
        if (stop.isRequested())
            return fail(ErrorCode::Cancelled, "stopped", path.string());
        const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), file->size() - done));
        if (const Result<void> read = file->readAt(done, std::span(piece).first(count)); !read)
            return tl::unexpected(read.error());
        if (EVP_DigestUpdate(context.get(), piece.data(), count) != 1)
            return fail(ErrorCode::Unsupported, "the SHA-256 function of OpenSSL failed", path.string());
        done += count;
        if (progress)
            progress(done, file->size());
    }

    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int length = 0;
    if (EVP_DigestFinal_ex(context.get(), digest, &length) != 1)
        return fail(ErrorCode::Unsupported, "the SHA-256 function of OpenSSL failed", path.string());
    std::string hex;
    for (unsigned int i = 0; i < length; ++i) {
        hex += "0123456789abcdef"[digest[i] >> 4];
        hex += "0123456789abcdef"[digest[i] & 15];
    }
    return hex;
}

} // namespace lectern
