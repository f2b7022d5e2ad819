// SPDX-License-Identifier: GPL-3.0-or-later
// Texts in and out of the editors unit for unit, and where the boxes of their tokens lie.
#include "tests/support/fixture.h"
#include "widgets/prompt_edit.h"
#include "widgets/token_view.h"

#include <QAbstractTextDocumentLayout>
#include <QApplication>
#include <QClipboard>
#include <QMimeData>
#include <QScrollBar>
#include <QtTest>

using namespace lectern;

namespace {

// Everything that a document would change: no-break space, separators, NUL, its own marks, and the signs for them.
const QString kHardText = QStringLiteral("a\u00A0b\u2028c\u2029d\r\ne\rf\ng") + QChar(u'\0') + QChar(0xFDD0) +
                          QChar(0xFDD1) + QChar(0xFFFC) + QStringLiteral("\u240D\u2400\u00B6\uFFFD\uF80D\n") +
                          QStringLiteral("\x01\x04\x04\x04\u2404\x0B\x1F\x7F\u2421\t");

struct Pieces
{
    std::string text;
    std::vector<TokenRecord> tokens;
};

Pieces tokensOf(const std::vector<std::string> &pieces)
{
    Pieces result;
    for (const std::string &piece : pieces) {
        TokenRecord token;
        token.bytes = piece;
        token.text = piece;
        token.begin = result.text.size();
        result.text += piece;
        token.end = result.text.size();
        result.tokens.push_back(token);
    }
    return result;
}

// Special tokens after a word, after a space, after one another and after characters of two units.
Pieces specialTokens()
{
    Pieces pieces = tokensOf({"<|im_start|>",
                              "user",
                              "\n",
                              "What",
                              " is",
                              " it",
                              "?",
                              "<|im_end|>",
                              "<|im_start|>",
                              "<|im_end|>",
                              "\xF0\x9F\xA4\x97",
                              "\xF0\x9F\xA4\x97",
                              "</s>",
                              " \xC3\xA9t\xC3\xA9",
                              "<|im_end|>",
                              "\n",
                              "one",
                              " two",
                              " three",
                              " four",
                              " five",
                              " six",
                              "<|im_end|>"});
    for (TokenRecord &token : pieces.tokens)
        token.isSpecial = token.bytes.front() == '<';
    return pieces;
}

// All boxes of a span in the viewport.
std::vector<QRectF> boxesOf(const TokenTextEdit &edit, const TokenSpan &span)
{
    std::vector<QRectF> boxes;
    for (const auto &line : edit.linesIn(edit.viewport()->rect()))
        for (const QRectF &box : edit.boxesOf(span.begin, span.end, line))
            boxes.push_back(box);
    return boxes;
}

class PaintCounter : public TokenView
{
public:
    PaintCounter()
        : TokenView(QString())
    {
    }
    mutable int styled = 0;

protected:
    BoxStyle boxStyle(std::size_t span) const override
    {
        ++styled;
        return TokenView::boxStyle(span);
    }
};

} // namespace

class TestTokenText : public QObject
{
    Q_OBJECT

private slots:
    void controlCharactersAreSeenAsTheirPictures()
    {
        PromptEdit edit;
        edit.replaceText(QStringLiteral("a\x04\x04\x1F\x7F\t\n"));
        QCOMPARE(edit.toPlainText(), QStringLiteral("a\u2404\u2404\u241F\u2421\t\n"));
        QCOMPARE(edit.promptText(), QStringLiteral("a\x04\x04\x1F\x7F\t\n"));
    }

    void everyPromptComesBackUnitForUnit_data()
    {
        QTest::addColumn<QString>("text");
        QTest::newRow("hard") << kHardText;
        int index = 0;
        const auto fixture = test::loadFixture("tokens_smollm2.json");
        for (const auto &entry : fixture.at("cases"))
            QTest::addRow("%d", ++index) << QString::fromStdString(entry.at("text").get<std::string>());
    }

