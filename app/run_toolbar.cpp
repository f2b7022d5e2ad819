// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/run_toolbar.h"

#include "app/core/error_text.h"
#include "app/core/format.h"
#include "app/more_panel.h"
#include "app/number_boxes.h"
#include "app/seed_box.h"
#include "engine/trace/request_limits.h"

#include <QAction>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLayout>
#include <QMenu>
#include <QSpinBox>
#include <QToolButton>
#include <QWidgetAction>

namespace lectern {

namespace {

// As wide as so many digits, not as the largest value of the range.
void limitWidth(QAbstractSpinBox *box, int digits)
{
    box->setFixedWidth(box->fontMetrics().averageCharWidth() * digits + box->fontMetrics().height() * 2);
}

} // namespace

RunToolBar::RunToolBar(Settings *settings, QWidget *parent)
    : QToolBar(tr("Run"), parent)
    , m_settings(settings)
{
    setObjectName(QStringLiteral("runToolBar"));
    setMovable(false);
    setFloatable(false);
    setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    setIconSize(QSize(fontMetrics().height(), fontMetrics().height()));
    setContextMenuPolicy(Qt::PreventContextMenu);

    const auto menuButton = [this](const QString &text, const QString &toolTip, const char *name, QMenu *&menu) {
        auto *button = new QToolButton(this);
        menu = new QMenu(button);
        button->setObjectName(QLatin1String(name));
        button->setText(text);
        button->setToolTip(toolTip);
        button->setAccessibleName(toolTip);
        button->setMenu(menu);
        button->setPopupMode(QToolButton::InstantPopup);
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        return button;
    };

    m_model = menuButton(tr("No model"), tr("Model that answers"), "modelButton", m_modelMenu);
    addWidget(m_model);
    m_backend = new QComboBox(this);
    m_backend->setObjectName(QStringLiteral("backendBox"));
    m_backend->setAccessibleName(tr("Backend"));
    m_backend->setToolTip(
        tr("What computes: the fast CPU engine, or the plain reference in 32-bit floats (slow, exact)."));
    m_backend->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_backend->setMinimumContentsLength(5);
    m_backend->addItem(backendName("cpu"), static_cast<int>(BackendChoice::Cpu));
    m_backend->addItem(backendName("reference"), static_cast<int>(BackendChoice::Reference));
    m_backendPlace = addWidget(m_backend);
    addSeparator();

    m_run = addAction(tr("Run"));
    m_run->setObjectName(QStringLiteral("run"));
    m_run->setShortcuts({QKeySequence(Qt::CTRL | Qt::Key_Return), QKeySequence(Qt::CTRL | Qt::Key_Enter)});
    m_run->setToolTip(tr("Run the prompt to the end (Ctrl+Enter)"));
    widgetForAction(m_run)->setObjectName(QStringLiteral("runButton"));
    widgetForAction(m_run)->setProperty("primary", true);
    m_stop = addAction(tr("Stop"));
    m_stop->setObjectName(QStringLiteral("stop"));
    m_stop->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Period));
    m_stop->setToolTip(tr("Stop loading or running (Ctrl+.)"));
    m_step = addAction(tr("Step"));
    m_step->setObjectName(QStringLiteral("step"));
    m_step->setShortcut(QKeySequence(Qt::Key_F10));
    m_step->setToolTip(tr("One token: one pass through the model (F10)"));
    addSeparator();

    m_kvCache = new QAction(tr("KV cache"), this);
    m_kvCache->setObjectName(QStringLiteral("kvCache"));
    m_kvCache->setCheckable(true);
    m_kvCache->setToolTip(tr(
        "On: keys and values of earlier tokens are kept. Off: the whole context is computed again for every token."));
    addAction(m_kvCache);

    m_maxTokens = wholeBox(this, "maxTokens", 1, kMaxOutputTokens);
    m_maxTokens->setToolTip(tr("Longest answer in tokens"));
    m_maxTokensPlace = addWidget(labelled(tr("max"), m_maxTokens));
    m_temperature = decimalBox(this, "temperature", 0, kMaxTemperature, 0.1, 3);
    m_temperature->setToolTip(tr("Temperature: 0 always takes the most likely token; higher values spread the choice"));
    m_temperaturePlace = addWidget(labelled(tr("temp"), m_temperature));
    m_seed = new SeedBox(this);
    m_seed->setObjectName(QStringLiteral("seed"));
    m_seed->setToolTip(tr("Seed of the random numbers: the same seed gives the same answer"));
    m_seedPlace = addWidget(labelled(tr("seed"), m_seed));
    addMoreMenu();

    auto *spacer = new QWidget(this);
    spacer->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    addWidget(spacer);
    m_samplesButton = menuButton(tr("Samples"), tr("Sample prompts"), "samplesButton", m_samplesMenu);
    addWidget(m_samplesButton);
    m_exportButton = menuButton(tr("Export"), tr("Export charts and data of the run"), "exportButton", m_exportMenu);
    addWidget(m_exportButton);

    setSampling(settings->sampling());
    setMaxTokens(settings->maxTokens());
    setUsesKvCache(settings->usesKvCache());
    setContextTokens(settings->contextTokens());
    setBackend(settings->usesReference() ? BackendChoice::Reference : BackendChoice::Cpu);
    m_reuse->setChecked(settings->reusesPrefix());
    const auto remember = [this] {
        if (!m_remembers)
            return;
        m_settings->setSampling(sampling());
        m_settings->setMaxTokens(maxTokens());
        m_settings->setUsesKvCache(usesKvCache());
        m_settings->setReusesPrefix(reusesPrefix());
        m_settings->setUsesReference(backend() == BackendChoice::Reference);
        m_settings->setContextTokens(contextTokens());
    };
    connect(m_temperature, &QDoubleSpinBox::valueChanged, this, remember);
    connect(m_seed, &SeedBox::valueChanged, this, remember);
    connect(m_maxTokens, &QSpinBox::valueChanged, this, remember);
    connect(m_more, &MorePanel::changed, this, remember);
    connect(m_maxTokens, &QSpinBox::valueChanged, this, &RunToolBar::maxTokensChanged);
    for (QAction *action : {m_kvCache, m_reuse})
        connect(action, &QAction::toggled, this, remember);
    connect(m_backend, &QComboBox::currentIndexChanged, this, remember);
    connect(m_backend, &QComboBox::currentIndexChanged, this, &RunToolBar::loadOptionsChanged);
    connect(m_more, &MorePanel::contextChosen, this, [this, remember] {
        remember();
        Q_EMIT loadOptionsChanged();
    });
    addFoldables();
    fitFields();
    setState(SessionState::NoModel, nullptr, {});
}

