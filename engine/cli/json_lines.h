// SPDX-License-Identifier: GPL-3.0-or-later
// JSON lines: an object a line in, one a line out. Every line stands for itself: what is wrong with one is said in its
// place, and those behind it still get their results.
#pragma once

#include "engine/base/file_handle.h"
#include "engine/base/result.h"
#include "engine/base/stop_flag.h"
#include "engine/trace/json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lectern::cli {

struct JsonLine
{
    std::int64_t number = 0; // in the file, from 1; blank lines count
    // An object, or why the line is none: it is too long, no UTF-8, no JSON, nested too deeply, something else.
    Result<Json> object;
};

// Memory is bounded by the longest line that is taken, however long the file is.
class JsonLines
{
public:
    // "-": standard input, whose lines are there as soon as they are written. Errors as FileHandle::open().
    static Result<JsonLines> open(const std::string &fileOrDash);

    // The next line that is not blank; nothing at the end. Waits for standard input. Cancelled once `stop` is
    // requested, Unreadable when the rest cannot be read: no line follows then.
    Result<std::optional<JsonLine>> next(const StopFlag &stop);

private:
    Result<bool> readLine(const StopFlag &stop);
    Result<std::size_t> readPiece(const StopFlag &stop);

    std::optional<FileHandle> m_file; // nothing: standard input
    std::uint64_t m_offset = 0;       // of the file, behind what was read
    std::vector<char> m_piece;        // read last
    std::string_view m_rest;          // of m_piece: not yet taken
    std::string m_line;
    bool m_isTooLong = false;
    std::int64_t m_number = 0;
};

// Prints what became of the lines, each at once, and counts.
class LineResults
{
public:
    // `json`: text of an object, on one line. An error becomes {"line": number, "error": "..."}.
    void print(std::int64_t number, const Result<std::string> &json);

    // The exit code once every line has had its turn; says on stderr how many could not be done.
    int end() const;
    // The same when lines are left: `reason` is Cancelled, or that the rest cannot be read.
    int end(const Error &reason) const;

private:
    std::uint64_t m_lines = 0, m_bad = 0;
};

} // namespace lectern::cli
