// SPDX-License-Identifier: GPL-3.0-or-later
// Looks of the charts: margins, axes, title line, legend, highlight, export.
#include "app/core/format.h"
#include "app/core/metric_text.h"
#include "widgets/run_chart.h"
#include "widgets/still_label.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace lectern {

namespace {

// Plots of at least so many lines of text have one for the name of the x axis.
constexpr double kNameRowLines = 6.5;
constexpr int kExportPixels = 13; // text height in exports, at 96 dpi; 1.5 times for projectors

QString richText(const QVector<HeadlinePart> &parts, const Theme &theme)
{
    QString text;
    for (const HeadlinePart &part : parts) {
        if (!text.isEmpty()) {
            text += QStringLiteral("<span style='color:%1'> · </span>").arg(theme.mutedText.name());
        }
        const QString escaped = part.text.toHtmlEscaped().replace(u' ', QStringLiteral("&nbsp;"));
        text += part.isStrong ? QStringLiteral("<b style='color:%1'>%2</b>").arg(theme.text.name(), escaped)
                              : QStringLiteral("<span style='color:%1'>%2</span>").arg(theme.mutedText.name(), escaped);
    }
    return text;
}

double partWidth(const HeadlinePart &part, QFont font)
{
    font.setBold(part.isStrong);
    return QFontMetricsF(font).horizontalAdvance(part.text);
}

} // namespace

QFont RunChart::smallFont() const
{
    QFont font = m_exportFont.value_or(this->font());
    if (font.pixelSize() > 0) {
        font.setPixelSize(std::max(1, static_cast<int>(std::lround(font.pixelSize() * 0.9))));
    } else {
        font.setPointSizeF(font.pointSizeF() * 0.92);
    }
    return font;
}

double RunChart::leftMargin(double) const
{
    return QFontMetricsF(smallFont()).horizontalAdvance(QStringLiteral("00.00")) + 6;
}

double RunChart::rightMargin(double) const
{
    return QFontMetricsF(smallFont()).horizontalAdvance(QStringLiteral("00,000")) / 2 + 1; // half of the last label
}

void RunChart::setXAxis(const QString &name, const QString &shortName, const AxisUnit &unit, double end, bool isCount,
                        double begin)
{
    m_xShortName = shortName;
    m_xName = unit.name.isEmpty() ? name : tr("%1, %2", "axis name: quantity, unit").arg(name, unit.name);
    m_xRange = QCPRange(begin, end);
    m_xTicker->setUnit(unit);
    m_xTicker->setIntegers(isCount);
}

void RunChart::setYAxis(const QString &name, const AxisUnit &unit, double end)
{
    m_yName = name.isEmpty() ? QString() : tr("%1, %2", "axis name: quantity, unit").arg(name, unit.name);
    m_yTicker->setUnit(unit);
    m_plot->yAxis->setTickLabels(!name.isEmpty());
    m_plot->yAxis->grid()->setVisible(!name.isEmpty());
    m_plot->yAxis->setRange(0, end);
}

// Down to the base line, which has the last pixel row of the axis rectangle.
QRectF RunChart::area() const
{
    return QRectF(m_plot->axisRect()->rect()).adjusted(0, 0, 0, -1);
}

// Everything that depends on the size, right before drawing. Margins come from the font alone.
void RunChart::prepare(const QSize &viewport)
{
    const QFontMetricsF metrics(smallFont());
    const int left = static_cast<int>(std::ceil(leftMargin(viewport.width()))),
              right = static_cast<int>(std::ceil(rightMargin(viewport.width())));
    m_hasNameRow = m_exportFont || viewport.height() >= metrics.height() * kNameRowLines;
    const int top = static_cast<int>(std::ceil(metrics.height() * 1.6)),
              bottom = static_cast<int>(std::ceil(metrics.height() * (m_hasNameRow ? 2 : 1))) + 7;
    m_plot->axisRect()->setMargins(QMargins(left, top, right, bottom));
    const QSizeF area(std::max(1, viewport.width() - left - right), std::max(1, viewport.height() - top - bottom));
    m_isSettingRange = true;
    updateAxes(area);
    const QCPRange range = m_zoom.value_or(m_xRange);
    m_plot->xAxis->setRange(range);
    m_isSettingRange = false;
    m_xTicker->setTickCount(std::max(2, static_cast<int>(area.width() / (metrics.averageCharWidth() * 12))));
    m_yTicker->setTickCount(std::clamp(static_cast<int>(area.height() / (metrics.height() * 1.9)), 1, 5));
}

