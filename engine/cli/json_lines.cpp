// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/json_lines.h"

#include "engine/base/utf8.h"
#include "engine/cli/command.h"
#include "engine/trace/json_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <poll.h>
#include <span>
#include <unistd.h>
#include <utility>

namespace lectern::cli {

namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20; // a prompt of some four million tokens
constexpr int kMaxNesting = 8;
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
constexpr int kLookMs = 100; // at the stop flag, while nothing comes
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Result<Json> parseObject(std::string_view line)
try {
    if (const std::size_t at = line.find('\0'); at != std::string_view::npos) // the parser takes it for the end
        return fail(ErrorCode::BadFormat, "there is a NUL at byte " + std::to_string(at + 1), {},
                    "Save the file as UTF-8");
    if (const std::size_t at = firstInvalidUtf8(line); at != std::string_view::npos)
        return fail(ErrorCode::BadFormat, "no UTF-8 at byte " + std::to_string(at + 1), {}, "Save the file as UTF-8");
    if (nestsTooDeep(line, kMaxNesting))
        return fail(ErrorCode::BadFormat,
                    "lists and objects are nested more than " + std::to_string(kMaxNesting) + " deep");
    Json json = Json::parse(line);
    if (!json.is_object())
        return fail(ErrorCode::BadFormat, std::string("is ") + json.type_name() + ", expected an object");
    return json;
} catch (const Json::parse_error &error) {
    return fail(ErrorCode::BadFormat, "no JSON at byte " + std::to_string(error.byte));
} catch (const Json::exception &) {
    return fail(ErrorCode::BadFormat, "a number is too large");
}

} // namespace

Result<JsonLines> JsonLines::open(const std::string &fileOrDash)
{
    JsonLines lines;
    if (fileOrDash == "-")
        return lines;
    Result<FileHandle> file = FileHandle::open(fileOrDash);
    if (!file)
        return tl::unexpected(std::move(file.error()));
    lines.m_file = std::move(*file);
    return lines;
}

// How many bytes came; 0 at the end.
Result<std::size_t> JsonLines::readPiece(const StopFlag &stop)
{
    m_piece.resize(kPieceBytes);
    if (m_file) {
        const std::span all(m_piece);
        const std::span piece = all.first(std::min<std::uint64_t>(all.size(), m_file->size() - m_offset));
        if (const Result<void> read = m_file->readAt(m_offset, std::as_writable_bytes(piece)); !read)
            return tl::unexpected(read.error());
        m_offset += piece.size();
        return piece.size();
    }
    for (;;) {
        if (stop.isRequested())
            return fail(ErrorCode::Cancelled, "stopped");
        pollfd input{STDIN_FILENO, POLLIN, 0};
        if (::poll(&input, 1, kLookMs) <= 0) // nothing yet, or a signal
            continue;
        const ssize_t count = ::read(STDIN_FILENO, m_piece.data(), m_piece.size());
        if (count >= 0)
            return static_cast<std::size_t>(count);
        if (errno != EINTR && errno != EAGAIN)
            return fail(ErrorCode::Unreadable, "standard input could not be read: " + systemMessage(errno));
    }
}

// False at the end of the file.
Result<bool> JsonLines::readLine(const StopFlag &stop)
{
    m_line.clear();
    m_isTooLong = false;
    for (bool isThere = false;; isThere = true) {
        if (m_rest.empty()) {
            const Result<std::size_t> count = readPiece(stop);
            if (!count)
                return tl::unexpected(count.error());
            if (*count == 0)
                return isThere; // the last line may have no end
            m_rest = std::string_view(m_piece.data(), *count);
        }
        const std::size_t end = m_rest.find('\n');
        const std::string_view part = m_rest.substr(0, end);
        m_isTooLong = m_isTooLong || part.size() > kMaxLineBytes - m_line.size();
        if (!m_isTooLong)
            m_line += part;
        m_rest.remove_prefix(end == std::string_view::npos ? m_rest.size() : end + 1);
        if (end != std::string_view::npos)
            return true;
    }
}

Result<std::optional<JsonLine>> JsonLines::next(const StopFlag &stop)
{
    for (;;) {
        const Result<bool> isThere = readLine(stop);
        if (!isThere)
            return tl::unexpected(isThere.error());
        if (!*isThere)
            return std::nullopt;
        if (stop.isRequested())
            return fail(ErrorCode::Cancelled, "stopped");
        std::string_view line = m_line;
        if (++m_number == 1 && line.starts_with(kByteOrderMark))
            line.remove_prefix(kByteOrderMark.size());
        if (m_isTooLong)
            return JsonLine{m_number, fail(ErrorCode::BadFormat,
                                           "the line has more than " + std::to_string(kMaxLineBytes) + " bytes")};
        if (line.find_first_not_of(" \t\r") != std::string_view::npos)
            return JsonLine{m_number, parseObject(line)};
    }
}

void LineResults::print(std::int64_t number, const Result<std::string> &json)
{
    ++m_lines;
    m_bad += json ? 0 : 1;
    const auto error = [&] { return Json{{"line", number}, {"error", json.error().text()}}; };
    cli::print((json ? *json : error().dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n");
    std::fflush(stdout);
}

int LineResults::end() const
{
    if (m_bad == 0)
        return kOk;
    return failed(std::to_string(m_bad) + " of " + countOf(m_lines, "line") + " could not be done");
}

int LineResults::end(const Error &reason) const
{
    const std::string what = reason.code == ErrorCode::Cancelled ? "stopped by a signal" : reason.text();
    return failed(what + " after " + countOf(m_lines, "line") +
                  (m_bad > 0 ? ", " + std::to_string(m_bad) + " of which could not be done" : ""));
}

} // namespace lectern::cli
