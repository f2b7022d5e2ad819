// SPDX-License-Identifier: GPL-3.0-or-later
// One clock for everything that repaints: at most one frame per interval, none when idle. GUI thread.
#pragma once

#include <QObject>
#include <QTimer>

namespace lectern {

class FrameClock : public QObject
{
    Q_OBJECT

public:
    static constexpr int kFrameMs = 33;

    explicit FrameClock(QObject *parent = nullptr);
    void setIntervalMs(int ms); // slower while the window is minimised
    void request();             // arms the timer unless it runs

Q_SIGNALS:
    void frame();

private:
    QTimer m_timer;
};

} // namespace lectern
