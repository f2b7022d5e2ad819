// SPDX-License-Identifier: GPL-3.0-or-later
// The main window: panes, menus and their wiring to the session. No logic of its own beyond that.
#pragma once

#include "app/command_line.h"
#include "app/core/error_text.h"
#include "app/core/model_fetch.h"
#include "app/core/prompt_tokenizer.h"
#include "app/core/run_store.h"
#include "app/core/session_controller.h"
#include "app/core/settings.h"
#include "app/core/token_selection.h"
#include "app/run_bundle.h"
#include "widgets/theme.h"

#include <QMainWindow>
#include <QThreadPool>

#include <memory>
#include <vector>

class QLabel;
class QMenu;
class QMenuBar;
class QProgressBar;

namespace lectern {

class AnswerPane;
class ExportActions;
class MessageBar;
class MetricStrip;
class ModelOffer;
class PromptPane;
class RunChart;
class RunStatusBar;
class RunToolBar;
class RunsView;
class WindowLayout;

class MainWindow : public QMainWindow
{
    Q_OBJECT

public:
    // Tests give a settings file of their own and, where wanted, a scripted engine or a script of their own that
    // fetches.
    explicit MainWindow(Settings *settings, std::unique_ptr<EngineDriver> driver = createEngineDriver(),
                        FetchTool fetchTool = FetchTool::installed());
    ~MainWindow() override;

    // Opens what the command line names; without a model, the last one used or the one that set-up brought.
    void openAtStart(const CommandLine &line);
    // A model (*.gguf) or a saved run (*.lectern.json), by its content.
    void openFile(const QString &path);
    void loadModel(const QString &path);
    bool isOpening() const; // a model or a run is being read

    void setPrompt(const QString &text); // undoable
    void startRun();                     // or goes on with a paused one
    void stepRun();                      // one token: starts a run that then pauses, or goes on by one
    const std::vector<NamedChart> &charts() const { return m_charts; }
    SessionController *session() { return m_session; }
    RunStore *runs() { return &m_store; }
    ExportActions *exports() { return m_exports; }
    void setTheme(ThemeChoice choice, bool projector); // the menu follows
    void resetLayout(const QSize &size);               // default places in a window of this size
    // Of the message bar, an error in the engine's own words; without a message and a model how to get one. One line.
    QString messageText() const;

Q_SIGNALS:
    void runEnded(int runId); // also for refused ones, which leave no row: runId 0
    void loadEnded(bool loaded);
    void openFailed(const lectern::Error &error); // a model or a run
    void openingEnded();                          // nothing is being read any more

protected:
    void closeEvent(QCloseEvent *event) override;
    void changeEvent(QEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;

private:
    void buildPanes();
    void buildMenus();
    void buildRunMenu();
    void buildViewMenu();
    void buildHelpMenu();
    void connectSession();
    void takeModel();
    void loadLastModel();
    void takeOpenedRun(const QString &path, Result<RunRecord> &opened);
    void stopLoading();
    void endOpening();
    void editPromptOf(int runId);
    void fillModelMenu();
    void fillSamplesMenu();
    void chooseFile();
    void buildOffer();
    void fetchModel();
    bool isFetchedModelThere() const;
    void tellFetch(const QString &text);
    void updateOffer();
    Request currentRequest() const;
    QString runTitle() const;
    void switchProjector(bool isOn);
    void requestTokens();
    bool isPromptReady(); // says so when it is empty
    void showPromptTokens(const PromptTokensPtr &tokens);
    void showCurrentRun();
    void updateRun(int runId);
    void updateCharts();
    void updateNextChart();
    void updateState();
    void finishRun(int runId);
    void showError(const Error &error, ErrorTask task);
    void showErrors(const std::vector<Error> &errors, ErrorTask task); // in one message
    void showModelWarnings();
    void removeRun(int runId);

    Settings *m_settings;
    RunStore m_store; // outlives the session
    SessionController *m_session;
    PromptTokenizer *m_tokenizer;
    TokenSelection m_selection{this};
    Theme m_theme;
    ThemeChoice m_themeChoice = ThemeChoice::Auto; // the shown one; --theme leaves the remembered one alone
    QByteArray m_layoutBeforeProjector;
    LoadOptions m_loadOptions;
    WindowLayout *m_layout;
    RunToolBar *m_toolBar;
    MessageBar *m_messages;
    PromptPane *m_prompt;
    AnswerPane *m_answer;
    ModelFetch *m_fetch;
    ModelOffer *m_offer;
    MetricStrip *m_metrics;
    RunsView *m_runsView;
    QLabel *m_runsTitle;
    RunStatusBar *m_status;
    ExportActions *m_exports;
    QMenuBar *m_menuBar;
    QAction *m_projectorAction;
    QMenu *m_recentRunsMenu = nullptr;
    int m_problemCount = 0;
    QString m_exportProgress; // as shown last while exports go on
    QThreadPool m_opener;     // reads saved runs, one after the other: the last one asked for is shown
    int m_runsBeingOpened = 0;
    bool m_appliesCommandLine = false; // changes are not remembered meanwhile
    bool m_hasStarted = false;         // openAtStart() has chosen a model, or found none
    QString m_fetchMessage;            // as shown last in the message bar
    bool m_isFetchedModelDamaged = false;
    std::vector<NamedChart> m_charts;
    std::size_t m_nextChart = 0;    // whose turn it is
    std::size_t m_chartsBehind = 0; // from that one on, in turn: they do not show yet how far m_grownRun is
    int m_grownRun = 0;
    int m_shownPromptRun = 0; // whose prompt the prompt pane shows as sent; 0: the edited one
};

} // namespace lectern
