// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/chart_paint.h"

#include <QFontMetricsF>

#include <cmath>

namespace lectern {

namespace {

double swatchWidth(const LegendEntry &entry, const QFontMetricsF &metrics)
{
    if (entry.style >= 0) {
        return metrics.height() * (entry.swatch == Swatch::None ? 0.95 : 2.2);
    }
    switch (entry.swatch) {
    case Swatch::None:
        return 0;
    case Swatch::Dashes:
    case Swatch::Dots:
    case Swatch::Line:
        return metrics.height() * 1.8;
    default:
        return metrics.height() * 0.9;
    }
}

void drawSwatch(QPainter *painter, const QRectF &line, double height, const LegendEntry &entry, const Theme &theme)
{
    const double middle = std::round(line.center().y());
    const QRectF rect(line.left(), middle - height / 2, line.width(), height); // as tall as the text beside it
    const double side = std::round(rect.height() * 0.62);
    const QRectF box(rect.left(), std::round(middle - side / 2), side, side);
    painter->setPen(Qt::NoPen);
    switch (entry.swatch) {
    case Swatch::Fill:
        painter->fillRect(box, entry.color);
        break;
    case Swatch::Bars:
        for (int i = 0; i < 3; ++i) {
            painter->fillRect(QRectF(box.left() + i * side * 0.38, box.top(), side * 0.24, side), entry.color);
        }
        break;
    case Swatch::Hatch:
        painter->fillRect(box, mixed(theme.card, entry.color, 0.35));
        drawStrokes(painter, box, 3, entry.color, 1);
        break;
    case Swatch::Dashes:
    case Swatch::Dots:
    case Swatch::Line: {
        QPen pen(entry.color, theme.lineWidth());
        pen.setCapStyle(Qt::FlatCap);
        if (entry.style >= 0) {
            pen = runPen(theme, entry.style);
        } else if (entry.swatch != Swatch::Line) {
            pen.setDashPattern(entry.swatch == Swatch::Dashes ? QVector<qreal>{3, 2} : QVector<qreal>{1, 2});
        }
        painter->setPen(pen);
        painter->drawLine(QPointF(rect.left(), middle), QPointF(rect.right() - rect.height() * 0.4, middle));
        break;
    }
    case Swatch::None:
        break;
    }
    if (entry.style >= 0) {
        const RunStyle &style = runStyle(theme, entry.style);
        const double shift = entry.swatch == Swatch::None ? side / 2 : (rect.width() - rect.height() * 0.4) / 2;
        drawMarker(painter, QPointF(rect.left() + shift, middle), side, style.marker, style.color);
    }
}

} // namespace

ChartCanvas::ChartCanvas(QCustomPlot *plot, const QString &layer, std::function<void(QCPPainter *)> paint)
    : QCPLayerable(plot, layer)
    , m_paint(std::move(paint))
{
}

void ChartCanvas::applyDefaultAntialiasingHint(QCPPainter *painter) const
{
    painter->setAntialiasing(false);
}

void ChartCanvas::draw(QCPPainter *painter)
{
    painter->QPainter::setRenderHint(QPainter::Antialiasing, true);
    painter->setClipping(false);
    m_paint(painter);
}

void drawMarker(QPainter *painter, const QPointF &center, double size, Marker marker, const QColor &color)
{
    painter->save();
    const double r = size / 2;
    const auto at = [&](double x, double y) { return QPointF(center.x() + x * r, center.y() + y * r); };
    QPen stroke(color, std::max(1.5, size * 0.24));
    stroke.setCapStyle(Qt::FlatCap);
    painter->setPen(Qt::NoPen);
    painter->setBrush(color);
    switch (marker) {
    case Marker::Circle:
        painter->drawEllipse(center, r * 0.95, r * 0.95);
        break;
    case Marker::Triangle:
        painter->drawPolygon(QPolygonF{at(0, -1), at(1, 0.85), at(-1, 0.85)});
        break;
    case Marker::Square:
        painter->drawRect(QRectF(at(-0.85, -0.85), at(0.85, 0.85)));
        break;
    case Marker::Diamond:
        painter->drawPolygon(QPolygonF{at(0, -1.1), at(1.1, 0), at(0, 1.1), at(-1.1, 0)});
        break;
    case Marker::Cross:
        painter->setPen(stroke);
        painter->drawLine(at(-0.8, -0.8), at(0.8, 0.8));
        painter->drawLine(at(-0.8, 0.8), at(0.8, -0.8));
        break;
    case Marker::Plus:
        painter->setPen(stroke);
        painter->drawLine(at(-1, 0), at(1, 0));
        painter->drawLine(at(0, -1), at(0, 1));
        break;
    }
    painter->restore();
}

double legendWidth(const LegendEntry &entry, const QFont &font)
{
    QFont used = font;
    used.setBold(entry.isEmphasised);
    const QFontMetricsF metrics(used);
    return std::ceil(swatchWidth(entry, QFontMetricsF(font)) + metrics.horizontalAdvance(entry.text)) + 1;
}

double drawLegendEntry(QPainter *painter, const QRectF &rect, const LegendEntry &entry, const QFont &font,
                       const Theme &theme)
{
    QFont used = font;
    used.setBold(entry.isEmphasised);
    const QFontMetricsF metrics(used);
    const double swatch = swatchWidth(entry, QFontMetricsF(font));
    drawSwatch(painter, QRectF(rect.left(), rect.top(), swatch, rect.height()), QFontMetricsF(font).height(), entry,
               theme);
    const double room = std::max(0.0, rect.width() - swatch);
    const QString text = metrics.horizontalAdvance(entry.text) > room + 0.5
                             ? metrics.elidedText(entry.text, Qt::ElideRight, room)
                             : entry.text;
    painter->setFont(used);
    painter->setPen(entry.isEmphasised ? theme.text : theme.mutedText);
    const double baseline = rect.center().y() + (metrics.ascent() - metrics.descent()) / 2;
    painter->drawText(QPointF(rect.left() + swatch, baseline), text);
    return std::ceil(swatch + metrics.horizontalAdvance(text));
}

void drawStrokes(QPainter *painter, const QRectF &rect, double pitch, const QColor &color, double width)
{
    painter->save();
    for (double x = std::ceil(rect.left() / pitch) * pitch; x + width <= rect.right(); x += pitch) {
        painter->fillRect(QRectF(x, rect.top(), width, rect.height()), color);
    }
    painter->restore();
}

const RunStyle &runStyle(const Theme &theme, int style)
{
    return theme.runStyles[static_cast<std::size_t>(((style % kRunStyles) + kRunStyles) % kRunStyles)];
}

QPen runPen(const Theme &theme, int style)
{
    const RunStyle &look = runStyle(theme, style);
    QPen pen(look.color, theme.lineWidth());
    pen.setCapStyle(Qt::FlatCap);
    pen.setJoinStyle(Qt::RoundJoin);
    if (!look.dashes.isEmpty()) {
        pen.setDashPattern(look.dashes);
    }
    return pen;
}

QString singleLine(const QString &text)
{
    QString result;
    result.reserve(text.size());
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar c = text[i];
        if (c == u'\n' || c == u'\r' || c == u'\t' || c == QChar::LineSeparator || c == QChar::ParagraphSeparator) {
            result += u' ';
        } else if (c.isHighSurrogate() && i + 1 < text.size() && text[i + 1].isLowSurrogate()) {
            result += c;
            result += text[++i];
        } else if (c.isSurrogate() || c.category() == QChar::Other_Control || c.unicode() >= 0xfffe) {
            result += QChar::ReplacementCharacter;
        } else {
            result += c;
        }
    }
    return result;
}

} // namespace lectern