void RunChart::applyThemeToPlot()
{
    m_plot->setBackground(QBrush(m_theme.card));
    for (QCPAxis *axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setTickLabelFont(smallFont());
        axis->setTickLabelColor(m_theme.mutedText);
        axis->grid()->setPen(QPen(m_theme.grid, 1));
    }
    m_plot->xAxis->setBasePen(QPen(mixed(m_theme.border, m_theme.mutedText, 0.4), 1));
}

QVector<HeadlinePart> RunChart::fittingHeadline(double width) const
{
    const QFont font = m_exportFont.value_or(this->font());
    const double separator = QFontMetricsF(font).horizontalAdvance(QStringLiteral(" · "));
    QVector<HeadlinePart> parts;
    double used = 0;
    for (const HeadlinePart &part : headline()) {
        used += partWidth(part, font) + (parts.isEmpty() ? 0 : separator);
        if (used > width) {
            break;
        }
        parts.append(part);
    }
    return parts;
}

void RunChart::updateTexts()
{
    const bool empty = isEmpty();
    m_plot->setHidden(empty);
    m_emptyLabel->setHidden(!empty);
    m_headline->setFont(font());
    const double room = m_headline->width() - 4;
    m_headline->setText(empty ? QString() : richText(fittingHeadline(room), m_theme));
    const ShownRun *current = currentRun();
    if (empty || (current && !current->isLive())) {
        const QString words = empty ? m_emptyLabel->text() : describe();
        setAccessibleDescription(words);
        m_plot->setAccessibleDescription(words);
    }
}

QColor RunChart::currentColor(const QColor &phase) const
{
    const ShownRun *run = currentRun();
    return run && m_runs.size() > 1 ? runStyle(m_theme, run->style).color : phase;
}

std::vector<LegendEntry> RunChart::runLegend(Swatch overlaySwatch) const
{
    std::vector<LegendEntry> entries;
    if (m_runs.size() < 2) {
        return entries;
    }
    for (const ShownRun &run : m_runs) {
        LegendEntry entry{run.title, run.isCurrent ? Swatch::None : overlaySwatch, {}, run.style, run.isCurrent};
        entries.insert(run.isCurrent ? entries.begin() : entries.end(), entry);
    }
    return entries;
}

// The line above the plot: name of the y axis at its left end, legend at its right end. Long run titles share what room
// there is.
void RunChart::drawStrip(QCPPainter *painter)
{
    const QRectF area = this->area();
    const QFont font = smallFont();
    const QFontMetricsF metrics(font);
    const double gap = metrics.averageCharWidth() * 2;
    QRectF line(0, 0, area.right(), area.top() - metrics.height() * 0.5);
    painter->setFont(font);
    painter->setPen(m_theme.mutedText);
    if (!m_yName.isEmpty()) {
        painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter, m_yName);
        line.setLeft(metrics.horizontalAdvance(m_yName) + gap * 2);
    }
    drawXName(painter);
    std::vector<LegendEntry> entries = legend();
    if (m_zoom && !m_exportFont) {
        entries.insert(entries.begin(), {tr("enlarged: double click shows all"), Swatch::None, {}, -1, false});
    }
    int rest = 0; // runs that are counted in a last entry, which is not cut
    const auto widthOf = [&](const LegendEntry &entry, double most) {
        const double width = legendWidth(entry, font);
        return rest > 0 && entry.style < 0 ? width : std::min(most, width);
    };
    const auto widthAt = [&](double most) {
        double sum = 0;
        for (const LegendEntry &entry : entries) {
            sum += widthOf(entry, most) + gap;
        }
        return sum - gap;
    };
    double limit = line.width();
    if (widthAt(limit) > line.width()) {
        for (LegendEntry &entry : entries) {
            entry.text = entry.shortText.isEmpty() ? entry.text : entry.shortText;
        }
    }
    // Names of runs are cut, and counted where a letter or two would be left; of other names the last ones give way.
    const bool namesRuns = !entries.empty() && entries.back().style >= 0;
    while (!namesRuns && entries.size() > 2 && widthAt(limit) > line.width() + 1) {
        entries.pop_back();
    }
    const double least = namesRuns ? metrics.height() * 2.2 + metrics.averageCharWidth() * 10
                                   : metrics.height() + metrics.averageCharWidth() * 5;
    while (limit > least && widthAt(limit) > line.width()) {
        limit -= 4;
    }
    auto named =
        std::count_if(entries.begin(), entries.end(), [](const LegendEntry &entry) { return entry.style >= 0; });
    while (namesRuns && named > 1 && widthAt(limit) > line.width() + 1) {
        if (entries.front().style < 0) { // a run's name says more
            entries.erase(entries.begin());
            continue;
        }
        --named;
        entries.erase(entries.end() - (rest > 0 ? 2 : 1), entries.end());
        entries.push_back({tr("+ %n more", "runs without room in the legend", ++rest), Swatch::None, {}, -1, false});
    }
    double left = std::max(line.left(), line.right() - widthAt(limit));
    for (const LegendEntry &entry : entries) {
        const double width = widthOf(entry, limit);
        if (left + width > line.right() + 1) {
            break;
        }
        drawLegendEntry(painter, QRectF(left, line.top(), width, line.height()), entry, font, m_theme);
        left += width + gap;
    }
}

