// SPDX-License-Identifier: GPL-3.0-or-later
// Status bar: context used / max, KV, weights, backend, threads; on the right the state, while loading a progress bar.
#pragma once

#include "app/core/session_controller.h"
#include "widgets/theme.h"

#include <QStatusBar>

class QLabel;
class QProgressBar;

namespace lectern {

class RunStatusBar : public QStatusBar
{
    Q_OBJECT

public:
    explicit RunStatusBar(QWidget *parent = nullptr);
    void setTheme(const Theme &theme);
    void setState(SessionState state, const LoadedModelPtr &model,
                  const RunRecord *run); // `run`: the one running, or nullptr
    void setLoadProgress(LoadPhase phase, quint64 doneBytes, quint64 totalBytes);
    void setRun(const RunRecord *run); // shown run; nullptr for none
    void setProblemCount(int count);

private:
    void updateFacts();
    QLabel *m_facts;
    QLabel *m_state;
    QProgressBar *m_progress;
    LoadedModelPtr m_model;
    const RunRecord *m_run = nullptr;
    SessionState m_sessionState = SessionState::NoModel;
    int m_problems = 0;
    Theme m_theme;
};

} // namespace lectern
