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
    void dismiss();
    QString text() const;

private:
    QLabel *m_icon;
    QLabel *m_text;
    QPushButton *m_action;
    QToolButton *m_close;
    Theme m_theme;
    Kind m_kind = Kind::Info;
    std::function<void()> m_callback;
};

} // namespace lectern
