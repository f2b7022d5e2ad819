// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/paint_recorder.h"

#include <QPaintEngine>
#include <QPainter>
#include <QPainterPath>

#include <utility>

namespace lectern {

namespace {

constexpr int kDotsPerInch = 96;

} // namespace

class PaintRecorder::Engine final : public QPaintEngine
{
public:
    Engine()
        : QPaintEngine(AllFeatures)
    {
    }

    PaintRecording recording;

    bool begin(QPaintDevice *) override { return true; }
    bool end() override { return true; }
    Type type() const override { return User; }

    void updateState(const QPaintEngineState &state) override
    {
        const DirtyFlags changed = state.state();
        if (changed & DirtyTransform)
            add([to = state.transform()](QPainter &p, const QTransform &base) { p.setTransform(to * base); });
        if (changed & DirtyPen)
            add([pen = state.pen()](QPainter &p, const QTransform &) { p.setPen(pen); });
        if (changed & DirtyBrush)
            add([brush = state.brush()](QPainter &p, const QTransform &) { p.setBrush(brush); });
        if (changed & DirtyBrushOrigin)
            add([origin = state.brushOrigin()](QPainter &p, const QTransform &) { p.setBrushOrigin(origin); });
        if (changed & DirtyOpacity)
            add([opacity = state.opacity()](QPainter &p, const QTransform &) { p.setOpacity(opacity); });
        if (changed & DirtyCompositionMode)
            add([mode = state.compositionMode()](QPainter &p, const QTransform &) { p.setCompositionMode(mode); });
        if (changed & DirtyHints) {
            add([hints = state.renderHints()](QPainter &p, const QTransform &) {
                p.setRenderHints(p.renderHints(), false);
                p.setRenderHints(hints);
            });
        }
        if (changed & DirtyClipRegion)
            add([region = state.clipRegion(), how = state.clipOperation()](QPainter &p, const QTransform &) {
                p.setClipRegion(region, how);
            });
        if (changed & DirtyClipPath)
            add([path = state.clipPath(), how = state.clipOperation()](QPainter &p, const QTransform &) {
                p.setClipPath(path, how);
            });
        if (changed & DirtyClipEnabled)
            add([enabled = state.isClipEnabled()](QPainter &p, const QTransform &) { p.setClipping(enabled); });
    }

    void drawPath(const QPainterPath &path) override
    {
        add([path](QPainter &p, const QTransform &) { p.drawPath(path); });
    }

    void drawPolygon(const QPointF *points, int count, PolygonDrawMode mode) override
    {
        add([polygon = QPolygonF(QList<QPointF>(points, points + count)), mode](QPainter &p, const QTransform &) {
            if (mode == PolylineMode)
                p.drawPolyline(polygon);
            else
                p.drawPolygon(polygon, mode == WindingMode ? Qt::WindingFill : Qt::OddEvenFill);
        });
    }

    void drawRects(const QRectF *rects, int count) override
    {
        add([list = QList<QRectF>(rects, rects + count)](QPainter &p, const QTransform &) { p.drawRects(list); });
    }

    void drawLines(const QLineF *lines, int count) override
    {
        add([list = QList<QLineF>(lines, lines + count)](QPainter &p, const QTransform &) { p.drawLines(list); });
    }

    void drawEllipse(const QRectF &rect) override
    {
        add([rect](QPainter &p, const QTransform &) { p.drawEllipse(rect); });
    }

    void drawPoints(const QPointF *points, int count) override
    {
        add([list = QPolygonF(QList<QPointF>(points, points + count))](QPainter &p, const QTransform &) {
            p.drawPoints(list);
        });
    }

    void drawTextItem(const QPointF &baseline, const QTextItem &item) override
    {
        add([baseline, font = item.font(), text = item.text()](QPainter &p, const QTransform &) {
            p.setFont(font);
            p.drawText(baseline, text);
        });
    }

    void drawPixmap(const QRectF &, const QPixmap &, const QRectF &) override {}

    // The integer forms of the base class come back as those above.
    using QPaintEngine::drawEllipse;
    using QPaintEngine::drawLines;
    using QPaintEngine::drawPoints;
    using QPaintEngine::drawPolygon;
    using QPaintEngine::drawRects;

private:
    void add(PaintRecording::Command command) { recording.add(std::move(command)); }
};

void PaintRecording::replay(QPainter &painter) const
{
    const QTransform base = painter.transform();
    for (const Command &command : m_commands)
        command(painter, base);
}

PaintRecorder::PaintRecorder(const QSize &size)
    : m_size(size)
    , m_engine(std::make_unique<Engine>())
{
}

PaintRecorder::~PaintRecorder() = default;

PaintRecording PaintRecorder::take()
{
    return std::exchange(m_engine->recording, {});
}

QPaintEngine *PaintRecorder::paintEngine() const
{
    return m_engine.get();
}

int PaintRecorder::metric(PaintDeviceMetric metric) const
{
    switch (metric) {
    case PdmWidth:
        return m_size.width();
    case PdmHeight:
        return m_size.height();
    case PdmWidthMM:
        return qRound(m_size.width() * 25.4 / kDotsPerInch);
    case PdmHeightMM:
        return qRound(m_size.height() * 25.4 / kDotsPerInch);
    case PdmDpiX:
    case PdmDpiY:
    case PdmPhysicalDpiX:
    case PdmPhysicalDpiY:
        return kDotsPerInch;
    case PdmDepth:
        return 32;
    case PdmNumColors:
        return 0;
    case PdmDevicePixelRatio:
        return 1;
    default: // scaled ratios
        return QPaintDevice::metric(metric);
    }
}

} // namespace lectern
