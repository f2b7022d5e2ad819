// SPDX-License-Identifier: GPL-3.0-or-later
// Errors as values. Nothing in the engine throws across a module.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace lectern {

enum class ErrorCode
{
    InvalidInput, // a value given by the user is out of range or empty
    NotFound,     // file or key is not there
    Unreadable,   // the system refused to open or read it
    BadFormat,    // the file is damaged or not what it says
    Unsupported,  // well formed, but this version cannot run it
    OutOfMemory,  // a budget or the machine has too little memory
    ContextFull,  // more tokens than the context holds
    Cancelled,    // the user stopped it
    WriteFailed,  // an output file could not be written; the old one is intact
    Numerics,     // NaN or only -inf among the logits
};

// What happened, where, and what to do about it. All texts are English sentences without a trailing newline.
struct Error
{
    ErrorCode code = ErrorCode::BadFormat;
    std::string message; // what happened, with the numbers found and expected
    std::string where;   // file, key, offset or tensor; may be empty
    std::string remedy;  // what the user can do; may be empty

    // "where: message. remedy" on one line.
    std::string text() const;
};

// For messages: "1 token", "2 tokens".
std::string countOf(std::uint64_t count, std::string_view noun);

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string where = {}, std::string remedy = {})
{
    return tl::unexpected<Error>(Error{code, std::move(message), std::move(where), std::move(remedy)});
}

} // namespace lectern
