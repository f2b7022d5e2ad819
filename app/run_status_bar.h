// SPDX-License-Identifier: GPL-3.0-or-later
// Status bar: context used / max, KV, weights, backend, threads of the shown run; on the right the session's state,
// while loading with a progress bar.
#pragma once

#include "app/core/session_controller.h"
#include "widgets/theme.h"

#include <QStatusBar>

#include <memory>

class QLabel;
class QProgressBar;

namespace lectern {

class StillLabel;

class RunStatusBar : public QStatusBar
{
    Q_OBJECT

public:
    explicit RunStatusBar(QWidget *parent = nullptr);
    void setTheme(const Theme &theme);
    // `isDecoding`: of the run that goes on, whichever run is shown.
    void setState(SessionState state, const LoadedModelPtr &model, bool isDecoding);
    void setLoadProgress(LoadPhase phase, quint64 doneBytes, quint64 totalBytes);
    void setRun(std::shared_ptr<const RunRecord> run); // shown run; nullptr for none
    void setProblemCount(int count);

private:
    void updateFacts();
    StillLabel *m_facts;
    QLabel *m_state;
    QProgressBar *m_progress;
    LoadedModelPtr m_model;
    std::shared_ptr<const RunRecord> m_run;
    SessionState m_sessionState = SessionState::NoModel;
    bool m_isDecoding = false;
    int m_problems = 0;
    Theme m_theme;
};

} // namespace lectern