QWidget *RunToolBar::labelled(const QString &text, QWidget *input)
{
    auto *holder = new QWidget(this);
    auto *layout = new QHBoxLayout(holder);
    layout->setContentsMargins(6, 0, 2, 0);
    layout->setSpacing(4);
    auto *label = new QLabel(text, holder);
    label->setProperty("muted", true);
    label->setBuddy(input);
    input->setAccessibleName(input->toolTip());
    layout->addWidget(label);
    layout->addWidget(input);
    return holder;
}

void RunToolBar::addMoreMenu()
{
    m_more = new MorePanel(this);
    auto *menu = new QMenu(this);
    menu->setToolTipsVisible(true);
    auto *action = new QWidgetAction(menu);
    action->setDefaultWidget(m_more);
    menu->addAction(action);
    menu->addSeparator();
    m_reuse = menu->addAction(tr("Reuse the prompt's cached beginning"));
    m_reuse->setObjectName(QStringLiteral("reusePrefix"));
    m_reuse->setCheckable(true);
    m_reuse->setToolTip(tr("When a prompt begins like the last run's, its keys and values are taken from the cache. "
                           "The run says how many."));
    m_moreButton = new QToolButton(this);
    m_moreButton->setObjectName(QStringLiteral("samplingButton"));
    m_moreButton->setText(tr("More"));
    m_moreButton->setToolTip(tr("More settings: top-k, top-p, min-p, repetition penalty, context, prefix reuse"));
    m_moreButton->setAccessibleName(m_moreButton->toolTip());
    m_moreButton->setMenu(menu);
    m_moreButton->setPopupMode(QToolButton::InstantPopup);
    addWidget(m_moreButton);
}

void RunToolBar::addFoldables()
{
    // The last one is the menu's first row.
    m_foldables = {{m_seedPlace, m_more->addTwin(tr("seed"), m_seed)},
                   {m_temperaturePlace, m_more->addTwin(tr("temperature"), m_temperature)},
                   {m_maxTokensPlace, m_more->addTwin(tr("longest answer in tokens"), m_maxTokens)},
                   {m_backendPlace, m_more->addTwin(tr("backend"), m_backend)}};
}

void RunToolBar::setTheme(const Theme &theme)
{
    setIconSize(QSize(fontMetrics().height(), fontMetrics().height()));
    m_run->setIcon(
        themedIcon(QStringLiteral("run"), theme, theme.palette().color(QPalette::HighlightedText))); // on the accent
    m_stop->setIcon(themedIcon(QStringLiteral("stop"), theme));
    m_step->setIcon(themedIcon(QStringLiteral("step"), theme));
    m_samplesButton->setIcon(themedIcon(QStringLiteral("samples"), theme));
    m_exportButton->setIcon(themedIcon(QStringLiteral("export"), theme));
    fitFields();
    fitWidth();
}

void RunToolBar::resizeEvent(QResizeEvent *event)
{
    QToolBar::resizeEvent(event);
    fitWidth();
}

