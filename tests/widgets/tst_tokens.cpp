// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/answer_pane.h"
#include "widgets/prompt_edit.h"
#include "widgets/prompt_pane.h"
#include "widgets/token_spans.h"
#include "widgets/token_tooltip.h"
#include "widgets/token_view.h"

#include <QApplication>
#include <QClipboard>
#include <QElapsedTimer>
#include <QLabel>
#include <QMimeData>
#include <QScrollBar>
#include <QSignalSpy>
#include <QtTest>

using namespace lectern;

namespace {

// Consecutive tokens with the given bytes.
std::vector<TokenRecord> tokensOf(const std::vector<std::string> &pieces)
{
    std::vector<TokenRecord> tokens;
    std::size_t offset = 0;
    for (const std::string &piece : pieces) {
        TokenRecord token;
        token.id = static_cast<TokenId>(tokens.size());
        token.bytes = piece;
        token.begin = offset;
        token.end = offset += piece.size();
        tokens.push_back(token);
    }
    return tokens;
}

std::string joined(const std::vector<TokenRecord> &tokens)
{
    std::string text;
    for (const TokenRecord &token : tokens)
        text += token.bytes;
    return text;
}

TokenRecord outputToken(const std::string &bytes, const std::string &text)
{
    TokenRecord token;
    token.bytes = bytes;
    token.text = text;
    token.stepNs = 2'000'000;
    return token;
}

std::shared_ptr<RunRecord> recordOf(int count, const std::string &text)
{
    auto record = std::make_shared<RunRecord>();
    for (int i = 0; i < count; ++i)
        record->outputTokens.push_back(outputToken(text, text));
    return record;
}

} // namespace

class TestTokens : public QObject
{
    Q_OBJECT

private slots:
    void everyTokenOfAsciiTextHasASpan()
    {
        const auto tokens = tokensOf({"Serv", "ing", " L"});
        const SpannedText text = spansOfText(joined(tokens), tokens, 0, 9);
        QCOMPARE(text.text, QStringLiteral("Serving L"));
        QCOMPARE(text.spans.size(), std::size_t(3));
        QCOMPARE(text.spans[1].begin, 4);
        QCOMPARE(text.spans[1].end, 7);
        QCOMPARE(text.spans[1].firstToken, 1);
    }

    // llama-tokenizer-js#4: 鑫森 in GPT-2 is six tokens; each character is shown once over its three.
    void tokensThatShareACharacterFormOneSpan()
    {
        const auto tokens = tokensOf({"\xE9\x91", "\xAB", "\xE6", "\xA3", "\xAE"});
        const SpannedText text = spansOfText(joined(tokens), tokens, 0, 6);
        QCOMPARE(text.text, QStringLiteral("鑫森"));
        QCOMPARE(text.spans.size(), std::size_t(2));
        QCOMPARE(text.spans[0].firstToken, 0);
        QCOMPARE(text.spans[0].lastToken, 1);
        QCOMPARE(text.spans[1].firstToken, 2);
        QCOMPARE(text.spans[1].lastToken, 4);
        QVERIFY(!text.text.contains(QChar(QChar::ReplacementCharacter)));
    }

    void charactersOutsideThePlaneTakeTwoUnits()
    {
        const auto tokens = tokensOf({"a", "\xF0\x9F\xA4\x97", "b"});
        const SpannedText text = spansOfText(joined(tokens), tokens, 0, 6);
        QCOMPARE(text.text.size(), 4);
        QCOMPARE(text.spans[2].begin, 3);
    }

    void aPartOfATextHasPositionsOfItsOwn()
    {
        const auto tokens = tokensOf({"<user>", "Hi", " you", "<end>"});
        const SpannedText text = spansOfText(joined(tokens), tokens, 6, 12);
        QCOMPARE(text.text, QStringLiteral("Hi you"));
        QCOMPARE(text.spans.size(), std::size_t(2));
        QCOMPARE(text.spans[0].begin, 0);
        QCOMPARE(text.spans[0].firstToken, 1);
        QCOMPARE(text.spans[1].end, 6);
    }

    void invalidBytesBecomeReplacementCharacters()
    {
        const auto tokens = tokensOf({"a", "\xFF", "b"});
        const SpannedText text = spansOfText(joined(tokens), tokens, 0, 3);
        QCOMPARE(text.text, QStringLiteral("a\uFFFDb"));
        QCOMPARE(text.spans.size(), std::size_t(3));
    }

    void outputTokensWithoutTextJoinTheOneThatCompletesTheCharacter()
    {
        SpannedText text;
        appendOutputSpans(text, {outputToken("x", "x"), outputToken("\xE9\x91", ""), outputToken("\xAB", "鑫")}, 0,
                          false);
        QCOMPARE(text.text, QStringLiteral("x鑫"));
        QCOMPARE(text.spans.size(), std::size_t(2));
        QCOMPARE(text.spans[1].firstToken, 1);
        QCOMPARE(text.spans[1].lastToken, 2);
        QCOMPARE(spanOfToken(text.spans, 1), 1);
        QCOMPARE(spanAt(text.spans, 0), 0);
        QCOMPARE(spanAt(text.spans, 5), -1);
    }

