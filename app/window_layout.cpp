// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window_layout.h"

#include <QApplication>
#include <QDockWidget>
#include <QGuiApplication>
#include <QMainWindow>
#include <QMenu>

namespace lectern {

namespace {

constexpr int kLinesWithRuns = 36; // of text in the window's height, for three charts and the runs to be readable

}

WindowLayout::WindowLayout(QMainWindow *window)
    : QObject(window)
    , m_window(window)
{
    window->setDockNestingEnabled(true);
    window->setDockOptions(QMainWindow::AnimatedDocks | QMainWindow::AllowNestedDocks | QMainWindow::AllowTabbedDocks);
}

QDockWidget *WindowLayout::addPane(const QString &objectName, const QString &title, QWidget *content)
{
    auto *dock = new QDockWidget(title, m_window);
    dock->setObjectName(objectName);
    dock->setWidget(content);
    m_panes.push_back(dock);
    return dock;
}

QDockWidget *WindowLayout::pane(const char *name) const
{
    for (QDockWidget *dock : m_panes)
        if (dock->objectName() == QLatin1String(name))
            return dock;
    return nullptr;
}

void WindowLayout::applyDefault()
{
    for (QDockWidget *dock : m_panes) {
        m_window->removeDockWidget(dock);
        dock->setFloating(false);
    }
    QDockWidget *prompt = pane("prompt"), *answer = pane("answer"), *timeline = pane("timeline"), *kv = pane("kv"),
                *latency = pane("latency"), *runs = pane("runs");
    m_window->addDockWidget(Qt::TopDockWidgetArea, prompt);
    m_window->splitDockWidget(prompt, timeline, Qt::Horizontal);
    m_window->splitDockWidget(prompt, answer, Qt::Vertical);
    m_window->splitDockWidget(timeline, kv, Qt::Vertical);
    m_window->splitDockWidget(kv, latency, Qt::Vertical);
    m_window->addDockWidget(Qt::BottomDockWidgetArea, runs);
    for (QDockWidget *dock : m_panes)
        dock->show();
    const int width = m_window->width(), height = m_window->height();
    runs->setVisible(height >= kLinesWithRuns * QFontMetrics(QApplication::font()).lineSpacing());
    m_window->resizeDocks({prompt, timeline}, {width * 2 / 5, width * 3 / 5}, Qt::Horizontal);
    m_window->resizeDocks({prompt, answer}, {height * 39 / 100, height * 31 / 100}, Qt::Vertical);
    m_window->resizeDocks({timeline, kv, latency}, {height * 28 / 100, height * 21 / 100, height * 21 / 100},
                          Qt::Vertical);
    m_window->resizeDocks({runs}, {height * 20 / 100}, Qt::Vertical);
}

QByteArray WindowLayout::save() const
{
    return m_beforeEnlarge.isEmpty() ? m_window->saveState(kLayoutVersion) : m_beforeEnlarge;
}

bool WindowLayout::restore(const QByteArray &layout)
{
    return !layout.isEmpty() && m_window->restoreState(layout, kLayoutVersion);
}

QList<int> WindowLayout::heights() const
{
    QList<int> all;
    for (const QDockWidget *dock : m_panes)
        all.push_back(dock->height());
    return all;
}

void WindowLayout::setHeights(const QList<int> &heights)
{
    QList<QDockWidget *> docks(m_panes.begin(), m_panes.end());
    m_window->resizeDocks(docks, heights, Qt::Vertical);
}

void WindowLayout::setLocked(bool locked)
{
    for (QDockWidget *dock : m_panes) {
        QWidget *old = dock->titleBarWidget();
        dock->setTitleBarWidget(locked ? new QWidget(dock) : nullptr); // an empty widget hides the title bar
        delete old;
        // Floating docks cannot be moved back on Wayland with Qt before 6.5.4 (QTBUG-87332).
        const bool mayFloat = !QGuiApplication::platformName().startsWith(QLatin1String("wayland"));
        dock->setFeatures(locked
                              ? QDockWidget::DockWidgetClosable // the View menu closes panes
                              : QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable |
                                    (mayFloat ? QDockWidget::DockWidgetFloatable : QDockWidget::NoDockWidgetFeatures));
    }
}

void WindowLayout::setEnlarged(bool enlarged)
{
    if (!enlarged) {
        if (!m_beforeEnlarge.isEmpty())
            m_window->restoreState(m_beforeEnlarge, kLayoutVersion);
        m_beforeEnlarge.clear();
        return;
    }
    QDockWidget *target = m_panes.front();
    for (QDockWidget *dock : m_panes)
        if (dock->isAncestorOf(QApplication::focusWidget()))
            target = dock;
    m_beforeEnlarge = m_window->saveState(kLayoutVersion);
    for (QDockWidget *dock : m_panes)
        dock->setVisible(dock == target);
}

void WindowLayout::fillMenu(QMenu *menu) const
{
    for (QDockWidget *dock : m_panes) {
        QAction *action = dock->toggleViewAction();
        action->setEnabled(true);
        menu->addAction(action);
    }
}

} // namespace lectern