    void everyPromptComesBackUnitForUnit()
    {
        QFETCH(QString, text);
        PromptEdit edit;
        edit.replaceText(text);
        QCOMPARE(edit.promptText(), text);
        QCOMPARE(edit.document()->characterCount(), static_cast<int>(text.size()) + 1); // positions are the same
        edit.selectAll();
        edit.copy();
        edit.replaceText(QStringLiteral("other"));
        edit.undo();
        QCOMPARE(edit.promptText(), text);
        if (!text.isEmpty()) {
            QApplication::clipboard()->clear();
            edit.selectAll();
            edit.copy();
            QCOMPARE(QApplication::clipboard()->text(), text);
            PromptEdit other;
            other.paste();
            QCOMPARE(other.promptText(), text);
        }
    }

    // Qt breaks lines after "|" and "/".
    void aSpecialTokenIsNotCutInTwo()
    {
        const Pieces pieces = specialTokens();
        TokenView prompt{QString()}, answer{QString()};
        PromptEdit edit;
        auto record = std::make_shared<RunRecord>();
        answer.showAnswer(1, record);
        for (const TokenRecord &token : pieces.tokens) { // one by one, as they stream
            record->outputTokens.push_back(token);
            answer.appendNew();
        }
        prompt.showPrompt(0, pieces.text, pieces.tokens, {});
        edit.replaceText(QString::fromStdString(pieces.text));
        edit.showTokens(edit.promptText(), pieces.text, pieces.tokens, {}, 0, pieces.text.size());
        for (TokenTextEdit *view : std::initializer_list<TokenTextEdit *>{&prompt, &answer, &edit}) {
            view->setTheme(Theme::light());
            view->show();
            const int least = view->fontMetrics().horizontalAdvance(QStringLiteral("<|im_start|>")) + 40;
            int lineBreaks = 0;
            for (int width = least; width < least + 500; width += 3) {
                view->resize(width, 2000);
                for (const TokenSpan &span : view->spans())
                    if (span.isSpecial)
                        QCOMPARE(boxesOf(*view, span).size(), std::size_t(1));
                QCOMPARE(view->document()->lineCount(), static_cast<int>(view->linesIn(view->rect()).size()));
                lineBreaks += view->document()->lineCount();
            }
            QVERIFY(lineBreaks > 167 * view->document()->blockCount()); // lines were broken at all
        }
        QCOMPARE(edit.promptText(), QString::fromStdString(pieces.text));
    }

    void aSpecialTokenLongerThanALineGoesOnInTheNext()
    {
        Pieces pieces = tokensOf({"a", "<|" + std::string(40, 'x') + "|" + std::string(40, 'y') + "|>", "b"});
        pieces.tokens[1].isSpecial = true;
        TokenView view{QString()};
        view.setTheme(Theme::light());
        view.resize(300, 1000);
        view.show();
        view.showPrompt(0, pieces.text, pieces.tokens, {});
        const auto boxes = boxesOf(view, view.spans()[1]);
        QVERIFY(boxes.size() > 2);
        QVERIFY(boxes.front().top() > boxesOf(view, view.spans()[0]).front().top()); // begins on a line of its own
        QCOMPARE(boxesOf(view, view.spans()[2]).front().top(), boxes.back().top());
    }

    // QPlainTextEdit asks for one when a text that is scrolled down is cleared.
    void aBlockThatDoesNotExistTakesNoRoom()
    {
        TokenView view{QString()};
        QCOMPARE(view.document()->documentLayout()->blockBoundingRect(QTextBlock()), QRectF());
    }

    void textThatIsNoSpecialTokenAnyMoreIsBrokenAsText()
    {
        const Pieces pieces = specialTokens();
        Pieces plain = pieces;
        for (TokenRecord &token : plain.tokens)
            token.isSpecial = false;
        PromptEdit edit, other;
        const auto breaksOf = [](PromptEdit &of, const Pieces &with) {
            of.showTokens(of.promptText(), with.text, with.tokens, {}, 0, with.text.size());
            std::vector<int> starts;
            for (const auto &line : of.linesIn(of.viewport()->rect()))
                starts.push_back(line.block.position() + line.line.textStart());
            return starts;
        };
        for (PromptEdit *each : {&edit, &other}) {
            each->setTheme(Theme::light());
            each->resize(260, 1000);
            each->show();
            each->replaceText(QString::fromStdString(pieces.text));
        }
        const std::vector<int> whole = breaksOf(edit, pieces), usual = breaksOf(other, plain);
        QVERIFY(whole != usual);
        QCOMPARE(breaksOf(edit, plain), usual);
    }

