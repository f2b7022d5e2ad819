// SPDX-License-Identifier: GPL-3.0-or-later
// Inline message above the panes instead of a modal box: what happened, what to do, one optional action, close.
#pragma once

#include "widgets/theme.h"

#include <QFrame>

#include <functional>

class QLabel;
class QPushButton;
class QToolButton;

namespace lectern {

class MessageBar : public QFrame
{
    Q_OBJECT

public:
    enum class Kind
    {
        Info,
        Warning,
        Error
    };

    explicit MessageBar(QWidget *parent = nullptr);
    void setTheme(const Theme &theme);
    void showMessage(Kind kind, const QString &text, const QString &actionText = {}, std::function<void()> action = {});
    // What happened and what to do; below it `detail`, exact: the engine's is English, that of app/ and widgets/ is
    // not.
    void showProblem(Kind kind, const QString &headline, const QString &detail);
    void dismiss();
    QString text() const;
    QString detail() const; // "" if there is none

private:
    QLabel *m_icon;
    QLabel *m_text;
    QLabel *m_detail;
    QPushButton *m_action;
    QToolButton *m_close;
    Theme m_theme;
    Kind m_kind = Kind::Info;
    std::function<void()> m_callback;
};

} // namespace lectern