    void specialTokensAppearByNameOnlyWhenAskedFor()
    {
        TokenRecord end = outputToken("<|im_end|>", "");
        end.isSpecial = true;
        SpannedText with, without;
        appendOutputSpans(with, {outputToken("a", "a"), end}, 0, true);
        appendOutputSpans(without, {outputToken("a", "a"), end}, 0, false);
        QCOMPARE(with.text, QStringLiteral("a<|im_end|>"));
        QVERIFY(with.spans[1].isSpecial);
        QCOMPARE(without.text, QStringLiteral("a"));
    }

    void tooltipsNameIdBytesProbabilityAndKvLength()
    {
        TokenRecord token = outputToken(" decode", " decode");
        token.id = 33887;
        token.logprob = std::log(0.41f);
        token.kvTokens = 51;
        const QString tip = tokenToolTip(token, TokenPart::Output, 3, 10);
        for (const char *part : {"33887", "20 64 65 63 6F 64 65", "41", "51", "<b>14</b>"})
            QVERIFY2(tip.contains(QLatin1String(part)), part);
        const auto shared = tokensOf({"\xE9\x91", "\xAB"});
        QVERIFY(tokensToolTip(shared, 0, 1, TokenPart::Prompt, 0).contains(QLatin1String("E9 91")));
    }

    void theAnswerGrowsWithoutTouchingWhatIsThere()
    {
        TokenView view(QStringLiteral("empty"));
        view.resize(400, 200);
        auto record = recordOf(3, " ab");
        view.showAnswer(7, record);
        QCOMPARE(view.shownText(), QStringLiteral(" ab ab ab"));
        QSignalSpy changes(view.document(), &QTextDocument::contentsChange);
        record->outputTokens.push_back(outputToken(" cd", " cd"));
        view.appendNew();
        QCOMPARE(view.shownText(), QStringLiteral(" ab ab ab cd"));
        QCOMPARE(changes.count(), 1);
        QCOMPARE(changes.at(0).at(0).toInt(), 9); // at the end only
    }

