// SPDX-License-Identifier: GPL-3.0-or-later
// MainWindow: menus and their actions.
#include "app/main_window.h"

#include "app/core/samples.h"
#include "app/export_actions.h"
#include "app/help_window.h"
#include "app/run_toolbar.h"
#include "app/window_layout.h"
#include "widgets/message_bar.h"
#include "widgets/prompt_edit.h"
#include "widgets/prompt_pane.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>

namespace lectern {

namespace {

// A file name as it is: & marks a key in menus.
QString menuText(QString name)
{
    return name.replace(QLatin1Char('&'), QLatin1String("&&"));
}

} // namespace

void MainWindow::buildMenus()
{
    QMenu *file = m_menuBar->addMenu(tr("&File"));
    QAction *open = file->addAction(tr("&Open model or run…"), this, &MainWindow::chooseFile);
    open->setObjectName(QStringLiteral("open"));
    open->setShortcut(QKeySequence::Open);
    m_recentRunsMenu = file->addMenu(tr("Recent &runs"));
    connect(m_recentRunsMenu, &QMenu::aboutToShow, this, [this] {
        m_recentRunsMenu->clear();
        for (const QString &path : m_settings->recentRuns())
            m_recentRunsMenu->addAction(menuText(QDir::toNativeSeparators(path)), this,
                                        [this, path] { openFile(path); });
        if (m_recentRunsMenu->isEmpty())
            m_recentRunsMenu->addAction(tr("Saved runs appear here"))->setEnabled(false);
    });
    file->addSeparator();
    QMenu *exports = file->addMenu(tr("&Export"));
    m_exports->fill(exports);
    for (QAction *action : exports->actions())
        m_toolBar->exportMenu()->addAction(action);
    file->addSeparator();
    QAction *quit = file->addAction(tr("&Quit"), this, &QWidget::close);
    quit->setShortcut(QKeySequence::Quit);

    buildRunMenu();
    buildViewMenu();
    buildHelpMenu();
    connect(m_toolBar->modelMenu(), &QMenu::aboutToShow, this, &MainWindow::fillModelMenu);
    fillSamplesMenu();
}

void MainWindow::buildRunMenu()
{
    QMenu *run = m_menuBar->addMenu(tr("&Run"));
    run->addActions({m_toolBar->runAction(), m_toolBar->stopAction(), m_toolBar->stepAction()});
    connect(m_toolBar->runAction(), &QAction::triggered, this, &MainWindow::startRun);
    connect(m_toolBar->stopAction(), &QAction::triggered, this, [this] {
        if (m_session->state() == SessionState::Loading)
            stopLoading();
        else
            m_session->stop();
    });
    connect(m_toolBar->stepAction(), &QAction::triggered, this, &MainWindow::stepRun);
    run->addSeparator();
    QAction *undo = run->addAction(tr("&Undo deleting a run"), this, [this] {
        m_store.restoreLast();
        m_messages->dismiss();
    });
    undo->setObjectName(QStringLiteral("undoRemove"));
    connect(run, &QMenu::aboutToShow, undo, [this, undo] { undo->setEnabled(m_store.canRestore()); });
}

void MainWindow::buildViewMenu()
{
    QMenu *view = m_menuBar->addMenu(tr("&View"));
    view->setToolTipsVisible(true);
    m_layout->fillMenu(view);
    view->addSeparator();
    QAction *enlarge = view->addAction(tr("&Enlarge pane"));
    enlarge->setObjectName(QStringLiteral("enlarge"));
    enlarge->setToolTip(tr("Shows only the pane with the focus; again shows all."));
    enlarge->setCheckable(true);
    enlarge->setShortcut(QKeySequence(Qt::Key_F11));
    connect(enlarge, &QAction::toggled, m_layout, &WindowLayout::setEnlarged);
    QAction *lock = view->addAction(tr("Loc&k panes"));
    lock->setObjectName(QStringLiteral("lock"));
    lock->setToolTip(tr("Unlocked panes have title bars to drag, float and close them."));
    lock->setCheckable(true);
    lock->setChecked(true);
    connect(lock, &QAction::toggled, m_layout, &WindowLayout::setLocked);
    QAction *reset = view->addAction(tr("&Reset layout"));
    reset->setObjectName(QStringLiteral("resetLayout"));
    connect(reset, &QAction::triggered, this, [this, enlarge] {
        enlarge->setChecked(false);
        m_layout->applyDefault();
        m_prompt->resetLayout();
    });

    view->addSeparator();
    QMenu *theme = view->addMenu(tr("&Theme"));
    auto *group = new QActionGroup(this);
    const std::pair<ThemeChoice, QString> choices[] = {{ThemeChoice::Auto, tr("Like the &system")},
                                                       {ThemeChoice::Light, tr("&Light")},
                                                       {ThemeChoice::Dark, tr("&Dark")}};
    for (const auto &[choice, text] : choices) {
        QAction *action = theme->addAction(text);
        action->setObjectName(QStringLiteral("theme%1").arg(static_cast<int>(choice)));
        action->setCheckable(true);
        action->setChecked(choice == m_settings->theme());
        group->addAction(action);
        connect(action, &QAction::triggered, m_settings, [this, value = choice] { m_settings->setTheme(value); });
    }
    m_projectorAction = view->addAction(tr("&Projector: large text and lines"));
    m_projectorAction->setObjectName(QStringLiteral("projector"));
    m_projectorAction->setCheckable(true);
    m_projectorAction->setShortcut(QKeySequence(Qt::Key_F9));
    m_projectorAction->setChecked(m_settings->isProjector());
    connect(m_projectorAction, &QAction::toggled, m_settings, &Settings::setProjector);
    connect(m_settings, &Settings::themeChanged, this, [this] { setTheme(m_settings->theme(), m_theme.isProjector); });
    connect(m_projectorAction, &QAction::toggled, this, &MainWindow::switchProjector);

    QMenu *language = view->addMenu(tr("L&anguage"));
    auto *languages = new QActionGroup(this);
    const std::pair<const char *, QString> names[] = {
        {"", tr("Like the system")}, {"en", QStringLiteral("English")}, {"de", QStringLiteral("Deutsch")}};
    for (const auto &[code, name] : names) {
        QAction *action = language->addAction(name);
        action->setCheckable(true);
        action->setChecked(m_settings->language() == QLatin1String(code));
        languages->addAction(action);
        connect(action, &QAction::triggered, this, [this, code = QString::fromLatin1(code)] {
            m_settings->setLanguage(code);
            m_messages->showMessage(MessageBar::Kind::Info, tr("The language changes at the next start."));
        });
    }
}

void MainWindow::buildHelpMenu()
{
    QMenu *help = m_menuBar->addMenu(tr("&Help"));
    QAction *guide = help->addAction(tr("&Guide"), this, [this] { HelpWindow::open(this, m_settings->language()); });
    guide->setObjectName(QStringLiteral("guide"));
    guide->setShortcut(QKeySequence::HelpContents);
    QAction *about = help->addAction(tr("&About Lectern"), this, [this] {
        auto *box = new QMessageBox(QMessageBox::NoIcon, tr("About Lectern"), HelpWindow::aboutText(m_session->model()),
                                    QMessageBox::Close, this);
        box->setObjectName(QStringLiteral("aboutBox"));
        box->setAttribute(Qt::WA_DeleteOnClose);
        box->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard |
                                     Qt::LinksAccessibleByMouse);
        box->open();
    });
    about->setObjectName(QStringLiteral("about"));
}

