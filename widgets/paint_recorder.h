// SPDX-License-Identifier: GPL-3.0-or-later
// A drawing kept as the commands that made it: painted once on the GUI thread, drawn again on any other, at any scale
// and to any device.
//
// QPicture does nearly this, but places text by the whole-pixel height of its font, so that glyphs of a fallback font
// leave their line; here text keeps its base line.
#pragma once

#include <QPaintDevice>

#include <functional>
#include <memory>
#include <vector>

class QPainter;
class QTransform;

namespace lectern {

// Values; copies share nothing that changes, so they may go to another thread.
class PaintRecording
{
public:
    using Command = std::function<void(QPainter &, const QTransform &base)>;

    void add(Command command) { m_commands.push_back(std::move(command)); }
    // On top of the painter's transform. Clips that the painter had are lost.
    void replay(QPainter &painter) const;

private:
    std::vector<Command> m_commands;
};

// 96 dots per inch, whatever the screen has. Records shapes and text: pictures are left out.
class PaintRecorder : public QPaintDevice
{
public:
    explicit PaintRecorder(const QSize &size);
    ~PaintRecorder() override;
    PaintRecording take(); // after QPainter::end()

    QPaintEngine *paintEngine() const override;

protected:
    int metric(PaintDeviceMetric metric) const override;

private:
    class Engine;
    QSize m_size;
    std::unique_ptr<Engine> m_engine;
};

} // namespace lectern