    // No slice of a line at the upper or lower edge; what is inside is painted.
    void onlyWholeLinesArePaintedWhereverItIsScrolled()
    {
        const Pieces pieces = specialTokens();
        TokenView view{QString()};
        view.setTheme(Theme::light());
        view.show();
        view.showPrompt(0, pieces.text, pieces.tokens, {});
        int cut = 0;
        const auto check = [&] {
            const QImage picture = view.viewport()->grab().toImage();
            for (const auto &line : view.linesIn(view.viewport()->rect())) {
                const double top = line.origin.y() + line.line.y(), bottom = top + line.line.height();
                const bool isWhole = top >= -1 && bottom <= view.viewport()->height() + 1;
                cut += !isWhole;
                bool hasInk = false;
                for (int y = std::max(0, static_cast<int>(top) + 2);
                     y < std::min(picture.height(), static_cast<int>(bottom) - 2); ++y)
                    for (int x = 10; x < 60; ++x)
                        hasInk = hasInk || picture.pixel(x, y) != picture.pixel(0, 0);
                if (line.line.textLength() > 2)
                    QCOMPARE(hasInk, isWhole);
            }
        };
        for (int height = 60; height < 130; height += 7) {
            view.resize(200, height);
            for (int value = 0; value <= view.verticalScrollBar()->maximum(); ++value) {
                view.verticalScrollBar()->setValue(value);
                check();
            }
            for (int token : {0, 7, 14, 22}) {
                view.scrollToToken(token);
                check();
            }
        }
        QVERIFY(cut > 20);
    }

