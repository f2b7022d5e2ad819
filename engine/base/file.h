// SPDX-License-Identifier: GPL-3.0-or-later
// Reading whole files and writing them atomically (temporary file in the same folder, fsync, rename).
#pragma once

#include "engine/base/result.h"
#include "engine/base/stop_flag.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace lectern {

// Refuses directories and files above `maxBytes` with a message that names path and reason.
Result<std::string> readFile(const std::filesystem::path &path, std::uint64_t maxBytes = 1ull << 30);

// On failure the old file is intact and no temporary file remains.
Result<void> writeFileAtomically(const std::filesystem::path &path, std::string_view bytes);

// Whether writeFileAtomically would get as far as writing, with the same errors. For asking before long work; what is
// at `path` stays as it is.
Result<void> checkWritable(const std::filesystem::path &path);

// Lower-case hex. `progress(doneBytes, totalBytes)` about every 4 MiB; may be empty.
Result<std::string> sha256OfFile(const std::filesystem::path &path, const StopFlag &stop,
                                 const std::function<void(std::uint64_t, std::uint64_t)> &progress = {});

} // namespace lectern
