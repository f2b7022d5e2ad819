// SPDX-License-Identifier: GPL-3.0-or-later
// Data flow and input of the charts; drawing is in run_chart_paint.cpp.
#include "widgets/run_chart.h"

#include "widgets/still_label.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QSet>
#include <QVBoxLayout>
#include <QWindow>

#include <algorithm>

namespace lectern {

namespace {

bool hasData(const ShownRun &run)
{
    const RunRecord &record = *run.record;
    return !record.promptTokens.empty() || !record.prefillChunks.empty() || !record.outputTokens.empty() ||
           !record.kv.empty();
}

} // namespace

RunChart::RunChart(const QString &title, const QString &emptyText, QWidget *parent)
    : QFrame(parent)
    , m_title(title)
    , m_plot(new QCustomPlot(this))
    , m_titleLabel(new QLabel(title, this))
    , m_headline(new StillLabel(this))
    , m_emptyLabel(new QLabel(emptyText, this))
    , m_xTicker(new UnitTicker)
    , m_yTicker(new UnitTicker)
    , m_theme(Theme::light())
{
    setProperty("card", true);
    setAccessibleName(title);
    m_titleLabel->setFont(paneTitleFont(font()));
    m_titleLabel->setTextFormat(Qt::PlainText);
    m_titleLabel->setProperty("muted", true);
    m_emptyLabel->setProperty("muted", true);
    QLabel *headlineLabel = m_headline->label();
    headlineLabel->setTextFormat(Qt::RichText);
    headlineLabel->setAccessibleName(tr("%1: key numbers", "accessible name; %1 is a chart title").arg(title));
    headlineLabel->setObjectName(QStringLiteral("headline"));
    headlineLabel->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_emptyLabel->setTextFormat(Qt::PlainText);
    m_emptyLabel->setAlignment(Qt::AlignCenter);
    m_emptyLabel->setWordWrap(true);
    m_emptyLabel->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Expanding);

    auto *titleLine = new QHBoxLayout;
    titleLine->setSpacing(fontMetrics().height()); // title and numbers are told apart
    titleLine->addWidget(m_titleLabel);
    titleLine->addWidget(m_headline, 1);
    auto *layout = new QVBoxLayout(this);
    const int unit = fontMetrics().height() / 2;
    layout->setContentsMargins(unit + 4, unit, unit + 4, unit / 2 + 1);
    layout->setSpacing(unit / 2);
    layout->addLayout(titleLine);
    layout->addWidget(m_plot, 1);
    layout->addWidget(m_emptyLabel, 1);

    setUpPlot();
    applyThemeToPlot();
    updateTexts();
}

RunChart::~RunChart()
{
    m_plot->removeEventFilter(this);
    m_plot->disconnect(this);
}

void RunChart::setUpPlot()
{
    m_plot->setObjectName(QStringLiteral("plot"));
    m_plot->setAccessibleName(m_title);
    m_plot->setPlottingHint(QCP::phFastPolylines, true);
    m_plot->setPlottingHint(QCP::phImmediateRefresh, false); // so that all charts paint in one go
    m_plot->setFocusPolicy(Qt::StrongFocus);
    m_plot->setMouseTracking(true);
    m_plot->setMinimumSize(1, 1);
    m_plot->installEventFilter(this);
    QCPAxisRect *rect = m_plot->axisRect();
    rect->setAutoMargins(QCP::msNone); // a longer label must not shift the plot while it is written
    rect->setRangeDrag(Qt::Horizontal);
    rect->setRangeZoom(Qt::Horizontal);
    m_plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    m_plot->xAxis->setTicker(m_xTicker);
    m_plot->yAxis->setTicker(m_yTicker);
    for (QCPAxis *axis : {m_plot->xAxis, m_plot->yAxis}) {
        // setTicks(false) takes the labels away too, and Qt::NoPen leaves dots in SVG files.
        axis->setTickPen(QPen(Qt::transparent));
        axis->setTickLength(0);
        axis->setSubTicks(false);
        axis->setTickLabelPadding(5);
    }
    m_plot->xAxis->grid()->setVisible(false);
    m_plot->yAxis->setBasePen(Qt::NoPen);
    m_plot->yAxis->grid()->setZeroLinePen(Qt::NoPen);

    new ChartCanvas(m_plot, QStringLiteral("main"), [this](QCPPainter *painter) {
        drawStrip(painter);
        drawData(painter, area());
    });
    new ChartCanvas(m_plot, QStringLiteral("overlay"), [this](QCPPainter *painter) { drawOverlay(painter); });
    connect(m_plot, &QCustomPlot::beforeReplot, this, [this] {
        catchUp();
        prepare(m_plot->viewport().size());
    });
    connect(m_plot, &QCustomPlot::mouseDoubleClick, this, &RunChart::showAll);
    connect(m_plot->xAxis, qOverload<const QCPRange &>(&QCPAxis::rangeChanged), this, &RunChart::keepZoom);
}