    void aPartOfTheTextIsCopiedAsItIs()
    {
        PromptEdit edit;
        edit.replaceText(QStringLiteral("x\r\n\u00A0y"));
        QTextCursor cursor(edit.document());
        cursor.setPosition(1);
        cursor.setPosition(4, QTextCursor::KeepAnchor);
        edit.setTextCursor(cursor);
        edit.copy();
        QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("\r\n\u00A0"));
    }

    void aSignTypedAfterACarriageReturnStaysASign()
    {
        PromptEdit edit;
        edit.replaceText(QStringLiteral("a\r"));
        edit.insertPlainText(QStringLiteral("\u240D"));
        QCOMPARE(edit.promptText(), QStringLiteral("a\r\u240D"));
        QCOMPARE(edit.toPlainText(), QStringLiteral("a\u240D\u240D")); // both can be seen
    }

    void shiftEnterIsALineEnd()
    {
        PromptEdit edit;
        edit.replaceText(QStringLiteral("a"));
        QTest::keyClick(&edit, Qt::Key_Return, Qt::ShiftModifier);
        QTest::keyClicks(&edit, QStringLiteral("b"));
        QCOMPARE(edit.promptText(), QStringLiteral("a\nb"));
    }

    void answersAreShownAndCopiedUnitForUnit()
    {
        TokenView view{QString()};
        auto record = std::make_shared<RunRecord>();
        record->outputTokens = tokensOf({kHardText.toStdString(), "end"}).tokens;
        view.showAnswer(1, record);
        QCOMPARE(view.shownText(), kHardText + QStringLiteral("end"));
        view.selectAll();
        view.copy();
        QCOMPARE(QApplication::clipboard()->text(), kHardText + QStringLiteral("end"));
    }

    void boxesCoverTheirWordsInBothDirections_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::newRow("latin") << QStringList{"one", " two", " three"};
        QTest::newRow("hebrew in latin") << QStringList{"abc", " שלום", " עולם", " xyz"};
        QTest::newRow("latin in hebrew") << QStringList{"שלום", " abc", " def", " עולם"};
        QTest::newRow("arabic and digits") << QStringList{"مرحبا", " 123", " بالعالم", " ok", " 45"};
        QTest::newRow("a token across the boundary") << QStringList{"ab", "c ש", "לום", " z"};
    }

    void boxesCoverTheirWordsInBothDirections()
    {
        QFETCH(QStringList, words);
        std::vector<std::string> pieces;
        for (const QString &word : words)
            pieces.push_back(word.toStdString());
        const Pieces all = tokensOf(pieces);
        TokenSelection selection;
        TokenView view{QString()};
        view.setSelection(&selection);
        view.resize(700, 100);
        view.show();
        view.showPrompt(3, all.text, all.tokens, {});
        QCOMPARE(view.spans().size(), pieces.size());
        std::vector<std::vector<QRectF>> boxes;
        double covered = 0;
        for (const TokenSpan &span : view.spans()) {
            boxes.push_back(boxesOf(view, span));
            QVERIFY(!boxes.back().empty());
            for (const QRectF &box : boxes.back())
                covered += box.width();
        }
        // Together they are the line: nothing is covered twice, and at most spaces at a change of direction are left
        // out (whether their glyphs have an extent depends on the font).
        const double width = view.linesIn(view.viewport()->rect()).front().line.naturalTextWidth();
        const double spaces =
            static_cast<double>(words.size()) * view.fontMetrics().horizontalAdvance(QLatin1Char(' '));
        QVERIFY2(covered < width + 1 && covered > width - spaces - 1,
                 qPrintable(QStringLiteral("%1 of %2").arg(covered).arg(width)));
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            for (std::size_t k = i + 1; k < boxes.size(); ++k)
                for (const QRectF &a : boxes[i])
                    for (const QRectF &b : boxes[k])
                        QVERIFY(a.intersected(b).width() < 0.1);
            for (const QRectF &box : boxes[i]) {
                QTest::mouseMove(view.viewport(), box.center().toPoint());
                QCOMPARE(selection.hovered(), (TokenRef{3, TokenPart::Prompt, static_cast<int>(i)}));
            }
        }
    }

    void aLineEndHasItsBoxWhereReadingEnds()
    {
        TokenView view{QString()};
        view.resize(500, 100);
        view.show();
        for (const bool isHebrew : {false, true}) {
            const Pieces all = tokensOf({isHebrew ? "שלום" : "abcd", "\n", "x"});
            view.showPrompt(1, all.text, all.tokens, {});
            const auto word = boxesOf(view, view.spans()[0]), lineEnd = boxesOf(view, view.spans()[1]);
            QCOMPARE(lineEnd.size(), std::size_t(1));
            const double gap = isHebrew ? word[0].left() - lineEnd[0].right() : lineEnd[0].left() - word[0].right();
            QVERIFY2(std::abs(gap) < 0.1, qPrintable(QString::number(gap)));
        }
    }

    void paintingLooksOnlyAtVisibleLines()
    {
        Pieces all = tokensOf(std::vector<std::string>(2'500, "abc ")); // one paragraph of 10,000 characters
        PaintCounter view;
        view.resize(300, 120);
        view.show();
        view.showPrompt(1, all.text, all.tokens, {});
        view.styled = 0;
        view.grab();
        QVERIFY(view.styled > 10);
        QVERIFY2(view.styled < 250, qPrintable(QString::number(view.styled)));
        // The same in one paragraph that is not cut, as in the prompt editor.
        PromptEdit edit;
        edit.resize(300, 120);
        edit.show();
        edit.replaceText(QString::fromStdString(all.text));
        edit.moveCursor(QTextCursor::Start);
        QCOMPARE(edit.document()->blockCount(), 1);
        const auto lines = edit.linesIn(edit.viewport()->rect());
        QVERIFY(lines.size() >= 3);
        QVERIFY(lines.size() <= 12);
    }
};

QTEST_MAIN(TestTokenText)
#include "tst_token_text.moc"
