// SPDX-License-Identifier: GPL-3.0-or-later
// The window without a model: what it offers, and how the model is fetched, with a script in the place of the real one.
#include "tests/app/window_fixture.h"
#include "widgets/message_bar.h"
#include "widgets/model_offer.h"

#include <QAbstractButton>
#include <QDialog>
#include <QDir>
#include <QFile>
#include <QMenu>
#include <QProgressBar>
#include <QToolButton>

#include <cerrno>
#include <csignal>
#include <sys/stat.h>
#include <sys/types.h>

using namespace lectern;

class TestWindowStart : public test::WindowFixture
{
    Q_OBJECT

private:
    FetchTool m_tool;

    // A shell script that gets --progress and the destination, as the real one does.
    void setScript(const QByteArray &text)
    {
        m_tool = {QStringLiteral("/bin/sh"), m_folder.filePath(QStringLiteral("fetch.sh")),
                  m_folder.filePath(QStringLiteral("fetched/model.gguf"))};
        QFile file(m_tool.script);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
        file.close();
        QDir(m_folder.filePath(QStringLiteral("fetched"))).removeRecursively();
        reopen();
    }

    void reopen()
    {
        m_window.reset();
        m_window = std::make_unique<MainWindow>(m_settings.get(), createEngineDriver(), m_tool);
        m_window->resetLayout({1280, 800});
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
        m_window->openAtStart({});
    }

    ModelFetch *fetcher() const { return m_window->findChild<ModelFetch *>(); }
    ModelOffer *offer() const { return m_window->findChild<ModelOffer *>(); }
    QAbstractButton *button(const char *name) const
    {
        return m_window->findChild<QAbstractButton *>(QLatin1String(name));
    }
    QAction *inModelMenu(const char *part) const
    {
        auto *menu = m_window->findChild<QToolButton *>(QStringLiteral("modelButton"))->menu();
        Q_EMIT menu->aboutToShow();
        for (QAction *item : menu->actions())
            if (item->text().contains(QLatin1String(part)))
                return item;
        return nullptr;
    }
    void click(const char *name) { QTest::mouseClick(button(name), Qt::LeftButton); }
    QByteArray copyingScript() const
    {
        return "mkdir -p \"$(dirname \"$2\")\"; echo progress 50 100; echo stage checking; cp '" +
               QFile::encodeName(tinyPath()) + "' \"$2\"\n";
    }

private slots:
    void withoutAModelTheWindowSaysWhatToDoAndOffersTwoWays()
    {
        setScript("exit 1\n");
        QVERIFY(offer()->isVisible());
        QVERIFY(label("offerText").contains(QStringLiteral("GGUF")));
        QVERIFY(button("offerGet")->isEnabled());
        QVERIFY(button("offerGet")->text().contains(QStringLiteral("93 MB")));
        QVERIFY(button("offerOpen")->isVisible());
        QVERIFY(!button("offerCancel")->isVisible());
        QVERIFY(!action("run")->isEnabled());
        click("offerOpen");
        auto *dialog = m_window->findChild<QDialog *>(QStringLiteral("openDialog"));
        QVERIFY(dialog && dialog->isVisible());
        dialog->close();
        QVERIFY(m_window->findChild<MessageBar *>()->isHidden());                      // the offer says it
        QVERIFY(m_window->messageText().contains(QStringLiteral("packaging/run.sh"))); // and a job in the terminal
    }

    void fetchingShowsItsProgressAndCanBeCancelled()
    {
        setScript("trap 'exit 143' TERM\necho progress 25000000 100000000\nwhile :; do sleep 0.02; done\n");
        click("offerGet");
        QVERIFY(button("offerCancel")->isVisible() && !button("offerGet")->isVisible());
        auto *bar = m_window->findChild<QProgressBar *>(QStringLiteral("fetchProgress"));
        QTRY_VERIFY2(label("offerNote").contains(QStringLiteral("25.0\u2009MB of 100\u2009MB")),
                     qPrintable(label("offerNote")));
        QCOMPARE(bar->value() * 4, bar->maximum());
        click("offerCancel");
        QTRY_VERIFY(button("offerGet")->isVisible());
        QVERIFY(label("offerNote").contains(QStringLiteral("kept")));
        QVERIFY(!bar->isVisible());
    }

