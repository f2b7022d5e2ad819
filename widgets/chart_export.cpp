// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/chart_export.h"

#include "app/core/run_export.h"

#include <QBuffer>
#include <QClipboard>
#include <QFileInfo>
#include <QGuiApplication>
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
constexpr const char *kTitleMark = "lectern-chart-title", *kDescriptionMark = "lectern-chart-description";

std::string sizeText(const QSize &size)
{
    return std::to_string(size.width()) + " x " + std::to_string(size.height());
}

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
        return fail(ErrorCode::InvalidInput, "a picture of " + sizeText(size) + " pixels is not possible", "size",
                    "Choose at most " + std::to_string(kLargestSide) + " pixels a side and 400 million in all");
    }
    return {};
}

Result<QByteArray> pngBytes(RunChart &chart, const ChartExportOptions &options, const Theme &theme)
{
    const QSize pixels = pixelSize(options);
    if (const auto checked = checkSize(pixels); !checked) {
        return tl::unexpected(checked.error());
    }
    const QImage image = renderChart(chart, options, theme);
    QByteArray bytes;
    QBuffer buffer(&bytes);
    if (image.isNull() || !buffer.open(QIODevice::WriteOnly) || !image.save(&buffer, "PNG")) {
        return fail(ErrorCode::OutOfMemory, "not enough memory for a picture of " + sizeText(pixels) + " pixels",
                    "size", "Choose a smaller size or scale");
    }
    return bytes;
}

QByteArray svgBytes(RunChart &chart, const ChartExportOptions &options, const Theme &theme)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setResolution(kDotsPerInch);
    generator.setSize(options.size);
    generator.setViewBox(QRect(QPoint(0, 0), options.size));
    generator.setTitle(QString::fromLatin1(kTitleMark));
    generator.setDescription(QString::fromLatin1(kDescriptionMark));
    QCPPainter painter;
    painter.begin(&generator);
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    chart.paintTo(&painter, options.size, theme);
    painter.end();
    // The generator of Qt 6.4 does not escape these two (a title <a & b> gave a file that is not XML): it gets marks to
    // replace.
    bytes.replace(kTitleMark, singleLine(chart.title()).toHtmlEscaped().toUtf8());
    bytes.replace(kDescriptionMark, singleLine(chart.dataSummary()).toHtmlEscaped().toUtf8());
    return bytes;
}

QByteArray pdfBytes(RunChart &chart, const ChartExportOptions &options, const Theme &theme)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    writer.setResolution(kDotsPerInch * 10); // fine enough for positions; fonts are embedded as outlines
    writer.setPageSize(QPageSize(QSizeF(options.size) / kDotsPerInch, QPageSize::Inch, {}, QPageSize::ExactMatch));
    writer.setPageMargins(QMarginsF(0, 0, 0, 0));
    writer.setTitle(singleLine(chart.title()));
    writer.setCreator(QStringLiteral("Lectern"));
    QCPPainter painter;
    painter.begin(&writer);
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    painter.setMode(QCPPainter::pmNonCosmetic);
    painter.scale(10, 10);
    chart.paintTo(&painter, options.size, theme);
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

ChartFormat formatOfPath(const QString &path)
{
    const QString suffix = QFileInfo(path).suffix().toLower();
    for (const ChartFormat format : {ChartFormat::Svg, ChartFormat::Pdf}) {
        if (suffix == suffixOf(format)) {
            return format;
        }
    }
    return ChartFormat::Png;
}

QImage renderChart(RunChart &chart, const ChartExportOptions &options, const Theme &theme)
{
    const QSize pixels = pixelSize(options);
    if (!checkSize(pixels)) {
        return {};
    }
    QImage image(pixels, QImage::Format_RGB32);
    if (image.isNull()) {
        return {};
    }
    // A screen's dots per inch must not decide the size of text.
    image.setDotsPerMeterX(static_cast<int>(std::lround(kDotsPerInch / 0.0254)));
    image.setDotsPerMeterY(static_cast<int>(std::lround(kDotsPerInch / 0.0254)));
    image.fill(theme.card);
    QCPPainter painter;
    if (!painter.begin(&image)) {
        return {};
    }
    painter.setMode(QCPPainter::pmNoCaching);
    painter.setMode(QCPPainter::pmNonCosmetic);
    painter.scale(options.scale, options.scale);
    chart.paintTo(&painter, options.size, theme);
    painter.end();
    return image;
}

Result<void> exportChart(RunChart &chart, const QString &path, const ChartExportOptions &options, const Theme &theme)
{
    if (const auto checked = checkSize(options.size); !checked) {
        return tl::unexpected(checked.error());
    }
    Result<QByteArray> bytes;
    switch (options.format) {
    case ChartFormat::Svg:
        bytes = svgBytes(chart, options, theme);
        break;
    case ChartFormat::Pdf:
        bytes = pdfBytes(chart, options, theme);
        break;
    case ChartFormat::Png:
        bytes = pngBytes(chart, options, theme);
        break;
    }
    if (!bytes) {
        return tl::unexpected(bytes.error());
    }
    return writeBytes(path, *bytes);
}

Result<void> copyChart(RunChart &chart, const ChartExportOptions &options, const Theme &theme)
{
    if (const auto checked = checkSize(pixelSize(options)); !checked) {
        return tl::unexpected(checked.error());
    }
    const QImage image = renderChart(chart, options, theme);
    if (image.isNull()) {
        return fail(ErrorCode::OutOfMemory,
                    "not enough memory for a picture of " + sizeText(pixelSize(options)) + " pixels", "size",
                    "Choose a smaller size or scale");
    }
    QGuiApplication::clipboard()->setImage(image);
    return {};
}

} // namespace lectern
