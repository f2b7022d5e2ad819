// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/chart_export.h"

#include "app/core/run_export.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QFileInfo>
#include <QPageSize>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <qcustomplot.h>

#include <cmath>

namespace lectern {

namespace {

constexpr int kLargestSide = 30000;     // pixels; QPainter's own coordinates end at 32,767
constexpr double kLargestImage = 400e6; // pixels: 1.6 GB
constexpr int kDotsPerInch = 96;        // of the logical pixels
constexpr int kPdfScale = 10;           // finer than that: for positions; fonts are embedded as outlines
constexpr const char *kTitleMark = "lectern-chart-title", *kDescriptionMark = "lectern-chart-description";

struct ExportText
{
    Q_DECLARE_TR_FUNCTIONS(lectern::ExportText)
};

QSize pixelSize(const ChartExportOptions &options)
{
    const auto scaled = [&](int length) {
        const double pixels = std::round(length * options.scale);
        return std::isfinite(pixels) && std::abs(pixels) < 1e9 ? static_cast<int>(pixels) : -1;
    };
    return {scaled(options.size.width()), scaled(options.size.height())};
}

Result<void> checkSize(const QSize &size)
{
    const bool isInRange =
        size.width() >= 1 && size.height() >= 1 && size.width() <= kLargestSide && size.height() <= kLargestSide;
    if (!isInRange || static_cast<double>(size.width()) * size.height() > kLargestImage) {
        return fail(
            ErrorCode::InvalidInput,
            ExportText::tr("a picture of %1 × %2 pixels is not possible")
                .arg(size.width())
                .arg(size.height())
                .toStdString(),
            ExportText::tr("size").toStdString(),
            ExportText::tr("Choose at most %1 pixels a side and 400 million in all").arg(kLargestSide).toStdString());
    }
    return {};
}

tl::unexpected<Error> tooLarge(const QSize &size)
{
    return fail(ErrorCode::OutOfMemory,
                ExportText::tr("not enough memory for a picture of %1 × %2 pixels")
                    .arg(size.width())
                    .arg(size.height())
                    .toStdString(),
                ExportText::tr("size").toStdString(), ExportText::tr("Choose a smaller size or scale").toStdString());
}

QByteArray svgBytes(const ChartDrawing &drawing)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setResolution(kDotsPerInch);
    generator.setSize(drawing.options.size);
    generator.setViewBox(QRect(QPoint(0, 0), drawing.options.size));
    generator.setTitle(QString::fromLatin1(kTitleMark));
    generator.setDescription(QString::fromLatin1(kDescriptionMark));
    QPainter painter(&generator);
    drawing.commands.replay(painter);
    painter.end();
    // The generator of Qt 6.4 does not escape these two (a title <a & b> gave a file that is not XML): it gets marks to
    // replace.
    bytes.replace(kTitleMark, drawing.title.toHtmlEscaped().toUtf8());
    bytes.replace(kDescriptionMark, drawing.description.toHtmlEscaped().toUtf8());
    return bytes;
}

QByteArray pdfBytes(const ChartDrawing &drawing)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    writer.setResolution(kDotsPerInch * kPdfScale);
    const QSizeF inches = QSizeF(drawing.options.size) / kDotsPerInch;
    writer.setPageSize(QPageSize(inches, QPageSize::Inch, {}, QPageSize::ExactMatch));
    writer.setPageMargins(QMarginsF(0, 0, 0, 0));
    writer.setTitle(drawing.title);
    writer.setCreator(QStringLiteral("Lectern"));
    QPainter painter(&writer);
    painter.scale(kPdfScale, kPdfScale);
    drawing.commands.replay(painter);
    painter.end();
    return bytes;
}

} // namespace

QString suffixOf(ChartFormat format)
{
    switch (format) {
    case ChartFormat::Svg:
        return QStringLiteral("svg");
    case ChartFormat::Pdf:
        return QStringLiteral("pdf");
    case ChartFormat::Png:
        break;
    }
    return QStringLiteral("png");
}

ChartFormat formatOfPath(const QString &path, ChartFormat otherwise)
{
    const QString suffix = QFileInfo(path).suffix().toLower();
    for (const ChartFormat format : {ChartFormat::Png, ChartFormat::Svg, ChartFormat::Pdf}) {
        if (suffix == suffixOf(format)) {
            return format;
        }
    }
    return otherwise;
}

Result<ChartDrawing> recordChart(RunChart &chart, const ChartExportOptions &options, const Theme &theme)
{
    const bool isPng = options.format == ChartFormat::Png;
    for (const QSize &size : {options.size, isPng ? pixelSize(options) : options.size}) {
        if (const auto checked = checkSize(size); !checked) {
            return tl::unexpected(checked.error());
        }
    }
    PaintRecorder recorder(options.size);
    QCPPainter painter;
    painter.begin(&recorder);
    // Vector files keep fractions of a pixel, pictures get lines on whole ones.
    painter.setMode(QCPPainter::pmVectorized, !isPng);
    painter.setMode(QCPPainter::pmNoCaching);
    painter.setMode(QCPPainter::pmNonCosmetic);
    chart.paintTo(&painter, options.size, theme);
    painter.end();
    return ChartDrawing{options, theme.card, singleLine(chart.title()), singleLine(chart.dataSummary()),
                        recorder.take()};
}

Result<QImage> renderDrawing(const ChartDrawing &drawing)
{
    const QSize pixels = pixelSize(drawing.options);
    QImage image(pixels, QImage::Format_RGB32);
    if (image.isNull()) {
        return tooLarge(pixels);
    }
    // A screen's dots per inch must not decide the size of text.
    image.setDotsPerMeterX(static_cast<int>(std::lround(kDotsPerInch / 0.0254)));
    image.setDotsPerMeterY(static_cast<int>(std::lround(kDotsPerInch / 0.0254)));
    image.fill(drawing.background);
    QPainter painter(&image);
    painter.scale(drawing.options.scale, drawing.options.scale);
    drawing.commands.replay(painter);
    painter.end();
    return image;
}

Result<QByteArray> pngBytes(const QImage &image)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    if (!buffer.open(QIODevice::WriteOnly) || !image.save(&buffer, "PNG")) {
        return tooLarge(image.size());
    }
    return bytes;
}

Result<QByteArray> drawingBytes(const ChartDrawing &drawing)
{
    switch (drawing.options.format) {
    case ChartFormat::Svg:
        return svgBytes(drawing);
    case ChartFormat::Pdf:
        return pdfBytes(drawing);
    case ChartFormat::Png:
        break;
    }
    const Result<QImage> image = renderDrawing(drawing);
    return image ? pngBytes(*image) : tl::unexpected(image.error());
}

Result<void> writeDrawing(const QString &path, const ChartDrawing &drawing)
{
    const Result<QByteArray> bytes = drawingBytes(drawing);
    return bytes ? writeBytes(path, *bytes) : tl::unexpected(bytes.error());
}

} // namespace lectern
