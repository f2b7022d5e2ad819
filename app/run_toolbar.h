// SPDX-License-Identifier: GPL-3.0-or-later
// The tool bar: model chooser, backend, Run / Stop / Step, KV cache, limits and sampling. Holds the settings of the
// next run.
#pragma once

#include "app/core/session_controller.h"
#include "app/core/settings.h"
#include "widgets/theme.h"

#include <QToolBar>

#include <vector>

class QAction;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QMenu;
class QSpinBox;
class QToolButton;

namespace lectern {

class MorePanel;
class SeedBox;

class RunToolBar : public QToolBar
{
    Q_OBJECT

public:
    explicit RunToolBar(Settings *settings, QWidget *parent = nullptr);

    void setTheme(const Theme &theme);
    void setState(SessionState state, const LoadedModelPtr &model, const QString &modelPath);

    QMenu *modelMenu() const { return m_modelMenu; } // filled by the window
    QMenu *samplesMenu() const { return m_samplesMenu; }
    QMenu *exportMenu() const { return m_exportMenu; }
    QAction *runAction() const { return m_run; }
    QAction *stopAction() const { return m_stop; }
    QAction *stepAction() const { return m_step; }

    BackendChoice backend() const;
    void setBackend(BackendChoice backend);
    SamplingParams sampling() const;
    void setSampling(const SamplingParams &sampling);
    int contextTokens() const; // 0: the model's own
    void setContextTokens(int count);
    int maxTokens() const;
    void setMaxTokens(int count);
    bool usesKvCache() const;
    void setUsesKvCache(bool on);
    bool reusesPrefix() const;
    void setRemembers(bool on); // off: what is set now is not for the next start

Q_SIGNALS:
    void loadOptionsChanged(); // backend or context, by the user: load the model again
    void maxTokensChanged(int count);

protected:
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void fitFields(); // number fields as wide as so many digits of the font
    void fitWidth();  // where not all fits: shorter names, icons alone, settings in the menu More
    QWidget *labelled(const QString &text, QWidget *input);
    void addMoreMenu();
    void addFoldables();
    Settings *m_settings;
    bool m_remembers = true;
    QString m_modelText; // before it is cut to the width
    QToolButton *m_model;
    QMenu *m_modelMenu;
    QMenu *m_samplesMenu;
    QMenu *m_exportMenu;
    QToolButton *m_samplesButton;
    QToolButton *m_exportButton;
    QToolButton *m_moreButton;
    MorePanel *m_more;
    // Settings that move into the menu More where there is no room, the first one first.
    struct Foldable
    {
        QAction *place; // in the tool bar
        QWidget *twin;  // in the menu
    };
    std::vector<Foldable> m_foldables;
    QComboBox *m_backend;
    QAction *m_backendPlace;
    QAction *m_maxTokensPlace;
    QAction *m_temperaturePlace;
    QAction *m_seedPlace;
    QAction *m_run;
    QAction *m_stop;
    QAction *m_step;
    QAction *m_kvCache;
    QAction *m_reuse = nullptr;
    QSpinBox *m_maxTokens;
    QDoubleSpinBox *m_temperature;
    SeedBox *m_seed;
};

} // namespace lectern
