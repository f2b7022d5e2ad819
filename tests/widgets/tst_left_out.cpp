// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes of a prompt that no token stands for: where they are marked, what is said of them.
#include "engine/trace/prompt_tokens.h"
#include "widgets/prompt_edit.h"
#include "widgets/prompt_pane.h"
#include "widgets/token_view.h"

#include <QHelpEvent>
#include <QLabel>
#include <QPushButton>
#include <QToolTip>
#include <QtTest>

using namespace lectern;

namespace {

TokenRecord token(const std::string &bytes, std::size_t begin, std::size_t end, bool isSpecial = false)
{
    TokenRecord record;
    record.bytes = bytes;
    record.begin = begin;
    record.end = end;
    record.isSpecial = isSpecial;
    return record;
}

// "a␄b!␆!": a byte between two tokens and one that a token was merged across.
const std::string kText = "a\x04"
                          "b!\x06!";
const std::vector<TokenRecord> kTokens{token("a", 0, 1), token("b", 2, 3), token("!!", 3, 6)};
const std::vector<TextRange> kLeftOut{{1, 2}, {4, 5}};

PromptTokensPtr leftOutPrompt()
{
    auto tokens = std::make_shared<PromptTokens>();
    tokens->userText = QString::fromStdString(kText);
    tokens->prepared.text = kText;
    tokens->prepared.tokens = kTokens;
    tokens->prepared.leftOut = kLeftOut;
    return tokens;
}

std::vector<std::array<int, 2>> placesOf(const std::vector<LeftOutSpan> &spans)
{
    std::vector<std::array<int, 2>> places;
    for (const LeftOutSpan &span : spans)
        places.push_back({span.begin, span.end});
    return places;
}
using Places = std::vector<std::array<int, 2>>;

QRect boxOf(const TokenTextEdit &edit, const LeftOutSpan &span)
{
    for (const auto &line : edit.linesIn(edit.viewport()->rect()))
        for (const QRectF &box : edit.boxesOf(span.begin, span.end, line))
            return box.toRect();
    return {};
}

bool hasColor(const QImage &image, const QColor &color)
{
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            if (image.pixelColor(x, y).rgb() == color.rgb())
                return true;
    return false;
}

} // namespace

class TestLeftOut : public QObject
{
    Q_OBJECT

private slots:
    void eachPartHasItsCharactersAndBytes()
    {
        const std::string text = "\xC3\xA9\x04\x06z\x04\xF1\x80\x80\x80y";
        const auto spans = leftOutSpans(text, {{2, 4}, {5, 7}}, 0, text.size());
        QCOMPARE(placesOf(spans), (Places{{1, 3}, {4, 7}})); // the last character takes two units
        QCOMPARE(spans[0].bytes, std::string("\x04\x06"));
        QCOMPARE(spans[1].bytes, std::string("\x04\xF1"));
    }

    void partsOfOneCharacterAreMarkedOnce()
    {
        const std::string text = "\xF1\x80\x80\x80\xF1\x80\x80\x80";
        const auto spans = leftOutSpans(text, {{0, 1}, {3, 4}, {4, 5}}, 0, text.size());
        QCOMPARE(placesOf(spans), (Places{{0, 2}, {2, 4}}));
        QCOMPARE(spans[0].bytes, std::string("\xF1\x80"));
        QCOMPARE(spans[1].bytes, std::string("\xF1"));
    }

    void aPartOfATextHasPositionsOfItsOwn()
    {
        const auto spans = leftOutSpans("\x04<u>\x04hi\x04<e>\x04", {{0, 1}, {4, 5}, {7, 8}, {11, 12}}, 4, 8);
        QCOMPARE(placesOf(spans), (Places{{0, 1}, {3, 4}}));
        QCOMPARE(placesOf(leftOutSpans("\x04\x04\x04", {{0, 3}}, 1, 2)), (Places{{0, 1}}));
    }