void RunChart::setTheme(const Theme &theme)
{
    m_titleLabel->setFont(paneTitleFont(QApplication::font()));
    m_theme = theme;
    applyThemeToPlot();
    updateTexts();
    replotLater();
}

void RunChart::setSelection(TokenSelection *selection)
{
    if (m_selection) {
        m_selection->disconnect(this);
    }
    m_selection = selection;
    if (m_selection) {
        connect(m_selection, &TokenSelection::hoveredChanged, this, [this](TokenRef token) {
            m_highlight = token;
            if (isVisible() && !isEmpty()) {
                m_plot->layer(QStringLiteral("overlay"))->replot(); // this layer only: the data stay as painted
            }
        });
    }
}

void RunChart::setRuns(const QVector<ShownRun> &runs)
{
    const auto idsOf = [](const QVector<ShownRun> &of) {
        QSet<int> ids;
        for (const ShownRun &run : of) {
            ids.insert(run.id);
        }
        return ids;
    };
    if (idsOf(runs) != idsOf(m_runs)) {
        m_zoom.reset(); // a renamed run, or another current one of the same, keeps what is looked at
    }
    m_runs = runs;
    for (ShownRun &run : m_runs) {
        run.title = singleLine(run.title);
        if (!run.metrics) {
            run.metrics = std::make_shared<LiveMetrics>(run.record);
        }
    }
    rebuild();
    updateTexts();
    replotLater();
}

void RunChart::updateRun(int runId)
{
    if (const ShownRun *run = findRun(runId)) {
        if (m_plot->isHidden() && hasData(*run)) {
            updateTexts();
        }
        replotLater();
    }
}

bool RunChart::isEmpty() const
{
    return std::none_of(m_runs.begin(), m_runs.end(), hasData);
}

QString RunChart::dataSummary()
{
    catchUp();
    return isEmpty() ? m_emptyLabel->text() : describe();
}

const ShownRun *RunChart::currentRun() const
{
    for (const ShownRun &run : m_runs) {
        if (run.isCurrent) {
            return &run;
        }
    }
    return m_runs.isEmpty() ? nullptr : &m_runs.last();
}

const ShownRun *RunChart::findRun(int runId) const
{
    const auto found =
        std::find_if(m_runs.begin(), m_runs.end(), [runId](const ShownRun &run) { return run.id == runId; });
    return found == m_runs.end() ? nullptr : &*found;
}

const Metrics &RunChart::metricsFor(const ShownRun &run)
{
    return run.metrics->now();
}

void RunChart::replotLater()
{
    m_isStale = true;
    if (isVisible() && !m_plot->isHidden()) {
        m_plot->replot(QCustomPlot::rpQueuedReplot);
    }
}

// Before every replot, asked for by this chart or not: what is painted reads the record, which may have grown since.
void RunChart::catchUp()
{
    m_isStale = false;
    for (const ShownRun &run : std::as_const(m_runs)) {
        append(run);
    }
    updateTexts();
}

