// SPDX-License-Identifier: GPL-3.0-or-later
// Message over the lower end of its parent instead of a modal box: what happened, what to do, one optional action,
// close. It covers what is there and moves nothing. Notes leave by themselves after a while, but not under the mouse or
// with the focus in them; the rest stays until it is closed.
#pragma once

#include "widgets/theme.h"

#include <QFrame>
#include <QPointer>

#include <functional>

class QLabel;
class QPushButton;
class QTimer;
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
    // A note about what goes on: it stays until dismiss().
    void showProgress(const QString &text, const QString &actionText, std::function<void()> action);
    void dismiss();
    // Widget at the parent's lower end that stays uncovered.
    void setFloor(QWidget *floor);
    QString text() const;
    QString detail() const; // "" if there is none

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void enterEvent(QEnterEvent *event) override;
    void leaveEvent(QEvent *event) override;

private:
    void present(Kind kind, const QString &text, const QString &detail, const QString &actionText,
                 std::function<void()> action, bool leaves);
    void place();
    void restartLife();
    QLabel *m_icon;
    QLabel *m_text;
    QLabel *m_detail;
    QPushButton *m_action;
    QToolButton *m_close;
    Theme m_theme;
    Kind m_kind = Kind::Info;
    QTimer *m_life; // of a note
    bool m_leaves = false;
    QPointer<QWidget> m_floor;
    std::function<void()> m_callback;
};

} // namespace lectern
