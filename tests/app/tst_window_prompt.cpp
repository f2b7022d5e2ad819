// SPDX-License-Identifier: GPL-3.0-or-later
// The prompt pane in the window: what is sent, special tokens in the text, two begin tokens, prompts that are empty,
// too long or repeated.
#include "engine/trace/run_json.h"
#include "tests/app/window_fixture.h"
#include "widgets/message_bar.h"
#include "widgets/runs_view.h"

#include <QAbstractButton>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QMenu>
#include <QMimeData>
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

    // llama.cpp#6809, tiktoken#82
    void whatIsPastedIsSentByteForByteAndHalfPairsAreReplacedAndCounted()
    {
        QVERIFY(load(tinyPath()));
        const auto paste = [this](const QString &text) {
            auto *mime = new QMimeData;
            mime->setText(text);
            QApplication::clipboard()->setMimeData(mime);
            editor()->setFocus();
            editor()->selectAll();
            QTest::keyClick(editor(), Qt::Key_V, Qt::ControlModifier);
        };
        paste(QStringLiteral("A\r\nB"));
        QVERIFY(run() > 0);
        QCOMPARE(m_window->runs()->current()->record->promptText, std::string("A\r\nB"));
        QCOMPARE(m_window->runs()->current()->record->promptTokens[1].bytes, std::string("\r"));
        QVERIFY(!note()->isVisible());

        const char16_t broken[] = {u'a', 0xDBC0, u'b'};
        paste(QString::fromUtf16(broken, 3));
        QTRY_VERIFY(note()->isVisible());
        QVERIFY2(note()->text().contains(QStringLiteral("1 invalid character")), qPrintable(note()->text()));
        QVERIFY(run() > 0);
        QCOMPARE(m_window->runs()->current()->record->promptText, std::string("a\uFFFDb"));
    }

    // gpt4all#3305: said with line and column, no other template is taken, and a raw prompt still runs.
    void aTemplateThatIsNotUnderstoodIsSaidAndRawModeStillRuns()
    {
        test::TinyModelSpec spec;
        spec.chatTemplate = "{% set t = none %}\n{{ messages | frobnicate }}";
        QVERIFY(load(model("frobnicate.gguf", spec)));
        const QAbstractButton *chat = button("chatMode");
        QVERIFY(!chat->isEnabled() && !chat->isChecked());
        for (const char *words : {"frobnicate", "line 2", "column"})
            QVERIFY2(chat->toolTip().contains(QLatin1String(words)), qPrintable(chat->toolTip()));
        type(QStringLiteral("the model"));
        QVERIFY(run() > 0);
        QCOMPARE(m_window->runs()->current()->record->promptText, std::string("the model"));
    }

    void aTemplateThatKnowsNoneRuns()
    {
        test::TinyModelSpec spec;
        spec.chatTemplate = "{% set t = none %}{% if t is none %}{{ messages[0].content }}{% endif %}";
        QVERIFY(load(model("none.gguf", spec)));
        promptPane()->setMode(PromptMode::Chat);
        type(QStringLiteral("the model"));
        QVERIFY(run() > 0);
        QCOMPARE(m_window->runs()->current()->record->promptText, std::string("the model"));
    }

    // llama.cpp#11402: the template's own words, no prompt, no token.
    void whatATemplateRaisesIsShownAndNothingRuns()
    {
        test::TinyModelSpec spec;
        spec.chatTemplate =
            "{% for m in messages %}{{ m.content }}{% if loop.index0 == 0 %}"
            "{{ raise_exception('roles must alternate, message ' ~ loop.index0) }}{% endif %}{% endfor %}";
        QVERIFY(load(model("raises.gguf", spec)));
        promptPane()->setMode(PromptMode::Chat);
        type(QStringLiteral("the model"));
        QTRY_VERIFY2(note()->text().contains(QStringLiteral("roles must alternate")), qPrintable(note()->text()));
        QVERIFY(sent()->spans().empty());
        run();
        const QString said = m_window->messageText();
        QVERIFY2(said.contains(QStringLiteral("roles must alternate, message 0")), qPrintable(said));
        QVERIFY(m_window->runs()->runs().empty()); // no prompt, no run
    }

    // A file decides what is raised: the window must not grow with it.
    void aLongTextThatATemplateRaisesLeavesTheWindowAsItIs_data()
    {
        QTest::addColumn<QString>("raised");
        QTest::newRow("many lines") << QStringLiteral("roles must alternate\\n").repeated(60);
        QTest::newRow("a long word") << QString(1500, u'x');
    }

    void aLongTextThatATemplateRaisesLeavesTheWindowAsItIs()
    {
        QFETCH(QString, raised);
        test::TinyModelSpec spec;
        spec.chatTemplate = "{{ raise_exception('" + raised.toStdString() + "') }}";
        m_window->resetLayout({800, 600});
        QVERIFY(load(model("raises.gguf", spec)));
        promptPane()->setMode(PromptMode::Chat);
        type(QStringLiteral("the model"));
        QTRY_VERIFY(note()->text().contains(raised.left(8)));
        run();
        QVERIFY(m_window->messageText().contains(raised.left(8)));
        QCoreApplication::processEvents();
        QCOMPARE(m_window->size(), QSize(800, 600));
        const auto *bar = m_window->findChild<MessageBar *>();
        QVERIFY(bar->height() < 200);
        for (const QLabel *text : bar->findChildren<QLabel *>())
            if (text->wordWrap())
                QVERIFY(text->height() >= text->heightForWidth(text->width()));
    }

    void anEmptyPromptIsRefusedWithoutARow()
    {
        QVERIFY(load(tinyPath()));
        type(QString());
        QCOMPARE(run(), 0);
        QVERIFY(m_window->messageText().contains(QStringLiteral("Nothing to evaluate")));
        QCOMPARE(m_window->runs()->runs().size(), std::size_t(0));
        editor()->replaceText(QStringLiteral("\u200B")); // a zero-width space is an ordinary prompt of three bytes
        QVERIFY(run() > 0);
        QCOMPARE(m_window->runs()->current()->record->promptText.size(), std::size_t(3));
        // A model with a begin token has one token to evaluate (vllm#7283).
        test::TinyModelSpec spec;
        spec.vocabulary = test::TinyVocabulary::SentencePiece;
        QVERIFY(load(model("begin.gguf", spec)));
        type(QString());
        QVERIFY2(run() > 0, qPrintable(m_window->messageText()));
        QCOMPARE(m_window->runs()->current()->record->promptTokens.size(), std::size_t(1));
        QVERIFY(m_window->runs()->current()->record->promptTokens[0].isSpecial);
    }

    // lmstudio-bug-tracker#2339
    void promptsAroundTheContextsLengthRunOrAreRefusedWithBothNumbers_data()
    {
        QTest::addColumn<int>("tokens");
        QTest::addColumn<bool>("runs");
        QTest::newRow("63") << 63 << true;
        QTest::newRow("64") << 64 << false;
        QTest::newRow("65") << 65 << false;
        QTest::newRow("640") << 640 << false;
    }

    void promptsAroundTheContextsLengthRunOrAreRefusedWithBothNumbers()
    {
        QFETCH(int, tokens);
        QFETCH(bool, runs);
        test::TinyModelSpec spec;
        spec.contextLength = 64;
        QVERIFY(load(model("short.gguf", spec)));
        editor()->replaceText(QStringLiteral("z").repeated(tokens));
        const int id = run();
        if (runs) {
            QVERIFY2(id > 0, qPrintable(m_window->messageText()));
            const auto record = m_window->runs()->current()->record;
            QCOMPARE(*record->finishReason, FinishReason::ContextFull);
            QCOMPARE(record->outputTokens.size(), std::size_t(1));
            QVERIFY(label("answerFooter").contains(QStringLiteral("context full (64 tokens)")));
            return;
        }
        QCOMPARE(id, 0);
        const QString said = m_window->messageText();
        QVERIFY2(said.contains(QString::number(tokens)) && said.contains(QStringLiteral("64")), qPrintable(said));
        QVERIFY2(tokens <= 64 || said.contains(QString::number(tokens - 64)), qPrintable(said)); // the excess
        QCOMPARE(m_window->runs()->runs().size(), std::size_t(0));
        QVERIFY(answer()->shownText().isEmpty());
        type(QStringLiteral("ok"));
        QVERIFY(run() > 0);
    }

    // ollama#3427, llama.cpp#4902
    void aRepeatedPromptSaysWhatItTookFromTheCache()
    {
        QVERIFY(load(tinyPath()));
        action("reusePrefix")->setChecked(true);
        editor()->replaceText(QStringLiteral("zq").repeated(25));
        const auto *table = m_window->findChild<RunsView *>();
        std::vector<TokenId> first;
        for (const int reused : {0, 49}) {
            QVERIFY(run() > 0);
            const int row = table->model()->rowCount() - 1;
            const QModelIndex prompt = table->model()->index(row, RunTableModel::Prompt);
            QCOMPARE(prompt.data().toString(), QStringLiteral("50"));
            QCOMPARE(prompt.data(Qt::ToolTipRole).toString(),
                     QStringLiteral("Prompt tokens: 50; from the cache of the run before: %1, evaluated: %2")
                         .arg(reused)
                         .arg(50 - reused));
            const auto *caption = m_window->findChild<QLabel *>(QStringLiteral("sentCaption"));
            QCOMPARE(caption->isVisible() && caption->text().contains(QStringLiteral("49 reused from the KV cache")),
                     reused > 0);
            QVERIFY2(label("statusFacts").startsWith(QStringLiteral("context 74 / 256")), // all of them count
                     qPrintable(label("statusFacts")));
            std::vector<TokenId> ids;
            for (const TokenRecord &token : m_window->runs()->current()->record->outputTokens)
                ids.push_back(token.id);
            QCOMPARE(ids.size(), std::size_t(24));
            if (!first.empty())
                QCOMPARE(ids, first);
            first = ids;
        }
    }

    // llama-cpp-python#1501
    void aPromptRunsWithoutTheBytesThatHaveNoToken()
    {
        test::TinyModelSpec spec;
        spec.missingBytes = "\x04";
        QVERIFY(load(model("few bytes.gguf", spec)));
        promptPane()->setMode(PromptMode::Chat);
        editor()->replaceText(QStringLiteral("a\x04z"));
        QTRY_VERIFY(note()->isVisible());
        QVERIFY2(note()->text().endsWith(QStringLiteral(": 0x04")), qPrintable(note()->text()));
        QVERIFY2(label("promptCounts").contains(QStringLiteral("2 token")), qPrintable(label("promptCounts")));
        QCOMPARE(editor()->leftOut().size(), std::size_t(1));
        QCOMPARE(editor()->leftOut()[0].begin, 1);
        QCOMPARE(sent()->leftOut().size(), std::size_t(1));
        const int place = sent()->leftOut()[0].begin;
        QCOMPARE(sent()->shownText().mid(place - 1, 3), QStringLiteral("a\x04z"));

        const int id = run();
        QVERIFY(id > 0);
        const auto record = m_window->runs()->find(id)->record;
        QCOMPARE(record->state, RunState::Finished);
        const QString path = m_folder.filePath(QStringLiteral("few.lectern.json"));
        QVERIFY(saveRun(*record, path.toStdString()));
        editor()->replaceText(QStringLiteral("other"));
        QTRY_VERIFY(!note()->isVisible() && editor()->leftOut().empty());
        m_window->openFile(path);
        QTRY_COMPARE(sent()->leftOut().size(), std::size_t(1)); // of the run
        QCOMPARE(sent()->leftOut()[0].begin, place);
        QVERIFY2(label("sentCaption").endsWith(QStringLiteral(": 0x04")), qPrintable(label("sentCaption")));
    }

    void aPromptOfNothingButLeftOutBytesSaysSo()
    {
        test::TinyModelSpec spec;
        spec.missingBytes = "\x04";
        QVERIFY(load(model("few bytes.gguf", spec)));
        editor()->replaceText(QStringLiteral("\x04"));
        QTRY_VERIFY(note()->isVisible());
        QCOMPARE(run(), 0);
        QVERIFY2(m_window->messageText().contains(QStringLiteral("0x04 at byte 0")),
                 qPrintable(m_window->messageText()));
    }

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

    void twoBeginTokensAndReplacedCharactersAreBothSaid()
    {
        test::TinyModelSpec spec;
        spec.vocabulary = test::TinyVocabulary::SentencePiece;
        QVERIFY(load(model("both.gguf", spec)));
        promptPane()->setParsesSpecial(true);
        const char16_t broken[] = {u'<', u's', u'>', 0xDBC0, u'b'};
        editor()->replaceText(QString::fromUtf16(broken, 5));
        QTRY_VERIFY(note()->isVisible());
        for (const char *part : {"two begin tokens", "1 invalid character"})
            QVERIFY2(note()->text().contains(QLatin1String(part)), qPrintable(note()->text()));
        QTRY_VERIFY(note()->height() >= note()->heightForWidth(note()->width())); // all of it is seen
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

    void aSmallKvBudgetEndsRunsOrRefusesThemWithItsBytes()
    {
        CommandLine line;
        line.model = tinyPath();
        line.load.kvBudgetBytes = 8192; // 32 tokens of 256 bytes
        m_window->openAtStart(line);
        QTRY_COMPARE_WITH_TIMEOUT(m_window->session()->state(), SessionState::Ready, test::kLoadMs);
        editor()->replaceText(QStringLiteral("z").repeated(20));
        QVERIFY(run() > 0);
        const auto record = m_window->runs()->current()->record;
        QCOMPARE(*record->finishReason, FinishReason::MemoryFull);
        QCOMPARE(record->kv.back().usedBytes, std::uint64_t(8192));
        QVERIFY2(label("answerFooter").contains(QStringLiteral("KV memory full (8.19\u2009kB)")),
                 qPrintable(label("answerFooter")));
        QVERIFY(label("statusFacts").contains(QStringLiteral("KV 8.19\u2009kB of 8.19\u2009kB")));
        editor()->replaceText(QStringLiteral("z").repeated(40));
        QCOMPARE(run(), 0);
        for (const char *part : {"40 tokens", "10240 bytes", "8192 bytes"})
            QVERIFY2(m_window->messageText().contains(QLatin1String(part)), qPrintable(m_window->messageText()));
        QCOMPARE(m_window->runs()->runs().size(), std::size_t(1));
        QVERIFY(label("statusFacts").contains(QStringLiteral("problems 1")));
    }

    void theContextIsChosenUnderMore()
    {
        test::TinyModelSpec spec;
        spec.contextLength = 1024;
        QVERIFY(load(model("long.gguf", spec)));
        QCOMPARE(m_window->session()->model()->engine.contextTokens, 1024);
        auto *box = m_window->findChild<QComboBox *>(QStringLiteral("contextBox"));
        m_window->findChild<QToolButton *>(QStringLiteral("samplingButton"))->menu()->popup({10, 10});
        QTest::keyClicks(box, QStringLiteral("5")); // the only one that begins so
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
