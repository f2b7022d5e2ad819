// SPDX-License-Identifier: GPL-3.0-or-later
// A fresh main window for every test, with settings of its own and a tiny model beside it, driven by keys and mouse.
#pragma once

#include "app/main_window.h"
#include "tests/support/tiny_model.h"
#include "widgets/prompt_edit.h"
#include "widgets/prompt_pane.h"
#include "widgets/token_view.h"

#include <QAction>
#include <QLabel>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QtTest>

#include <memory>

namespace lectern::test {

constexpr int kLoadMs = 30'000;
constexpr int kRunMs = 60'000;

class WindowFixture : public QObject
{
    Q_OBJECT

protected:
    QTemporaryDir m_folder;
    std::unique_ptr<Settings> m_settings;
    std::unique_ptr<MainWindow> m_window;

    QString tinyPath() const { return m_folder.filePath(QStringLiteral("tiny.gguf")); }
    PromptPane *promptPane() const { return m_window->findChild<PromptPane *>(); }
    PromptEdit *editor() const { return m_window->findChild<PromptEdit *>(); }
    TokenView *answer() const { return m_window->findChild<TokenView *>(QStringLiteral("answerView")); }
    QString label(const char *name) const { return m_window->findChild<QLabel *>(QLatin1String(name))->text(); }
    QAction *action(const char *name) const { return m_window->findChild<QAction *>(QLatin1String(name)); }
    void setMaxTokens(int count) { m_window->findChild<QSpinBox *>(QStringLiteral("maxTokens"))->setValue(count); }

    static void settle() // layouts post layouts
    {
        for (int i = 0; i < 8; ++i)
            QCoreApplication::processEvents();
    }

    bool load(const QString &path)
    {
        QSignalSpy loaded(m_window.get(), &MainWindow::loadEnded);
        m_window->loadModel(path);
        return loaded.wait(kLoadMs) && loaded.at(0).at(0).toBool();
    }

    void type(const QString &text)
    {
        editor()->setFocus();
        editor()->selectAll();
        QTest::keyClick(editor(), Qt::Key_Delete);
        QTest::keyClicks(editor(), text);
    }

    // Runs what is in the editor to its end with the keyboard, and until every chart shows it; the run's id, 0 if it
    // was refused.
    int run()
    {
        QSignalSpy ended(m_window.get(), &MainWindow::runEnded);
        QTest::keyClick(m_window.get(), Qt::Key_Return, Qt::ControlModifier);
        const bool isShown = (!ended.isEmpty() || ended.wait(kRunMs)) &&
                             QTest::qWaitFor([this] { return !m_window->session()->frameClock()->isPending(); });
        return isShown ? ended.at(0).at(0).toInt() : -1;
    }

private slots:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        writeTinyModel(m_folder.path().toStdString(), "tiny.gguf");
    }

    void init()
    {
        m_settings = std::make_unique<Settings>(m_folder.filePath(QStringLiteral("settings.ini")));
        m_window = std::make_unique<MainWindow>(m_settings.get());
        m_window->resetLayout({1280, 800});
        m_window->show();
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
        promptPane()->setMode(PromptMode::Raw);
        setMaxTokens(24);
    }

    void cleanup()
    {
        m_window.reset();
        m_settings.reset();
        QFile::remove(m_folder.filePath(QStringLiteral("settings.ini")));
    }
};

} // namespace lectern::test
