// SPDX-License-Identifier: GPL-3.0-or-later
// Charts as pictures and files. The program also runs itself with other screen scales: `tst_chart_export
// --render FILE`.
#include "tests/support/sample_record.h"
#include "widgets/chart_export.h"
#include "widgets/kv_chart.h"
#include "widgets/latency_chart.h"
#include "widgets/timeline_chart.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>
#include <QXmlStreamReader>
#include <qcustomplot.h>

#include <algorithm>
#include <memory>

using namespace lectern;

namespace {

QVector<ShownRun> sampleRuns(const QString &title = QStringLiteral("capital of France?"))
{
    SampleRun slow;
    slow.cache = CacheMode::None;
    slow.stepMs = 20;
    return {{1, title, std::make_shared<RunRecord>(sampleRecord()), 0, true},
            {2, QStringLiteral("same, cache off"), std::make_shared<RunRecord>(sampleRecord(slow)), 1, false}};
}

struct AllCharts
{
    TimelineChart timeline;
    KvChart kv;
    LatencyChart latency;
    std::vector<RunChart *> all{&timeline, &kv, &latency};

    explicit AllCharts(const QVector<ShownRun> &runs = sampleRuns())
    {
        for (RunChart *chart : all)
            chart->setRuns(runs);
    }
};

QByteArray contentOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

// What the program does in two threads.
Result<void> exportChart(RunChart &chart, const QString &path, const ChartExportOptions &options)
{
    const Result<ChartDrawing> drawing = recordChart(chart, options);
    return drawing ? writeDrawing(path, *drawing) : tl::unexpected(drawing.error());
}

QImage renderChart(RunChart &chart, const ChartExportOptions &options, const Theme &theme = Theme::light())
{
    return recordChart(chart, options, theme).and_then(&renderDrawing).value_or(QImage());
}

// The three charts one below the other at 4000 x 3000 pixels in all.
bool renderAll(const QString &path)
{
    AllCharts charts;
    QImage sheet(4000, 3000, QImage::Format_RGB32);
    sheet.fill(Qt::white);
    QPainter painter(&sheet);
    for (std::size_t i = 0; i < charts.all.size(); ++i) {
        const QImage image = renderChart(*charts.all[i], {ChartFormat::Png, {1600, 400}, 2.5}, Theme::light());
        if (image.size() != QSize(4000, 1000))
            return false;
        painter.drawImage(0, static_cast<int>(i) * 1000, image);
    }
    painter.end();
    return sheet.save(path);
}

struct SvgContent
{
    QStringList texts; // of <text> elements
    QString title, description;
    QString error;
};

SvgContent parseSvg(const QByteArray &bytes)
{
    SvgContent content;
    QXmlStreamReader xml(bytes);
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement)
            continue;
        if (xml.name() == u"text")
            content.texts.append(xml.readElementText(QXmlStreamReader::IncludeChildElements));
        else if (xml.name() == u"title")
            content.title = xml.readElementText();
        else if (xml.name() == u"desc")
            content.description = xml.readElementText();
    }
    content.error = xml.hasError() ? xml.errorString() : QString();
    return content;
}

} // namespace

