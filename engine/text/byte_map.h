// SPDX-License-Identifier: GPL-3.0-or-later
// The alphabet of byte-level vocabularies: every byte is written as one printable character (GPT-2's table; a space is
// U+0120, a newline U+010A). Pieces of such a file are stored in it, added tokens are not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lectern {

// The character that stands for a byte, as UTF-8.
std::string byteLevelPiece(std::uint8_t byte);

// The bytes that a piece stands for. Characters outside the alphabet stand for themselves.
std::string byteLevelBytes(std::string_view piece);

} // namespace lectern
