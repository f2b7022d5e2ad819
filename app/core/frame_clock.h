// SPDX-License-Identifier: GPL-3.0-or-later
// One clock for everything that repaints: at most one frame per interval, none when idle. GUI thread.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

namespace lectern {

class FrameClock : public QObject
{
    Q_OBJECT

public:
    static constexpr int kFrameMs = 33;
    // While frames are dear they come more seldom: one takes at most one part in so many of the time. On two cores the
    // engine waits at its barriers for a thread that paints: at a fixed 33 ms a decode step took 4.8 ms in the window
    // and 2.7 ms without it, with this 3.2 and 2.9 ms (2-core Xeon, software painting).
    static constexpr int kCostShare = 30;

    explicit FrameClock(QObject *parent = nullptr);
    void setIntervalMs(int ms); // slower while the window is minimised
    void request();             // arms the timer unless it runs

Q_SIGNALS:
    void frame();

private:
    void runFrame();
    QTimer m_timer;
    QElapsedTimer m_cost;
    int m_intervalMs = kFrameMs;
};

} // namespace lectern