    void aFailureIsSaidWithItsReasonAndCanBeRepeated_data()
    {
        QTest::addColumn<int>("exitCode");
        QTest::addColumn<QString>("part");
        QTest::newRow("network") << 3 << QStringLiteral("network");
        QTest::newRow("disk") << 4 << QStringLiteral("disk is full");
        QTest::newRow("checksum") << 5 << QStringLiteral("checksum");
        QTest::newRow("pip") << 6 << QStringLiteral("python3-pip");
        QTest::newRow("folder") << 7 << QStringLiteral("rights");
        QTest::newRow("running") << 8 << QStringLiteral("Another program");
        QTest::newRow("other") << 1 << QStringLiteral("GGUF file");
    }

    void aFailureIsSaidWithItsReasonAndCanBeRepeated()
    {
        QFETCH(int, exitCode);
        QFETCH(QString, part);
        setScript("echo 'WARNING: pip says much' >&2; echo 'lectern: the exact reason' >&2; exit " +
                  QByteArray::number(exitCode) + "\n");
        click("offerGet");
        QTRY_VERIFY(button("offerGet")->isVisible());
        QVERIFY2(label("offerNote").contains(part), qPrintable(label("offerNote")));
        QCOMPARE(label("offerDetail"), QStringLiteral("the exact reason"));
        QVERIFY(button("offerGet")->isEnabled());
    }

    void whatWasFetchedIsLoaded()
    {
        setScript(copyingScript());
        click("offerGet");
        QTRY_COMPARE_WITH_TIMEOUT(m_window->session()->state(), SessionState::Ready, test::kLoadMs);
        QCOMPARE(m_window->session()->modelPath(), m_tool.destination);
        QVERIFY(!offer()->isVisible() && answer()->isVisible());
        QVERIFY(action("run")->isEnabled());
        // The next start finds it.
        reopen();
        QTRY_COMPARE_WITH_TIMEOUT(m_window->session()->state(), SessionState::Ready, test::kLoadMs);
    }

    void closingTheWindowEndsTheScript()
    {
        setScript("echo progress $$ 100000000\nwhile :; do sleep 0.02; done\n"); // its process number
        QSignalSpy progressed(fetcher(), &ModelFetch::progressed);
        click("offerGet");
        QVERIFY(progressed.wait());
        const auto process = static_cast<pid_t>(progressed.at(0).at(0).toLongLong());
        QCOMPARE(::kill(process, 0), 0);
        m_window.reset();
        QVERIFY(::kill(process, 0) != 0 && errno == ESRCH);
    }

    void withoutTheScriptOrPythonTheButtonSaysWhy()
    {
        setScript("exit 0\n");
        m_tool.python.clear();
        reopen();
        QVERIFY(!button("offerGet")->isEnabled());
        QVERIFY(label("offerNote").contains(QStringLiteral("Python 3 is not installed")));
        QVERIFY(button("offerOpen")->isEnabled());
        m_tool.script.clear();
        reopen();
        QVERIFY(!button("offerGet")->isEnabled());
        QVERIFY(label("offerNote").contains(QStringLiteral("fetch_model.py")));
    }

