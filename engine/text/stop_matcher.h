// SPDX-License-Identifier: GPL-3.0-or-later
// Finds stop strings in a stream of text pieces and holds back what could still become one (vllm#3574).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lectern {

class StopMatcher
{
public:
    explicit StopMatcher(std::vector<std::string> stops); // empty strings are ignored

    // The text that may be shown now. After a stop string was completed, matched() is true, the text before it has been
    // returned and everything later is swallowed.
    std::string push(std::string_view text);
    std::string finish(); // held text is released at the end of a run unless a stop string was completed
    bool matched() const { return m_matched; }
    const std::string &matchedStop() const { return m_matchedStop; }

private:
    std::vector<std::string> m_stops;
    std::string m_held;
    std::string m_matchedStop;
    bool m_matched = false;
};

} // namespace lectern
