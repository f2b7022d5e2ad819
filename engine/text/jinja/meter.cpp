// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/jinja/meter.h"

namespace lectern::jinja {

void failAt(Position at, ErrorCode code, std::string message, std::string remedy)
{
    throw Failure{Error{code, std::move(message),
                        "Chat template, line " + std::to_string(at.line) + ", column " + std::to_string(at.column),
                        std::move(remedy)}};
}

void Meter::step(std::size_t count)
{
    m_steps += static_cast<std::int64_t>(count);
    if (m_steps > kMaxSteps)
        failAt(at, ErrorCode::Unsupported, "the template takes more than " + std::to_string(kMaxSteps) + " steps");
}

void Meter::work(std::size_t bytes)
{
    m_workBytes += bytes;
    if (m_workBytes > kMaxWorkBytes)
        failAt(at, ErrorCode::Unsupported,
               "the template works on more than " + std::to_string(kMaxWorkBytes >> 20) + " MiB of text");
}

void Meter::checkTextSize(std::size_t bytes) const
{
    if (bytes > kMaxTextBytes)
        failAt(at, ErrorCode::Unsupported,
               "the template makes a text of more than " + std::to_string(kMaxTextBytes >> 20) + " MiB");
}

void Meter::fail(std::string message) const
{
    failAt(at, ErrorCode::BadFormat, std::move(message));
}

void Meter::failUnsupported(std::string what) const
{
    failAt(at, ErrorCode::Unsupported, std::move(what) + " is not supported", "Use the raw prompt with this model");
}

} // namespace lectern::jinja
