// SPDX-License-Identifier: GPL-3.0-or-later
// Stop strings in a stream of pieces.
#include "engine/text/stop_matcher.h"

#include <QTest>

using namespace lectern;

namespace {

// The text shown after each piece.
std::vector<std::string> shownBy(StopMatcher &matcher, const std::vector<std::string> &pieces)
{
    std::vector<std::string> shown;
    for (const std::string &piece : pieces)
        shown.push_back(matcher.push(piece));
    return shown;
}

using Texts = std::vector<std::string>;

} // namespace

class TestStopMatcher : public QObject
{
    Q_OBJECT

private slots:
    // vllm#3574
    void noPartOfAStopStringIsShown()
    {
        StopMatcher matcher({"green blue"});
        QCOMPARE(shownBy(matcher, {"red ", "gre", "en bl", "ue!"}), (Texts{"red ", "", "", ""}));
        QVERIFY(matcher.matched());
        QCOMPARE(matcher.matchedStop(), std::string("green blue"));
        QCOMPARE(matcher.push("more"), std::string());
        QCOMPARE(matcher.finish(), std::string());
    }

    void whatCannotBecomeAStopStringIsReleased()
    {
        StopMatcher matcher({"green blue"});
        QCOMPARE(shownBy(matcher, {"red ", "gre", "en bl", "ack"}), (Texts{"red ", "", "", "green black"}));
        QVERIFY(!matcher.matched());
        QCOMPARE(matcher.matchedStop(), std::string());
    }

    // koboldcpp#1031
    void heldTextIsReleasedAtTheEnd()
    {
        StopMatcher matcher({"zebra"});
        QCOMPARE(shownBy(matcher, {"ma", "ze"}), (Texts{"ma", ""}));
        QCOMPARE(matcher.finish(), std::string("ze"));
        QCOMPARE(matcher.finish(), std::string());
    }

    void aPartThatFailsMayStartAnother()
    {
        StopMatcher matcher({"aab"});
        QCOMPARE(shownBy(matcher, {"a", "a", "a", "b", "c"}), (Texts{"", "", "a", "", ""}));
        QVERIFY(matcher.matched());
    }

    void onlyTheLongestOpenEndIsHeld()
    {
        StopMatcher matcher({"xyxz", "END"});
        QCOMPARE(shownBy(matcher, {"xyxy", "xE"}), (Texts{"xy", "xyx"}));
        QCOMPARE(matcher.finish(), std::string("E"));
    }

    void theStopStringThatIsCompletedFirstEndsTheText()
    {
        StopMatcher matcher({"abcdef", "cd", "bcd"});
        QCOMPARE(matcher.push("xabcdefg"), std::string("xa"));
        QCOMPARE(matcher.matchedStop(), std::string("bcd"));
    }

    void aStopStringInsideOnePieceIsFound()
    {
        StopMatcher matcher({"\n\n"});
        QCOMPARE(matcher.push("one\n\ntwo\n\nthree"), std::string("one"));
        QVERIFY(matcher.matched());
    }

    void partsOfCharactersMatchAsBytes()
    {
        StopMatcher matcher({"\xE9\x91\xAB"});
        QCOMPARE(shownBy(matcher, {"a\xE9\x91", "\xAC", "\xE9", "\x91\xAB"}), (Texts{"a", "\xE9\x91\xAC", "", ""}));
        QVERIFY(matcher.matched());
    }

    void emptyStopStringsMeanNothing()
    {
        StopMatcher matcher({"", ""});
        QCOMPARE(matcher.push("text"), std::string("text"));
        QVERIFY(!matcher.matched());
    }
};

QTEST_APPLESS_MAIN(TestStopMatcher)
#include "tst_stop_matcher.moc"