    // Alpaca#489: one line of 200,000 characters without a break neither freezes nor is cut; copying gives it back
    // whole.
    void aLineWithoutBreaksStaysWhole()
    {
        TokenView view(QStringLiteral("empty"));
        view.resize(400, 200);
        view.show();
        auto record = recordOf(20'000, "0123456789");
        QElapsedTimer timer;
        timer.start();
        view.showAnswer(1, record);
        QVERIFY2(timer.elapsed() < 20'000, qPrintable(QString::number(timer.elapsed())));
        QCOMPARE(view.shownText().size(), 200'000);
        QVERIFY(!view.shownText().contains(QLatin1Char('\n')));
        view.selectAll();
        view.copy();
        QCOMPARE(QApplication::clipboard()->text(), view.shownText());
        // Every span still lies on its own characters in spite of the soft breaks.
        for (const std::size_t index : {std::size_t(0), std::size_t(777), std::size_t(19'999)}) {
            QTextCursor cursor(view.document());
            cursor.setPosition(view.spans()[index].begin);
            cursor.setPosition(view.spans()[index].end, QTextCursor::KeepAnchor);
            QCOMPARE(cursor.selectedText().remove(QChar::ParagraphSeparator), QStringLiteral("0123456789"));
        }
    }

    // Alpaca#489: the cost of one append does not grow with the text.
    void appendingCostsTheSameLateAsEarly()
    {
        TokenView view(QStringLiteral("empty"));
        view.resize(500, 300);
        view.show();
        auto record = std::make_shared<RunRecord>();
        view.showAnswer(1, record);
        const auto appendBatches = [&](int tokens) {
            QElapsedTimer timer;
            timer.start();
            for (int i = 0; i < tokens; i += 16) {
                for (int k = 0; k < 16; ++k)
                    record->outputTokens.push_back(outputToken(" twelve char", " twelve char"));
                view.appendNew();
            }
            return static_cast<double>(timer.nsecsElapsed()) / tokens;
        };
        appendBatches(1'008);
        const double early = appendBatches(2'000);
        appendBatches(15'008);
        const double late = appendBatches(2'000);
        QVERIFY2(late < 3 * early, qPrintable(QStringLiteral("%1 ns early, %2 ns late").arg(early).arg(late)));
    }

    void theViewStaysAtTheEndWhereItGetsSmaller()
    {
        TokenView view(QStringLiteral("empty"));
        view.resize(300, 120);
        view.show();
        view.showAnswer(1, recordOf(100, " word"));
        QScrollBar *bar = view.verticalScrollBar();
        QTRY_VERIFY(bar->maximum() > 0);
        bar->setValue(bar->maximum());
        const int before = bar->maximum();
        view.resize(300, 70);
        QTRY_VERIFY2(bar->maximum() > before, qPrintable(QString::number(bar->maximum())));
        QCOMPARE(bar->value(), bar->maximum());
    }

    // jan#2818: the view stays where the user scrolled while text arrives.
    void theViewStaysWhereTheUserScrolled()
    {
        TokenView view(QStringLiteral("empty"));
        view.resize(300, 120);
        view.show();
        auto record = recordOf(400, " word");
        view.showAnswer(1, record);
        QCOMPARE(view.verticalScrollBar()->value(), view.verticalScrollBar()->maximum()); // follows
        view.verticalScrollBar()->setValue(3);
        for (int i = 0; i < 200; ++i)
            record->outputTokens.push_back(outputToken(" more", " more"));
        view.appendNew();
        QCOMPARE(view.verticalScrollBar()->value(), 3);
    }

    void hoveringATokenSelectsItEverywhere()
    {
        TokenSelection selection;
        TokenView view(QStringLiteral("empty"));
        view.setSelection(&selection);
        view.resize(400, 100);
        view.show();
        view.showAnswer(5, recordOf(3, " word"));
        QTextCursor cursor(view.document());
        cursor.setPosition(7); // inside the second " word"
        QTest::mouseMove(view.viewport(), view.cursorRect(cursor).center());
        QCOMPARE(selection.hovered(), (TokenRef{5, TokenPart::Output, 1}));
        QTest::mouseMove(view.viewport(), QPoint(390, 95));
        QVERIFY(!selection.hovered().isValid());
    }

    void arrowKeysWalkFromTokenToToken()
    {
        TokenSelection selection;
        TokenView view(QStringLiteral("empty"));
        view.setSelection(&selection);
        view.show();
        view.showAnswer(5, recordOf(3, "ab"));
        view.setFocus();
        QVERIFY(QTest::qWaitForWindowActive(&view));
        view.moveCursor(QTextCursor::Start);
        QTest::keyClick(&view, Qt::Key_Right);
        QTest::keyClick(&view, Qt::Key_Right);
        QCOMPARE(selection.hovered().index, 1);
    }

    void carriageReturnsArePartOfThePrompt()
    {
        PromptEdit edit;
        auto *mime = new QMimeData;
        mime->setText(QStringLiteral("A\r\nB"));
        QApplication::clipboard()->setMimeData(mime);
        edit.paste();
        QCOMPARE(edit.promptText(), QStringLiteral("A\r\nB"));
        QVERIFY(edit.toPlainText().contains(QChar(0x240D))); // and they can be seen
    }

    void replacingThePromptCanBeUndone()
    {
        PromptEdit edit;
        edit.replaceText(QStringLiteral("first"));
        edit.replaceText(QStringLiteral("second"));
        edit.undo();
        QCOMPARE(edit.promptText(), QStringLiteral("first"));
    }

    void boxesMoveWithTheTextUntilNewTokensArrive()
    {
        PromptEdit edit;
        edit.replaceText(QStringLiteral("one two"));
        const auto tokens = tokensOf({"one", " two"});
        edit.showTokens(QStringLiteral("one two"), "one two", tokens, {}, 0, 7);
        QCOMPARE(edit.spans().size(), std::size_t(2));
        edit.moveCursor(QTextCursor::Start);
        QTest::keyClicks(&edit, QStringLiteral("x "));
        QCOMPARE(edit.spans().size(), std::size_t(2));
        QCOMPARE(edit.spans()[1].begin, 5);
        edit.showTokens(QStringLiteral("one two"), "one two", tokens, {}, 0, 7); // an answer to the old text
        QCOMPARE(edit.spans()[1].begin, 5);
    }

    void thePromptPaneCountsWordsCharactersAndTokens()
    {
        PromptPane pane;
        pane.setModelAvailable(true);
        pane.setMode(PromptMode::Raw);
        pane.setPromptText(QStringLiteral("Hello big world"));
        auto tokens = std::make_shared<PromptTokens>();
        tokens->userText = QStringLiteral("Hello big world");
        tokens->prepared.text = "Hello big world";
        tokens->prepared.tokens = tokensOf({"Hello", " big", " wor", "ld"});
        pane.showTokens(tokens);
        const QString counts = pane.findChild<QLabel *>(QStringLiteral("promptCounts"))->text();
        for (const char *part : {"3 word", "15 character", "4 token", "0.75"})
            QVERIFY2(counts.contains(QLatin1String(part)), qPrintable(counts));
    }
};

QTEST_MAIN(TestTokens)
#include "tst_tokens.moc"