    // SmolLM2 lacks the first byte of U+40000; another vocabulary may lack the last one.
    void tokensOfAnIncompleteCharacterCoverIt()
    {
        const std::string text = "x\xF1\x80\x80\x80y";
        for (const std::size_t missing : {1u, 2u, 4u}) {
            std::vector<TokenRecord> tokens;
            for (std::size_t i = 0; i < text.size(); ++i)
                if (i != missing)
                    tokens.push_back(token(text.substr(i, 1), i, i + 1));
            const auto spans = spansOfText(text, tokens, 0, text.size()).spans;
            QCOMPARE(spans.size(), std::size_t{3});
            QCOMPARE(spans[1].begin, 1);
            QCOMPARE(spans[1].end, 3);
            QCOMPARE(spans[1].firstToken, 1);
            QCOMPARE(spans[1].lastToken, 3);
            QCOMPARE(spans[2].begin, 3);
        }
    }

    void marksMoveWithTheTextUntilNewTokensArrive()
    {
        PromptEdit edit;
        const QString text = QString::fromStdString(kText);
        edit.replaceText(text);
        edit.showTokens(text, kText, kTokens, kLeftOut, 0, kText.size());
        QCOMPARE(placesOf(edit.leftOut()), (Places{{1, 2}, {4, 5}}));
        edit.moveCursor(QTextCursor::Start);
        QTest::keyClicks(&edit, QStringLiteral("xy"));
        QCOMPARE(placesOf(edit.leftOut()), (Places{{3, 4}, {6, 7}}));
        QTextCursor cursor(edit.document());
        cursor.setPosition(6);
        cursor.deleteChar();
        QCOMPARE(placesOf(edit.leftOut()), (Places{{3, 4}}));
    }

    // Tokens that were added stand in the view's text too.
    void marksStandBehindTheTokensThatWereAdded()
    {
        std::vector<TokenRecord> tokens = kTokens;
        tokens.insert(tokens.begin(), token("<s>", 0, 0, true));
        tokens.push_back(token("</s>", 6, 6, true));
        TokenView view{QString()};
        view.showPrompt(0, "\x04" + kText, tokens, {{0, 1}});
        QCOMPARE(view.shownText().left(4), QStringLiteral("<s>\x04"));
        QCOMPARE(placesOf(view.leftOut()), (Places{{3, 4}}));
        view.clearTokens();
        QVERIFY(view.leftOut().empty());
    }

    void marksOfALongTextStayAtTheirCharacters()
    {
        std::string text;
        std::vector<TokenRecord> tokens;
        for (int i = 0; i < 1500; ++i) {
            tokens.push_back(token("abc", text.size(), text.size() + 3));
            text += i % 7 == 0 ? "abc\x04" : "abc";
        }
        TokenView view{QString()};
        view.resize(300, 120);
        view.show();
        view.showPrompt(0, text, tokens, leftOutRanges(text, tokens, "gpt2"));
        QCOMPARE(view.leftOut().size(), std::size_t{215});
        QVERIFY(view.document()->blockCount() > 1); // long paragraphs are cut
        for (const LeftOutSpan &span : view.leftOut()) {
            QCOMPARE(span.end, span.begin + 1);
            QCOMPARE(view.document()->characterAt(span.begin), QChar(0x2404));
        }
    }