// Below the tick labels. In low plots beside them: at the right end, or left of the last label where that one is there.
void RunChart::drawXName(QCPPainter *painter) const
{
    const QRectF area = this->area();
    const QFontMetricsF metrics(smallFont());
    // QCustomPlot puts the labels 5 pixels below its axis.
    QRectF line(area.left(), area.bottom() + 4, area.width(), metrics.height());
    if (m_hasNameRow) {
        line.translate(0, metrics.height());
        painter->drawText(line, Qt::AlignRight | Qt::AlignTop,
                          metrics.elidedText(m_xName, Qt::ElideRight, line.width()));
        return;
    }
    const double gap = metrics.averageCharWidth();
    const double width = metrics.horizontalAdvance(m_xShortName);
    const double middle = x(m_xTicker->lastTick()), half = metrics.horizontalAdvance(m_xTicker->lastLabel()) / 2;
    if (middle + half + gap > line.right() - width) {
        line.setRight(middle - half - gap);
    }
    painter->drawText(line, Qt::AlignRight | Qt::AlignTop | Qt::TextDontClip, m_xShortName);
}

void RunChart::drawOverlay(QCPPainter *painter)
{
    if (m_exportFont) {
        return;
    }
    if (m_hasKeyFocus && m_plot->hasFocus()) {
        painter->setPen(QPen(m_theme.accent, 1));
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(QRectF(m_plot->viewport()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
    const ShownRun *run = findRun(m_highlight.runId);
    if (run && m_highlight.isValid()) {
        const auto &tokens =
            m_highlight.part == TokenPart::Prompt ? run->record->promptTokens : run->record->outputTokens;
        if (static_cast<std::size_t>(m_highlight.index) < tokens.size()) {
            drawHighlight(painter, area(), *run, m_highlight);
        }
    }
}

QString RunChart::readout(const ShownRun &run, TokenRef token, const QString &detail) const
{
    const auto &tokens = token.part == TokenPart::Prompt ? run.record->promptTokens : run.record->outputTokens;
    const QString text = visibleTokenText(tokens[static_cast<std::size_t>(token.index)].bytes);
    const QString number = QLocale().toString(token.index + 1);
    const QString name =
        token.part == TokenPart::Prompt ? tr("prompt token %1").arg(number) : tr("token %1").arg(number);
    return tr("%1 “%2” · %3", "token number, its text, a value").arg(name, text, detail);
}

void RunChart::drawCursor(QCPPainter *painter, const QRectF &area, double at, const QString &text) const
{
    if (at < area.left() - 1 || at > area.right() + 1) {
        return;
    }
    const QFont font = smallFont();
    const QFontMetricsF metrics(font);
    painter->setPen(QPen(m_theme.text, 1));
    const double line = std::floor(at) + 0.5;
    painter->drawLine(QPointF(line, area.top()), QPointF(line, area.bottom()));
    const QSizeF size(metrics.horizontalAdvance(text) + metrics.averageCharWidth() * 1.6, metrics.height() * 1.25);
    double left = line + 5;
    if (left + size.width() > m_plot->viewport().right()) {
        left = std::max(0.0, line - 5 - size.width());
    }
    const QRectF box(std::floor(left) + 0.5, std::floor(area.top()) + 1.5, std::ceil(size.width()),
                     std::ceil(size.height()));
    painter->setBrush(m_theme.card);
    painter->setPen(QPen(m_theme.accent, 1));
    painter->drawRoundedRect(box, 3, 3);
    painter->setFont(font);
    painter->setPen(m_theme.text);
    painter->drawText(box, Qt::AlignCenter, text);
}

void RunChart::drawTitleLine(QCPPainter *painter, const QRectF &rect) const
{
    painter->setFont(paneTitleFont(*m_exportFont));
    painter->setPen(m_theme.mutedText);
    painter->drawText(rect, Qt::AlignLeft | Qt::AlignVCenter, m_title.toUpper());
    const double title = QFontMetricsF(painter->font()).horizontalAdvance(m_title.toUpper());
    const QVector<HeadlinePart> parts = fittingHeadline(rect.width() - title - QFontMetricsF(*m_exportFont).height());
    const QString separator = QStringLiteral(" · ");
    double left = rect.right();
    for (qsizetype i = parts.size() - 1; i >= 0; --i) {
        QFont font = *m_exportFont;
        font.setBold(parts[i].isStrong);
        left -= QFontMetricsF(font).horizontalAdvance(parts[i].text);
        painter->setFont(font);
        painter->setPen(parts[i].isStrong ? m_theme.text : m_theme.mutedText);
        painter->drawText(QRectF(left, rect.top(), rect.right() - left + 2, rect.height()),
                          Qt::AlignLeft | Qt::AlignVCenter, parts[i].text);
        if (i > 0) {
            left -= QFontMetricsF(*m_exportFont).horizontalAdvance(separator);
            painter->setFont(*m_exportFont);
            painter->setPen(m_theme.mutedText);
            painter->drawText(QRectF(left, rect.top(), rect.width(), rect.height()), Qt::AlignLeft | Qt::AlignVCenter,
                              separator);
        }
    }
}

void RunChart::paintTo(QCPPainter *painter, const QSize &size, const Theme &theme)
{
    const bool wasStale = m_isStale;
    catchUp();
    const Theme screenTheme = std::exchange(m_theme, theme);
    QFont font = this->font();
    font.setPixelSize(static_cast<int>(std::lround(kExportPixels * (theme.isProjector ? 1.5 : 1))));
    font.setHintingPreference(QFont::PreferNoHinting); // else the screen's scale would decide the shapes
    m_exportFont = font;
    applyThemeToPlot();

    const double line = QFontMetricsF(font).height(), pad = std::round(line * 0.8);
    painter->fillRect(QRect(QPoint(0, 0), size), theme.card);
    painter->setAntialiasing(false);
    const QRectF inner = QRectF(QPointF(0, 0), QSizeF(size)).adjusted(pad, pad * 0.75, -pad, -pad * 0.6);
    drawTitleLine(painter, QRectF(inner.left(), inner.top(), inner.width(), line));
    painter->setFont(smallFont());
    painter->setPen(m_theme.mutedText);
    if (const ShownRun *run = currentRun()) {
        const RunRecord &record = *run->record;
        QStringList source{
            m_runs.size() < 2
                ? run->title
                : tr("%1 and %n more run(s)", nullptr, static_cast<int>(m_runs.size()) - 1).arg(run->title),
            (modelTitle(record.model) + u' ' + singleLine(QString::fromStdString(record.model.quantisation))).trimmed(),
            singleLine(QString::fromStdString(record.engine.backend)).toUpper()};
        source.removeAll(QString());
        const QString text =
            QFontMetricsF(smallFont()).elidedText(source.join(QStringLiteral(" · ")), Qt::ElideRight, inner.width());
        painter->drawText(QRectF(inner.left(), inner.bottom() - line, inner.width(), line),
                          Qt::AlignLeft | Qt::AlignVCenter, text);
    }
    const QRect plotRect =
        QRectF(inner.left(), inner.top() + line * 1.3, inner.width(), inner.height() - line * 2.5).toAlignedRect();
    if (plotRect.width() > 1 && plotRect.height() > 1) {
        prepare(plotRect.size());
        painter->save();
        painter->translate(plotRect.topLeft());
        m_plot->toPainter(painter, plotRect.width(), plotRect.height());
        painter->restore();
    }
    m_exportFont.reset();
    m_theme = screenTheme;
    applyThemeToPlot();
    // What is on the screen is still right: only the layout is made again, so that the mouse finds what it shows.
    prepare(m_plot->viewport().size());
    for (const auto phase :
         {QCPLayoutElement::upPreparation, QCPLayoutElement::upMargins, QCPLayoutElement::upLayout}) {
        m_plot->plotLayout()->update(phase);
    }
    m_isStale = wasStale;
}

} // namespace lectern