void RunChart::followScreen()
{
    const double ratio = devicePixelRatioF();
    if (m_plot->bufferDevicePixelRatio() == ratio)
        return;
    m_plot->setBufferDevicePixelRatio(ratio); // leaves the new buffers empty
    replotLater();
}

void RunChart::showAll()
{
    m_zoom.reset();
    replotLater();
}

void RunChart::zoom(double factor)
{
    const QCPRange range = m_plot->xAxis->range();
    const double half = range.size() / factor / 2;
    m_plot->xAxis->setRange(range.center() - half, range.center() + half);
    replotLater();
}

// Remembers what the user chose, inside the data's range.
void RunChart::keepZoom(const QCPRange &range)
{
    if (m_isSettingRange) {
        return;
    }
    const double all = m_xRange.size();
    const double size = std::clamp(range.size(), all * 1e-6, all);
    if (size >= all) {
        m_zoom.reset();
        return;
    }
    const double begin = std::clamp(range.center() - size / 2, m_xRange.lower, m_xRange.upper - size);
    m_zoom = QCPRange(begin, begin + size);
}

bool RunChart::moveHighlight(int key)
{
    const ShownRun *run = currentRun();
    if (!m_selection || !run || run->record->outputTokens.empty()) {
        return false;
    }
    const TokenRef now = m_selection->hovered();
    const int last = static_cast<int>(run->record->outputTokens.size()) - 1;
    const int from = now.runId == run->id && now.part == TokenPart::Output ? now.index : -1;
    int index = 0;
    switch (key) {
    case Qt::Key_Left:
        index = std::max(0, from - 1);
        break;
    case Qt::Key_Right:
        index = std::min(last, from + 1);
        break;
    case Qt::Key_End:
        index = last;
        break;
    default:
        break;
    }
    m_selection->setHovered({run->id, TokenPart::Output, index});
    return true;
}

bool RunChart::eventFilter(QObject *watched, QEvent *event)
{
    if (watched != m_plot) {
        return QFrame::eventFilter(watched, event);
    }
    switch (event->type()) {
    case QEvent::MouseMove:
        if (m_selection && !isEmpty()) {
            m_selection->setHovered(tokenAt(static_cast<QMouseEvent *>(event)->position()));
        }
        break;
    case QEvent::Leave:
        if (m_selection) {
            m_selection->clear();
        }
        break;
    case QEvent::FocusIn:
    case QEvent::FocusOut: {
        const Qt::FocusReason reason = static_cast<QFocusEvent *>(event)->reason();
        const bool isByKey =
            reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason || reason == Qt::ShortcutFocusReason;
        m_hasKeyFocus = event->type() == QEvent::FocusIn && isByKey;
        m_plot->layer(QStringLiteral("overlay"))->replot();
        break;
    }
    case QEvent::KeyPress: {
        const int key = static_cast<QKeyEvent *>(event)->key();
        if (key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Home || key == Qt::Key_End) {
            return moveHighlight(key);
        }
        if (key == Qt::Key_Plus || key == Qt::Key_Equal || key == Qt::Key_Minus) {
            zoom(key == Qt::Key_Minus ? 0.5 : 2);
            return true;
        }
        if (key == Qt::Key_0) {
            showAll();
            return true;
        }
        break;
    }
    default:
        break;
    }
    return false;
}

void RunChart::showEvent(QShowEvent *event)
{
    QFrame::showEvent(event);
    followScreen();
    if (QWindow *handle = window()->windowHandle()) {
        connect(handle, &QWindow::screenChanged, this, &RunChart::followScreen, Qt::UniqueConnection);
    }
    updateTexts();
    if (m_isStale) {
        replotLater();
    }
}

void RunChart::resizeEvent(QResizeEvent *event)
{
    QFrame::resizeEvent(event);
    updateTexts();
}

void RunChart::changeEvent(QEvent *event)
{
    QFrame::changeEvent(event);
    if (event->type() == QEvent::FontChange && m_titleLabel) {
        m_titleLabel->setFont(paneTitleFont(font()));
        applyThemeToPlot();
        replotLater();
    }
}

} // namespace lectern
