// SPDX-License-Identifier: GPL-3.0-or-later
// The prompt pane in the window: special tokens in the text, two begin tokens, prompts that do not fit the context.
#include "tests/app/window_fixture.h"

#include <QAbstractButton>
#include <QCheckBox>
#include <QComboBox>
#include <QMenu>
#include <QToolButton>

using namespace lectern;

class TestWindowPrompt : public test::WindowFixture
{
    Q_OBJECT

private:
    QString model(const char *name, const test::TinyModelSpec &spec)
    {
        return QString::fromStdString(test::writeTinyModel(m_folder.path().toStdString(), name, spec).string());
    }
    QAbstractButton *button(const char *name) const
    {
        return m_window->findChild<QAbstractButton *>(QLatin1String(name));
    }
    QLabel *note() const { return m_window->findChild<QLabel *>(QStringLiteral("promptNote")); }
    TokenView *sent() const { return m_window->findChild<TokenView *>(QStringLiteral("sentTokens")); }
    int specialCount() const
    {
        int count = 0;
        for (const TokenSpan &span : sent()->spans())
            count += span.isSpecial;
        return count;
    }

private slots:
    void specialTokensInTheTextAreTextUnlessAskedFor()
    {
        QVERIFY(load(tinyPath()));
        QVERIFY(button("parseSpecial")->isVisible());
        type(QStringLiteral("a<|im_end|>"));
        QTRY_VERIFY(!editor()->spans().empty() && editor()->spans().back().end == 11);
        QVERIFY(editor()->spans().size() > 2);
        QTest::mouseClick(button("parseSpecial"), Qt::LeftButton, {}, {8, button("parseSpecial")->height() / 2});
        QTRY_COMPARE(editor()->spans().size(), std::size_t(2));
        QVERIFY(editor()->spans().back().isSpecial);
        QVERIFY(m_settings->parsesSpecial());
        promptPane()->setMode(PromptMode::Chat); // what a user says in a chat is text always
        QVERIFY(!button("parseSpecial")->isVisible());
        QTRY_VERIFY(editor()->spans().size() > 2);
    }

    // Public case: Llama 3 Double BOS.
    void twoBeginTokensAreWarnedAboutAndOneCanBeRemoved()
    {
        test::TinyModelSpec spec;
        spec.vocabulary = test::TinyVocabulary::SentencePiece;
        QVERIFY(load(model("spm.gguf", spec)));
        promptPane()->setParsesSpecial(true);
        editor()->replaceText(QStringLiteral("<s>the \u00fc model"));
        QTRY_VERIFY(note()->isVisible());
        QVERIFY(note()->text().contains(QStringLiteral("two begin tokens")));
        QCOMPARE(specialCount(), 2);
        const int asWritten = run(); // done as the user says
        const auto record = m_window->runs()->find(asWritten)->record;
        QCOMPARE(record->promptTokens[0].id, record->promptTokens[1].id);

        QTest::mouseClick(button("removeSecondBegin"), Qt::LeftButton);
        QCOMPARE(editor()->promptText(), QStringLiteral("the \u00fc model"));
        QTRY_VERIFY(!note()->isVisible());
        const int corrected = run();
        const auto after = m_window->runs()->find(corrected)->record;
        QCOMPARE(after->promptTokens.size(), record->promptTokens.size() - 1);
        QVERIFY(after->promptTokens[0].isSpecial && !after->promptTokens[1].isSpecial);
        QVERIFY(editor()->hasFocus());
        QTest::keyClick(editor(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(editor()->promptText(), QStringLiteral("<s>the \u00fc model"));
    }

    void aPromptThatDoesNotFitIsSaidBeforeItRuns()
    {
        QVERIFY(load(tinyPath())); // context 256
        const auto countsSay = [this](const char *part) {
            return QTest::qWaitFor([&] { return label("promptCounts").contains(QLatin1String(part)); });
        };
        editor()->replaceText(QStringLiteral("zq").repeated(200));
        QVERIFY2(countsSay("400 tokens to send, but the context holds 256: shorten"),
                 qPrintable(label("promptCounts")));
        editor()->replaceText(QStringLiteral("zq").repeated(128));
        QVERIFY2(countsSay("256 tokens fill the context of 256, no room"), qPrintable(label("promptCounts")));
        editor()->replaceText(QStringLiteral("zq").repeated(120));
        QVERIFY2(countsSay("room for 16 of at most 24 answer tokens in the context of 256"),
                 qPrintable(label("promptCounts")));
        setMaxTokens(16);
        QVERIFY(!label("promptCounts").contains(QStringLiteral("room")));
    }

    void theContextIsChosenUnderMore()
    {
        test::TinyModelSpec spec;
        spec.contextLength = 1024;
        QVERIFY(load(model("long.gguf", spec)));
        QCOMPARE(m_window->session()->model()->engine.contextTokens, 1024);
        auto *box = m_window->findChild<QComboBox *>(QStringLiteral("contextBox"));
        m_window->findChild<QToolButton *>(QStringLiteral("samplingButton"))->menu()->popup({10, 10});
        QSignalSpy loaded(m_window.get(), &MainWindow::loadEnded);
        QTest::keyClicks(box, QStringLiteral("512"));
        QTRY_COMPARE_WITH_TIMEOUT(m_window->session()->state(), SessionState::Ready, test::kLoadMs);
        QTRY_COMPARE_WITH_TIMEOUT(m_window->session()->model()->engine.contextTokens, 512, test::kLoadMs);
        QVERIFY(label("statusFacts").contains(QStringLiteral("/ 512")));
        QCOMPARE(m_settings->contextTokens(), 512);
        m_window->findChild<QToolButton *>(QStringLiteral("samplingButton"))->menu()->close();
        // A model made for less gets what it was made for.
        QVERIFY(load(tinyPath()));
        QCOMPARE(m_window->session()->model()->engine.contextTokens, 256);
    }
};

QTEST_MAIN(TestWindowPrompt)
#include "tst_window_prompt.moc"