class TestChartExport : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void pictureHasExactlyTheChosenPixels()
    {
        AllCharts charts;
        for (RunChart *chart : charts.all) {
            QCOMPARE(renderChart(*chart, {ChartFormat::Png, {800, 450}, 2}, Theme::light()).size(), QSize(1600, 900));
            QCOMPARE(renderChart(*chart, {ChartFormat::Png, {1600, 1200}, 1}, Theme::light()).size(),
                     QSize(1600, 1200));
            QCOMPARE(renderChart(*chart, {ChartFormat::Png, {801, 333}, 1.5}, Theme::light()).size(), QSize(1202, 500));
        }
    }

    void aRecordedChartHasThePixelsOfOneDrawnDirectly()
    {
        // Scripts from fallback fonts and from right to left: their base lines are where pictures of commands go wrong.
        AllCharts charts(sampleRuns(QString::fromUtf8("ü 数据 عربي 😀 <b>")));
        const ChartExportOptions options{ChartFormat::Png, {801, 333}, 1.5};
        for (RunChart *chart : charts.all) {
            for (const Theme &theme : {Theme::light(), Theme::dark()}) {
                QImage direct(QSize(1202, 500), QImage::Format_RGB32);
                direct.setDotsPerMeterX(3780);
                direct.setDotsPerMeterY(3780);
                direct.fill(theme.card);
                QCPPainter painter;
                painter.begin(&direct);
                painter.setMode(QCPPainter::pmNoCaching);
                painter.setMode(QCPPainter::pmNonCosmetic);
                painter.scale(options.scale, options.scale);
                chart->paintTo(&painter, options.size, theme);
                painter.end();
                const Result<ChartDrawing> drawing = recordChart(*chart, options, theme);
                Result<QImage> rendered;
                const std::unique_ptr<QThread> thread(QThread::create([&] { rendered = renderDrawing(*drawing); }));
                thread->start();
                QVERIFY(thread->wait());
                QCOMPARE(*rendered, direct);
            }
        }
    }

    void pictureIsTheSameWhateverTheScreenScale()
    {
        QTemporaryDir folder;
        QList<QImage> images;
        for (const char *scale : {"1", "1.25", "2"}) {
            const QString path = folder.filePath(QStringLiteral("scale-%1.png").arg(QLatin1String(scale)));
            QProcess process;
            QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
            environment.insert(QStringLiteral("QT_SCALE_FACTOR"), QLatin1String(scale));
            process.setProcessEnvironment(environment);
            process.start(QCoreApplication::applicationFilePath(), {QStringLiteral("--render"), path});
            QVERIFY(process.waitForFinished(60000));
            QCOMPARE(process.exitCode(), 0);
            images.append(QImage(path));
            QCOMPARE(images.last().size(), QSize(4000, 3000));
        }
        QCOMPARE(images[1], images[0]);
        QCOMPARE(images[2], images[0]);
    }

    void linesAreDrawnAtFullResolutionNotScaledUp()
    {
        // In a picture scaled up by two all 2 x 2 blocks would be of one colour.
        AllCharts charts;
        for (RunChart *chart : charts.all) {
            const QImage image = renderChart(*chart, {ChartFormat::Png, {800, 300}, 2}, Theme::light());
            int uneven = 0;
            for (int y = 0; y < image.height(); y += 2)
                for (int x = 0; x < image.width(); x += 2)
                    uneven += image.pixel(x, y) != image.pixel(x + 1, y) || image.pixel(x, y) != image.pixel(x, y + 1);
            QVERIFY2(uneven > 2000, qPrintable(QString::number(uneven)));
        }
    }

    void exportsAreLightAndLeaveADarkWindowDark()
    {
        QTemporaryDir folder;
        AllCharts charts;
        for (RunChart *chart : charts.all) {
            chart->setTheme(Theme::dark());
            chart->resize(600, 200);
            const QImage before = chart->grab().toImage();
            const QString path = folder.filePath(QStringLiteral("light.png"));
            QVERIFY(exportChart(*chart, path, {ChartFormat::Png, {600, 200}, 1}));
            const QImage image(path);
            QCOMPARE(image.pixelColor(1, 1), Theme::light().card);
            QCOMPARE(image.pixelColor(598, 198), Theme::light().card);
            QCOMPARE(chart->grab().toImage(), before);
            QCOMPARE(renderChart(*chart, {ChartFormat::Png, {600, 200}, 1}, Theme::dark()).pixelColor(1, 1),
                     Theme::dark().card);
        }
    }

    void theMouseFindsTheSameTokenAfterAnExport()
    {
        KvChart chart;
        TokenSelection selection;
        chart.setSelection(&selection);
        chart.setRuns(sampleRuns());
        chart.resize(700, 260);
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        chart.grab();
        auto *plot = chart.findChild<QCustomPlot *>();
        QList<TokenRef> before, after;
        const auto look = [&](QList<TokenRef> &found) {
            for (int x = 60; x < plot->width(); x += 40) {
                selection.clear();
                QTest::mouseMove(plot, QPoint(x, plot->height() / 2));
                found << selection.hovered();
            }
        };
        look(before);
        QVERIFY(std::count_if(before.begin(), before.end(), [](const TokenRef &token) { return token.isValid(); }) > 5);
        QVERIFY(recordChart(chart, {ChartFormat::Svg, {1900, 900}, 1}));
        look(after);
        QCOMPARE(after, before);
    }

    void svgIsLegalXmlForHostileTitles()
    {
        QString title = QStringLiteral("a");
        title += QChar(0x03);
        title += QChar(0x1b);
        title += QStringLiteral("<a & b> \"c\" ");
        title += QString::fromUtf8("\xF0\x9F\x98\x80");
        title += QChar(0xd800);
        title += QChar(0xffff);
        QTemporaryDir folder;
        AllCharts charts(sampleRuns(title));
        for (RunChart *chart : charts.all) {
            const QString path = folder.filePath(QStringLiteral("hostile.svg"));
            QVERIFY(exportChart(*chart, path, {ChartFormat::Svg, {1200, 450}, 1}));
            const QByteArray bytes = contentOf(path);
            const SvgContent svg = parseSvg(bytes);
            QVERIFY2(svg.error.isEmpty(), qPrintable(svg.error));
            const QString shown = QString::fromUtf8("a\uFFFD\uFFFD<a & b> \"c\" \xF0\x9F\x98\x80\uFFFD\uFFFD");
            QVERIFY2(svg.texts.join(u'|').contains(shown), qPrintable(svg.texts.join(u'|')));
            QCOMPARE(svg.title, chart->title());
            QCOMPARE(bytes.count("<title>"), 1);
            QVERIFY(svg.description.contains(shown));
            for (const char byte : bytes)
                QVERIFY(static_cast<unsigned char>(byte) >= 0x20 || byte == '\n' || byte == '\r' || byte == '\t');
        }
    }

    void svgKeepsTextAsText()
    {
        QTemporaryDir folder;
        AllCharts charts;
        for (RunChart *chart : charts.all) {
            const QString path = folder.filePath(QStringLiteral("chart.svg"));
            QVERIFY(exportChart(*chart, path, {ChartFormat::Svg, {800, 450}, 1}));
            const QByteArray bytes = contentOf(path);
            QVERIFY(bytes.contains("viewBox=\"0 0 800 450\""));
            QVERIFY(!bytes.contains("<image"));
            const QString texts = parseSvg(bytes).texts.join(u'|');
            for (const QString &text :
                 {chart->title().toUpper(), QStringLiteral("capital of France?"), QStringLiteral("same, cache off")})
                QVERIFY2(texts.contains(text, Qt::CaseInsensitive), qPrintable(texts));
        }
    }

    void axesSayTheirNameBelowAllTheirLabels()
    {
        AllCharts charts({{1, QStringLiteral("run"), std::make_shared<RunRecord>(sampleRecord({11, 1000})), 0, true}});
        const auto textsOf = [](RunChart &chart) {
            const Result<ChartDrawing> drawing = recordChart(chart, {ChartFormat::Svg, {800, 450}, 1});
            return parseSvg(drawing.and_then(&drawingBytes).value_or(QByteArray()))
                .texts.replaceInStrings(QRegularExpression(QStringLiteral("^\\s+|\\s+$")), QString());
        };
        const QStringList latency = textsOf(charts.latency), kv = textsOf(charts.kv);
        QVERIFY2(latency.contains(QStringLiteral("output token")) && latency.contains(QLocale().toString(1000)),
                 qPrintable(latency.join(u'|')));
        QVERIFY2(kv.contains(QStringLiteral("tokens held")) && kv.contains(QLocale().toString(1200)),
                 qPrintable(kv.join(u'|')));
    }

    void pdfIsOnePageOfTheChosenSize()
    {
        QTemporaryDir folder;
        AllCharts charts;
        for (RunChart *chart : charts.all) {
            const QString path = folder.filePath(QStringLiteral("chart.pdf"));
            QVERIFY(exportChart(*chart, path, {ChartFormat::Pdf, {800, 400}, 1}));
            const QByteArray bytes = contentOf(path);
            QVERIFY(bytes.startsWith("%PDF-"));
            QVERIFY2(bytes.contains("/MediaBox [0 0 600"),
                     bytes.mid(bytes.indexOf("/MediaBox"), 60).constData()); // 800 / 96 inch
            QVERIFY(!bytes.contains("/Subtype /Image"));
        }
    }

    void impossibleSizesAreRefusedByName()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("old.png"));
        QFile old(path);
        QVERIFY(old.open(QIODevice::WriteOnly) && old.write("old") == 3);
        old.close();
        AllCharts charts;
        for (const ChartExportOptions &options :
             {ChartExportOptions{ChartFormat::Png, {40000, 100}, 1},
              ChartExportOptions{ChartFormat::Png, {800, 450}, 100}, ChartExportOptions{ChartFormat::Png, {0, 450}, 1},
              ChartExportOptions{ChartFormat::Png, {800, 450}, std::nan("")},
              ChartExportOptions{ChartFormat::Svg, {-5, 10}, 1},
              ChartExportOptions{ChartFormat::Pdf, {90000, 10}, 1}}) {
            const auto result = exportChart(charts.kv, path, options);
            QVERIFY(!result);
            QCOMPARE(result.error().code, ErrorCode::InvalidInput);
            QVERIFY(QString::fromStdString(result.error().message).contains(QStringLiteral(" × ")));
            QVERIFY(!result.error().remedy.empty());
        }
        QVERIFY(renderChart(charts.kv, {ChartFormat::Png, {40000, 100}, 1}, Theme::light()).isNull());
        QCOMPARE(contentOf(path), QByteArray("old"));
    }

    void failedWritesNameThePathAndLeaveTheOldFile()
    {
        QTemporaryDir folder;
        AllCharts charts;
        const QString missing = folder.filePath(QStringLiteral("no folder/ü ' chart.svg"));
        const auto result = exportChart(charts.kv, missing, {ChartFormat::Svg, {400, 300}, 1});
        QVERIFY(!result);
        QCOMPARE(result.error().code, ErrorCode::WriteFailed);
        QVERIFY(result.error().text().find("chart.svg") != std::string::npos);
        QVERIFY(QDir(folder.path()).entryList(QDir::Files).isEmpty()); // no stray temporary file

        // A folder that cannot be replaced by a file.
        const QString taken = folder.filePath(QStringLiteral("taken.png"));
        QVERIFY(QDir().mkpath(taken + QStringLiteral("/inside")));
        QVERIFY(!exportChart(charts.kv, taken, {ChartFormat::Png, {400, 300}, 1}));
        QVERIFY(QDir(taken + QStringLiteral("/inside")).exists());
    }

    void namesThatAreNotAsciiWork()
    {
        QTemporaryDir folder;
        AllCharts charts;
        const QString path = folder.filePath(QString::fromUtf8("résumé 数据 Ω.png"));
        QVERIFY(exportChart(charts.kv, path, {ChartFormat::Png, {400, 300}, 1}));
        QCOMPARE(QImage(path).size(), QSize(400, 300));
    }

    void formatFollowsTheSuffix()
    {
        QCOMPARE(formatOfPath(QStringLiteral("a/b.SVG")), ChartFormat::Svg);
        QCOMPARE(formatOfPath(QStringLiteral("b.pdf")), ChartFormat::Pdf);
        QCOMPARE(formatOfPath(QStringLiteral("b.png")), ChartFormat::Png);
        QCOMPARE(formatOfPath(QStringLiteral("v1.2/b")), ChartFormat::Png);
        QCOMPARE(formatOfPath(QStringLiteral("b.data"), ChartFormat::Svg), ChartFormat::Svg);
        QCOMPARE(formatOfPath(QStringLiteral("b.png"), ChartFormat::Svg), ChartFormat::Png);
        for (const ChartFormat format : {ChartFormat::Png, ChartFormat::Svg, ChartFormat::Pdf})
            QCOMPARE(formatOfPath(QStringLiteral("x.") + suffixOf(format)), format);
    }

    void emptyChartsExportTheirTitle()
    {
        QTemporaryDir folder;
        KvChart chart;
        const QString path = folder.filePath(QStringLiteral("empty.svg"));
        QVERIFY(exportChart(chart, path, {ChartFormat::Svg, {800, 450}, 1}));
        QVERIFY(parseSvg(contentOf(path)).texts.join(u'|').contains(chart.title(), Qt::CaseInsensitive));
    }
};

int main(int argc, char **argv)
{
    QApplication application(argc, argv);
    const QStringList arguments = QCoreApplication::arguments();
    if (arguments.size() == 3 && arguments[1] == QStringLiteral("--render"))
        return renderAll(arguments[2]) ? 0 : 1;
    TestChartExport test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_chart_export.moc"