void MainWindow::fillModelMenu()
{
    QMenu *menu = m_toolBar->modelMenu();
    menu->clear();
    const QString loaded = m_session->modelPath();
    QStringList paths = m_settings->recentModels();
    if (isFetchedModelThere() && !paths.contains(m_fetch->destination()))
        paths << m_fetch->destination();
    for (const QString &path : paths) {
        QAction *action =
            menu->addAction(menuText(QFileInfo(path).fileName()), this, [this, path] { loadModel(path); });
        action->setToolTip(QDir::toNativeSeparators(path));
        action->setCheckable(true);
        action->setChecked(path == loaded);
    }
    menu->setToolTipsVisible(true);
    if (!paths.isEmpty())
        menu->addSeparator();
    if (!isFetchedModelThere() && !m_fetch->isRunning()) {
        QAction *get = menu->addAction(tr("Get SmolLM2-135M-Instruct (93 MB)"), this, &MainWindow::fetchModel);
        get->setEnabled(m_fetch->problem().isEmpty());
        get->setToolTip(m_fetch->problem());
    }
    if (m_fetch->isRunning())
        menu->addAction(tr("Cancel fetching SmolLM2-135M-Instruct"), m_fetch, &ModelFetch::cancel);
    menu->addAction(tr("Open model…"), this, &MainWindow::chooseFile);
}

void MainWindow::fillSamplesMenu()
{
    QMenu *menu = m_toolBar->samplesMenu();
    menu->setToolTipsVisible(true);
    int number = 0;
    for (const SamplePrompt &sample : samplePrompts()) {
        QAction *action = menu->addAction(sample.title, this, [this, sample] {
            if (!sample.system.isEmpty())
                m_prompt->setMode(PromptMode::Chat); // raw mode would drop it
            m_prompt->setSystemPrompt(sample.system);
            setPrompt(sample.text);
            m_prompt->editor()->setFocus();
        });
        action->setObjectName(QStringLiteral("sample%1").arg(++number));
        action->setToolTip(sample.lesson);
        action->setShortcut(QKeySequence(Qt::ALT | static_cast<Qt::Key>(Qt::Key_0 + number)));
    }
}

void MainWindow::chooseFile()
{
    const QStringList recent = m_settings->recentModels();
    const QString folder =
        recent.isEmpty() ? QFileInfo(m_fetch->destination()).absolutePath() : QFileInfo(recent.first()).absolutePath();
    auto *dialog = new QFileDialog(this, tr("Open model or run"), folder,
                                   tr("Models and runs (*.gguf *.lectern.json);;All files (*)"));
    dialog->setObjectName(QStringLiteral("openDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::openFile);
    dialog->open();
}

} // namespace lectern