    void whatIsLeftOutIsStruckOut_data()
    {
        QTest::addColumn<bool>("isDark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }

    void whatIsLeftOutIsStruckOut()
    {
        QFETCH(bool, isDark);
        const Theme theme = isDark ? Theme::dark() : Theme::light();
        TokenView view{QString()};
        view.setTheme(theme);
        view.resize(300, 100);
        view.show();
        view.showPrompt(0, kText, kTokens, {});
        QVERIFY(!hasColor(view.viewport()->grab().toImage(), theme.warning));
        view.showPrompt(0, kText, kTokens, kLeftOut);
        const QImage image = view.viewport()->grab().toImage();
        for (const LeftOutSpan &span : view.leftOut()) {
            const QRect box = boxOf(view, span);
            const QImage line = image.copy(box.left(), box.center().y() - 2, box.width(), 4);
            int struck = 0; // columns
            for (int x = 0; x < line.width(); ++x)
                struck += hasColor(line.copy(x, 0, 1, line.height()), theme.warning);
            QVERIFY2(struck >= box.width() - 2, qPrintable(QString::number(struck)));
        }
    }

    void theTooltipNamesTheBytesAndTheTokenAcrossThem()
    {
        TokenView view{QString()};
        view.resize(300, 100);
        view.show();
        view.showPrompt(0, kText, kTokens, kLeftOut);
        const auto toolTipAt = [&](const QPoint &at) {
            QHelpEvent event(QEvent::ToolTip, at, view.viewport()->mapToGlobal(at));
            QApplication::sendEvent(view.viewport(), &event);
            return QToolTip::text();
        };
        const QString alone = toolTipAt(boxOf(view, view.leftOut()[0]).center());
        QVERIFY2(alone.contains(QStringLiteral("0x04")) && !alone.contains(QStringLiteral("<table>")),
                 qPrintable(alone));
        const QString across = toolTipAt(boxOf(view, view.leftOut()[1]).center());
        QVERIFY2(across.contains(QStringLiteral("0x06")) && across.contains(QStringLiteral("21 21")),
                 qPrintable(across));
        QTRY_VERIFY(toolTipAt({290, 90}).isEmpty()); // it leaves after a moment
    }

    void thePaneMarksThemSaysThemAndCountsTheTokens()
    {
        PromptPane pane;
        pane.setModelAvailable(true);
        pane.setMode(PromptMode::Raw);
        pane.setPromptText(QString::fromStdString(kText));
        pane.showTokens(leftOutPrompt());
        QCOMPARE(placesOf(pane.editor()->leftOut()), (Places{{1, 2}, {4, 5}}));
        QCOMPARE(placesOf(sent(pane)->leftOut()), (Places{{1, 2}, {4, 5}}));
        const QString note = label(pane, "promptNote")->text();
        QVERIFY2(note.startsWith(QLatin1Char('2')) && note.endsWith(QStringLiteral(": 0x04, 0x06")), qPrintable(note));
        QVERIFY(label(pane, "promptCounts")->text().contains(QStringLiteral("3 token")));
    }

    void everythingThatIsOddIsSaid()
    {
        PromptPane pane;
        pane.setModelAvailable(true);
        pane.setMode(PromptMode::Raw);
        pane.setPromptText(QString::fromStdString(kText));
        auto tokens = std::make_shared<PromptTokens>(*leftOutPrompt());
        tokens->prepared.secondBegin = TextRange{0, 1};
        tokens->replacedCount = 1;
        pane.showTokens(tokens);
        const QStringList lines = label(pane, "promptNote")->text().split(QLatin1Char('\n'));
        QCOMPARE(lines.size(), 3);
        QVERIFY(lines[0].contains(QStringLiteral("two begin tokens")));
        QVERIFY(lines[1].contains(QStringLiteral("0x04")));
        QVERIFY(lines[2].contains(QStringLiteral("replaced")));
        QVERIFY(!pane.findChild<QPushButton *>(QStringLiteral("removeSecondBegin"))->isHidden());
    }

    void theRecordOfARunShowsTheSameMarks()
    {
        auto record = std::make_shared<RunRecord>();
        record->model.tokenizer = "gpt2 / smollm";
        record->promptText = kText;
        record->promptTokens = kTokens;
        PromptPane pane;
        pane.showRunPrompt(1, QStringLiteral("run"), record);
        QCOMPARE(placesOf(sent(pane)->leftOut()), (Places{{1, 2}, {4, 5}}));
        const QString caption = label(pane, "sentCaption")->text();
        QVERIFY2(caption.endsWith(QStringLiteral(": 0x04, 0x06")), qPrintable(caption));
    }

    void thePromptOfARunIsTheEditedOneOnlyByteForByte()
    {
        PromptPane pane;
        pane.setModelAvailable(true);
        pane.setMode(PromptMode::Raw);
        pane.setPromptText(QString::fromStdString(kText));
        pane.showTokens(leftOutPrompt());
        RunRecord record;
        record.promptText = kText;
        record.promptTokens = kTokens;
        QVERIFY(pane.isPromptOf(record));
        record.promptText = "ab!!"; // the same tokens, but nothing left out
        QVERIFY(!pane.isPromptOf(record));
    }

private:
    static TokenView *sent(const PromptPane &pane) { return pane.findChild<TokenView *>(QStringLiteral("sentTokens")); }
    static QLabel *label(const PromptPane &pane, const char *name)
    {
        return pane.findChild<QLabel *>(QLatin1String(name));
    }
};

QTEST_MAIN(TestLeftOut)
#include "tst_left_out.moc"
