// SPDX-License-Identifier: GPL-3.0-or-later
// The docks of the main window: default places, lock, one pane enlarged, saved and restored layout.
#pragma once

#include <QByteArray>
#include <QObject>

#include <vector>

class QAction;
class QDockWidget;
class QMainWindow;
class QMenu;

namespace lectern {

// Raised when panes are added, removed or renamed: an older saved layout is then ignored.
inline constexpr int kLayoutVersion = 1;

class WindowLayout : public QObject
{
    Q_OBJECT

public:
    explicit WindowLayout(QMainWindow *window);

    QDockWidget *addPane(const QString &objectName, const QString &title, QWidget *content);
    // Places the panes added as prompt, answer, timeline, kv, latency, runs (by object name). Where the text is large
    // for the window, as on a projector, the charts get the room of the runs, which the View menu shows again.
    void applyDefault();
    QByteArray save() const;
    bool restore(const QByteArray &layout); // false and unchanged when it is not one of ours
    // Of all panes. A layout that is restored over one with other least heights misses them by some pixels.
    QList<int> heights() const;
    void setHeights(const QList<int> &heights);

    // Unlocked panes have title bars to drag, float and close them.
    void setLocked(bool locked);

    // Hides all panes but the one with the focus (or shows all again).
    void setEnlarged(bool enlarged);

    void fillMenu(QMenu *menu) const; // one check box a pane

private:
    QDockWidget *pane(const char *name) const;
    QMainWindow *m_window;
    std::vector<QDockWidget *> m_panes;
    QByteArray m_beforeEnlarge;
};

} // namespace lectern
