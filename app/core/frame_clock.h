// SPDX-License-Identifier: GPL-3.0-or-later
// One clock for everything that repaints: at most one frame per interval, none when idle. GUI thread.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <cstdint>

namespace lectern {

class FrameClock : public QObject
{
    Q_OBJECT

public:
    static constexpr int kFrameMs = 33;
    // While frames are dear they come more seldom: what they cost the GUI thread in CPU time, repaints included, is one
    // part in so many of the time. An engine on all cores waits at its barriers for a thread that paints: 3 %.
    static constexpr int kShareOfBusyCores = 33;
    static constexpr int kShareOfFreeCore = 3;

    explicit FrameClock(QObject *parent = nullptr);
    void setIntervalMs(int ms); // slower while the window is minimised
    void setCostShare(int share) { m_costShare = share; }
    void request(); // arms the timer unless it runs
    bool isPending() const { return m_timer.isActive(); }

Q_SIGNALS:
    void frame();
    void frameDone(qint64 nanoseconds); // what the frame posted, repaints included, has been done

protected:
    void customEvent(QEvent *event) override;

private:
    void runFrame();
    void waitForRepaints();
    QTimer m_timer;
    QElapsedTimer m_clock;
    std::int64_t m_cpuBeginNs = 0;
    double m_costNs = 0; // mean over the last few frames: those with charts are dear, those with text alone are not
    int m_costShare = kShareOfBusyCores;
    int m_turnsLeft = 0;
    int m_intervalMs = kFrameMs;
};

} // namespace lectern
