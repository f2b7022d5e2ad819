// SPDX-License-Identifier: GPL-3.0-or-later
// Base of the checks between fields of a run record: keeps the first contradiction, later ones are ignored.
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <optional>
#include <string>

namespace lectern {

class FirstProblem
{
protected:
    // An element of a list, for the messages of its fields.
    struct Element
    {
        const char *list;
        std::size_t index;
        std::string text() const { return std::string(list) + "[" + std::to_string(index) + "]"; }
        std::string field(const char *name) const { return text() + "." + name; }
    };

    void refuse(std::string where, std::string message)
    {
        if (!m_error)
            m_error = Error{ErrorCode::BadFormat, std::move(message), std::move(where), {}};
    }

    template <class Number>
    void require(const Element &element, const char *field, Number value, Number min, Number max)
    {
        if (value < min || value > max)
            refuse(element.field(field),
                   "is " + std::to_string(value) + ", expected " + std::to_string(min) + " to " + std::to_string(max));
    }

    std::optional<Error> m_error;
};

} // namespace lectern