    void aDamagedModelIsOfferedToBeFetchedAgain()
    {
        setScript(copyingScript());
        QVERIFY(QDir().mkpath(QFileInfo(m_tool.destination).path()));
        QVERIFY(QFile::copy(tinyPath(), m_tool.destination) && QFile::resize(m_tool.destination, 5'000));
        QSignalSpy loaded(m_window.get(), &MainWindow::loadEnded);
        m_window->openAtStart({});
        QVERIFY(loaded.wait(test::kLoadMs) && !loaded.at(0).at(0).toBool());
        QVERIFY(label("messageText").contains(QStringLiteral("damaged")));
        QVERIFY(m_window->messageText().contains(QStringLiteral("model.gguf"))); // the engine's own words
        QVERIFY(offer()->isVisible());
        QVERIFY(button("offerGet")->text().contains(QStringLiteral("Get")));
        click("offerGet");
        QTRY_COMPARE_WITH_TIMEOUT(m_window->session()->state(), SessionState::Ready, test::kLoadMs);
        QVERIFY(m_window->messageText().isEmpty());
    }

    void aModelThatIsNoLongerThereIsNamed()
    {
        setScript("exit 1\n");
        const QString gone = m_folder.filePath(QStringLiteral("stick/gone.gguf"));
        m_settings->addRecentModel(gone);
        reopen();
        QVERIFY(m_window->messageText().contains(gone));
        QVERIFY(offer()->isVisible());
        QCOMPARE(m_settings->recentModels(), QStringList(gone)); // the drive may come back
        // With the fetched model in its place that one is loaded, and the loss is still said.
        QVERIFY(QDir().mkpath(QFileInfo(m_tool.destination).path()) && QFile::copy(tinyPath(), m_tool.destination));
        reopen();
        QTRY_COMPARE_WITH_TIMEOUT(m_window->session()->state(), SessionState::Ready, test::kLoadMs);
        QVERIFY(m_window->messageText().contains(gone));
    }

    void aModelThatWasNotLoadedByItselfIsOfferedToBeLoaded()
    {
        setScript("exit 1\n");
        QVERIFY(QDir().mkpath(QFileInfo(m_tool.destination).path()) && QFile::copy(tinyPath(), m_tool.destination));
        m_settings->setLoadingModel(m_tool.destination); // the last start did not survive it
        m_window.reset();
        m_settings->setLoadingModel(m_tool.destination);
        reopen();
        QCOMPARE(m_window->session()->state(), SessionState::NoModel);
        QVERIFY(m_window->messageText().contains(QStringLiteral("ended while it loaded")));
        QVERIFY(button("offerGet")->text().contains(QStringLiteral("Load")));
        click("offerGet");
        QTRY_COMPARE_WITH_TIMEOUT(m_window->session()->state(), SessionState::Ready, test::kLoadMs);
    }

    void theModelMenuOffersItTooWhileARunIsShown()
    {
        setScript(copyingScript());
        m_window->runs()->add(std::make_shared<RunRecord>(), QStringLiteral("opened"), QString());
        QVERIFY(!offer()->isVisible());
        QAction *get = inModelMenu("93 MB");
        QVERIFY(get);
        get->trigger();
        QVERIFY(offer()->isVisible()); // its progress has to be seen
        QVERIFY(m_window->findChild<MessageBar *>()->isHidden());
        QTRY_COMPARE_WITH_TIMEOUT(m_window->session()->state(), SessionState::Ready, test::kLoadMs);
    }

    void aFailureIsSaidWhileARunIsShown()
    {
        setScript("echo 'lectern: the exact reason' >&2; exit 3\n");
        m_window->runs()->add(std::make_shared<RunRecord>(), QStringLiteral("opened"), QString());
        inModelMenu("93 MB")->trigger();
        QTRY_VERIFY(!fetcher()->isRunning() && !offer()->isVisible());
        QVERIFY(label("messageText").contains(QStringLiteral("network")));
        QCOMPARE(m_window->messageText(), QStringLiteral("the exact reason"));
    }

    void withAModelTheFetchIsSeenAndCancelledInTheMessageBar()
    {
        setScript("trap 'exit 143' TERM\necho progress 25000000 100000000\nwhile :; do sleep 0.02; done\n");
        QVERIFY(load(tinyPath()));
        inModelMenu("93 MB")->trigger();
        QTRY_VERIFY2(m_window->messageText().contains(QStringLiteral("25 %")), qPrintable(m_window->messageText()));
        QVERIFY(inModelMenu("Cancel fetching") && !inModelMenu("93 MB"));
        click("messageAction");
        QTRY_VERIFY(!fetcher()->isRunning());
        QVERIFY2(m_window->messageText().contains(QStringLiteral("cancelled")), qPrintable(m_window->messageText()));
        QCOMPARE(m_window->session()->state(), SessionState::Ready);
    }

    void aFetchMessageThatWasClosedStaysClosedUntilItsEnd()
    {
        setScript("echo progress 1 100\nread line < '" + QFile::encodeName(m_folder.filePath(QStringLiteral("go"))) +
                  "'\necho progress 50 100\nexit 3\n");
        QCOMPARE(::mkfifo(QFile::encodeName(m_folder.filePath(QStringLiteral("go"))).constData(), 0600), 0);
        QVERIFY(load(tinyPath()));
        inModelMenu("93 MB")->trigger();
        QTRY_VERIFY(m_window->messageText().contains(QStringLiteral("1 %")));
        click("messageClose");
        QSignalSpy progressed(fetcher(), &ModelFetch::progressed);
        QFile go(m_folder.filePath(QStringLiteral("go")));
        QVERIFY(go.open(QIODevice::WriteOnly | QIODevice::Unbuffered) && go.write("\n") == 1);
        connect(fetcher(), &ModelFetch::progressed, this, [this] { QCOMPARE(m_window->messageText(), QString()); });
        QTRY_VERIFY(label("messageText").contains(QStringLiteral("network")));
        QCOMPARE(progressed.size(), 1);
    }

    void aCancelThatComesTooLateLeavesTheModelToBeLoaded()
    {
        setScript("trap 'mkdir -p \"$(dirname \"$2\")\"; cp \"" + QFile::encodeName(tinyPath()) +
                  "\" \"$2\"; exit 0' TERM\necho progress 100 100\nwhile :; do sleep 0.02; done\n");
        QSignalSpy progressed(fetcher(), &ModelFetch::progressed);
        click("offerGet");
        QVERIFY(progressed.wait());
        click("offerCancel");
        QTRY_VERIFY(button("offerGet")->isVisible());
        QVERIFY(button("offerGet")->text().contains(QStringLiteral("Load")));
        QVERIFY2(label("offerNote").isEmpty(), qPrintable(label("offerNote")));
        QCOMPARE(m_window->session()->state(), SessionState::NoModel);
    }

    void theScriptCannotWaitForAnAnswer()
    {
        setScript("read answer || exit 6\n"); // stdin has an end
        click("offerGet");
        QTRY_VERIFY(label("offerNote").contains(QStringLiteral("python3-pip")));
    }

    void whyFetchingCannotWorkIsNotSaidBesideAModelThatIsThere()
    {
        setScript("exit 0\n");
        m_tool.python.clear();
        QVERIFY(QDir().mkpath(QFileInfo(m_tool.destination).path()) && QFile::copy(tinyPath(), m_tool.destination));
        m_window.reset();
        m_settings->setLoadingModel(m_tool.destination); // so that it is not loaded by itself
        reopen();
        QVERIFY(button("offerGet")->isEnabled() && button("offerGet")->text().contains(QStringLiteral("Load")));
        QVERIFY2(label("offerNote").isEmpty(), qPrintable(label("offerNote")));
    }

    void theProgramInItsBuildFolderUsesTheScriptOfTheSourceTree()
    {
        QVERIFY(FetchTool::installed().script.endsWith(QStringLiteral("/packaging/fetch_model.py")));
    }
};

QTEST_MAIN(TestWindowStart)
#include "tst_window_start.moc"
