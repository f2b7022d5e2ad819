// SPDX-License-Identifier: GPL-3.0-or-later
// What the answer pane shows while there is no model: what to do in a sentence, and how to get one. While the model is
// fetched it shows how far that is.
#pragma once

#include "widgets/theme.h"

#include <QWidget>

class QBoxLayout;
class QLabel;
class QProgressBar;
class QPushButton;

namespace lectern {

class ModelOffer : public QWidget
{
    Q_OBJECT

public:
    explicit ModelOffer(QWidget *parent = nullptr);
    void setTheme(const Theme &theme);
    QSize minimumSizeHint() const override; // with one button below the other

    // The model that set-up brings is on this machine: the offer is to load it.
    void setModelPresent(bool isPresent);
    void setFetchProblem(const QString &reason); // why fetching cannot work here; "" when it can

    void showOffer();
    void showProgress(qint64 doneBytes, qint64 totalBytes); // total 0: not yet known
    void showChecking();
    void showFailure(const QString &text, const QString &detail);
    void showCancelled(); // what was fetched is kept

protected:
    void resizeEvent(QResizeEvent *event) override; // narrow panes: one button below the other

Q_SIGNALS:
    void loadRequested(); // the present one
    void fetchRequested();
    void cancelRequested();
    void openRequested();

private:
    void showState(bool isFetching);
    void updateOffer();
    void colourNote();
    QLabel *m_title;
    QLabel *m_text;
    QLabel *m_note; // progress, failure, or why fetching cannot work
    QLabel *m_detail;
    QProgressBar *m_progress;
    QPushButton *m_get;
    QPushButton *m_cancel;
    QPushButton *m_open;
    QBoxLayout *m_buttons;
    QString m_problem;
    Theme m_theme;
    bool m_isPresent = false;
    bool m_isFetching = false;
    bool m_hasFailed = false; // the note says why
};

} // namespace lectern
