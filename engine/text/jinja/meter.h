// SPDX-License-Identifier: GPL-3.0-or-later
// What a template may cost, and where in it we are. A template is code from a file: every limit here is reached by some
// hostile one, none by a real one (the longest published templates take some thousand steps per message).
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace lectern::jinja {

inline constexpr std::size_t kMaxSourceBytes = 256 << 10;
inline constexpr int kMaxNesting = 100;                 // of tags, brackets, operators in a row, and lists in lists
inline constexpr std::int64_t kMaxSteps = 2'000'000;    // expressions evaluated, statements run, list items made
inline constexpr std::size_t kMaxTextBytes = 16 << 20;  // of the output and of any other text
inline constexpr std::size_t kMaxWorkBytes = 256 << 20; // read and written by all text operations together
inline constexpr std::int64_t kMaxRangeItems = 100'000; // as in Jinja's sandbox

// Both count from 1; columns count characters.
struct Position
{
    int line = 1;
    int column = 1;
};

// Thrown inside this folder only; ChatTemplate turns it into a Result.
struct Failure
{
    Error error;
};

[[noreturn]] void failAt(Position at, ErrorCode code, std::string message, std::string remedy = {});

// The budget of one render.
class Meter
{
public:
    Position at; // of the expression or statement that is worked on

    void step(std::size_t count = 1);
    // Bytes read or about to be written.
    void work(std::size_t bytes);
    // Refuses a text that would be too large, before it is made.
    void checkTextSize(std::size_t bytes) const;

    // The template does what Python would refuse ("'x' is undefined").
    [[noreturn]] void fail(std::string message) const;
    // Valid Jinja that this interpreter does not know.
    [[noreturn]] void failUnsupported(std::string what) const;

private:
    std::int64_t m_steps = 0;
    std::size_t m_workBytes = 0;
};

} // namespace lectern::jinja