void RunToolBar::changeEvent(QEvent *event)
{
    QToolBar::changeEvent(event);
    if (event->type() == QEvent::FontChange && m_reuse) {
        fitFields();
        fitWidth();
    }
}

void RunToolBar::fitFields()
{
    limitWidth(m_maxTokens, 5);
    limitWidth(m_temperature, 5);
    limitWidth(m_seed, 4);
}

void RunToolBar::fitWidth()
{
    struct Form
    {
        bool hasTexts;       // of the buttons but Run
        int modelCharacters; // of the model's name
        std::size_t folded;
        bool isTight = false; // "KV" for "KV cache"
    };
    // The widest form that fits. Run keeps its text in all.
    constexpr Form kForms[] = {{true, 32, 0},  {true, 22, 0},  {true, 14, 0},  {false, 22, 0}, {false, 14, 0},
                               {false, 14, 1}, {false, 14, 2}, {false, 14, 3}, {false, 14, 4}, {false, 8, 4, true}};
    const int unit = fontMetrics().averageCharWidth();
    for (const Form &form : kForms) {
        for (QWidget *button : {widgetForAction(m_stop), widgetForAction(m_step),
                                static_cast<QWidget *>(m_samplesButton), static_cast<QWidget *>(m_exportButton)})
            static_cast<QToolButton *>(button)->setToolButtonStyle(form.hasTexts ? Qt::ToolButtonTextBesideIcon
                                                                                 : Qt::ToolButtonIconOnly);
        m_model->setText(fontMetrics().elidedText(m_modelText, Qt::ElideMiddle, unit * form.modelCharacters));
        for (std::size_t i = 0; i < m_foldables.size(); ++i) {
            m_foldables[i].place->setVisible(i >= form.folded);
            m_more->setTwinVisible(m_foldables[i].twin, i < form.folded);
        }
        m_kvCache->setIconText(form.isTight ? tr("KV", "KV cache, short") : m_kvCache->text());
        layout()->invalidate();
        if (layout()->sizeHint().width() <= width())
            return;
    }
}

void RunToolBar::setState(SessionState state, const LoadedModelPtr &model, const QString &modelPath)
{
    const bool isIdle = state == SessionState::Ready;
    m_run->setEnabled(isIdle || state == SessionState::Paused);
    m_step->setEnabled(isIdle || state == SessionState::Paused);
    m_stop->setEnabled(state == SessionState::Running || state == SessionState::Paused ||
                       state == SessionState::Loading);
    m_run->setText(state == SessionState::Paused ? tr("Resume") : tr("Run"));

    QString text = tr("No model");
    if (state == SessionState::Loading)
        text = tr("Loading…");
    else if (model)
        text = QStringLiteral("%1 · %2").arg(QFileInfo(modelPath).completeBaseName().section(QLatin1Char('.'), 0, 0),
                                             QString::fromStdString(model->model.quantisation));
    m_modelText = text;
    fitWidth();
    QString toolTip = model ? modelPath : tr("Choose a model");
    if (model)
        for (const FileWarning &warning : model->warnings)
            toolTip +=
                QStringLiteral("\n%1 (%2)").arg(warningHeadline(warning.kind), QString::fromStdString(warning.text));
    m_model->setToolTip(toolTip);
}

BackendChoice RunToolBar::backend() const
{
    return static_cast<BackendChoice>(m_backend->currentData().toInt());
}

void RunToolBar::setBackend(BackendChoice backend)
{
    const QSignalBlocker blocker(this); // no loading; the box itself tells its twin
    m_backend->setCurrentIndex(backend == BackendChoice::Reference ? 1 : 0);
}

SamplingParams RunToolBar::sampling() const
{
    SamplingParams params = m_more->sampling();
    params.temperature = static_cast<float>(m_temperature->value());
    params.seed = m_seed->value();
    return params;
}

void RunToolBar::setSampling(const SamplingParams &sampling)
{
    m_temperature->setValue(static_cast<double>(sampling.temperature));
    m_more->setSampling(sampling);
    m_seed->setValue(sampling.seed);
}

int RunToolBar::contextTokens() const
{
    return m_more->contextTokens();
}

void RunToolBar::setContextTokens(int count)
{
    m_more->setContextTokens(count);
}

int RunToolBar::maxTokens() const
{
    return m_maxTokens->value();
}

void RunToolBar::setMaxTokens(int count)
{
    m_maxTokens->setValue(count);
}

bool RunToolBar::usesKvCache() const
{
    return m_kvCache->isChecked();
}

void RunToolBar::setRemembers(bool on)
{
    m_remembers = on;
}

void RunToolBar::setUsesKvCache(bool on)
{
    m_kvCache->setChecked(on);
}

bool RunToolBar::reusesPrefix() const
{
    return m_reuse->isChecked();
}

} // namespace lectern
