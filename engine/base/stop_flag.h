// SPDX-License-Identifier: GPL-3.0-or-later
// Asks a computation to stop. Any thread may set it; the engine looks at it in every layer and between steps of long
// work.
#pragma once

#include <atomic>

namespace lectern {

class StopFlag
{
public:
    void request() { m_requested.store(true, std::memory_order_relaxed); }
    void clear() { m_requested.store(false, std::memory_order_relaxed); }
    bool isRequested() const { return m_requested.load(std::memory_order_relaxed); }

private:
    std::atomic<bool> m_requested{false};
};

} // namespace lectern
