// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace lectern {

namespace {

// Length of the longest end of `text` that is a proper beginning of `stop`.
std::size_t openLength(std::string_view text, std::string_view stop)
{
    for (std::size_t length = std::min(text.size(), stop.size() - 1); length > 0; --length) {
        if (text.ends_with(stop.substr(0, length)))
            return length;
    }
    return 0;
}

} // namespace

StopMatcher::StopMatcher(std::vector<std::string> stops)
    : m_stops(std::move(stops))
{
    std::erase(m_stops, std::string());
}

std::string StopMatcher::push(std::string_view text)
{
    if (m_matched)
        return {};
    m_held += text;
    // The stop string that is completed first ends the text: that is where it would have stopped byte by byte. Of
    // several completed by the same byte the longest counts.
    std::size_t firstEnd = std::string::npos;
    for (const std::string &stop : m_stops) {
        const std::size_t begin = m_held.find(stop);
        if (begin == std::string::npos)
            continue;
        const std::size_t end = begin + stop.size();
        if (!m_matched || end < firstEnd || (end == firstEnd && stop.size() > m_matchedStop.size())) {
            m_matched = true;
            firstEnd = end;
            m_matchedStop = stop;
        }
    }
    if (m_matched) {
        std::string shown = m_held.substr(0, firstEnd - m_matchedStop.size());
        m_held.clear();
        return shown;
    }
    std::size_t held = 0;
    for (const std::string &stop : m_stops)
        held = std::max(held, openLength(m_held, stop));
    std::string shown = m_held.substr(0, m_held.size() - held);
    m_held.erase(0, shown.size());
    return shown;
}

std::string StopMatcher::finish()
{
    return std::exchange(m_held, {});
}

} // namespace lectern
