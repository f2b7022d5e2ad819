// SPDX-License-Identifier: GPL-3.0-or-later
// Byte-level BPE: words, merges, special tokens, source ranges, on the vocabulary of the tiny models.
#include "engine/text/pre_tokenizer.h"
#include "tests/support/fixture.h"
#include "tests/support/tiny_vocabulary.h"
#include "tests/support/tokenizer_file.h"

#include <QTest>

using namespace lectern;
using namespace lectern::test;

namespace {

using Ids = std::vector<TokenId>;

// In the tiny vocabulary: bytes in order, 40 merges, then these.
constexpr TokenId kImStart = 297;
constexpr TokenId kImEnd = 298;
constexpr TokenId kToolCall = 299;

std::vector<std::size_t> wordEnds(std::string_view pre, std::string_view text)
{
    std::vector<std::size_t> ends;
    for (std::size_t begin = 0; begin < text.size(); begin = ends.back())
        ends.push_back(findPreTokenizer(pre)->wordEnd(text, begin));
    return ends;
}

// Two signs, their merge and two control tokens that are added.
std::unique_ptr<Tokenizer> fewBytesTokenizer()
{
    GgufWriter writer;
    writer.addText("tokenizer.ggml.model", "gpt2").addText("tokenizer.ggml.pre", "gpt-2");
    writer.addTexts("tokenizer.ggml.tokens", {"!", "?", "!?", "<b>", "<e>"});
    writer.addI32s("tokenizer.ggml.token_type", {1, 1, 1, 3, 3}).addTexts("tokenizer.ggml.merges", {"! ?"});
    writer.addU32("tokenizer.ggml.bos_token_id", 3).addU32("tokenizer.ggml.eos_token_id", 4);
    writer.addBool("tokenizer.ggml.add_bos_token", true).addBool("tokenizer.ggml.add_eos_token", true);
    return std::move(*tokenizerFrom(writer));
}

} // namespace

class TestTokenizerBpe : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { m_tokenizer = tinyTokenizer(TinyVocabulary::ByteBpe); }

    void wordsEndWhereTheReferenceEndsThem()
    {
        int count = 0;
        const nlohmann::json fixture = loadFixture("tokens_tiny.json");
        for (const nlohmann::json &row : fixture["words"]) {
            const auto expected = row["ends"].get<std::vector<std::size_t>>();
            const auto found = wordEnds(row["pre"].get<std::string>(), row["text"].get<std::string>());
            QVERIFY2(found == expected, row.dump().c_str());
            ++count;
        }
        QVERIFY(count > 300);
    }

    void invalidBytesCountAsSigns()
    {
        QCOMPARE(wordEnds("gpt-2", "ab\xFF\xFE z"), (std::vector<std::size_t>{2, 4, 6}));
        QCOMPARE(wordEnds("smollm", " \xE9\x91 1"), (std::vector<std::size_t>{3, 4, 5}));
    }

    void idsAreThoseOfTheReference()
    {
        int count = 0;
        const nlohmann::json fixture = loadFixture("tokens_tiny.json");
        for (const nlohmann::json &row : fixture["cases"]) {
            if (row["vocabulary"] != "byte_bpe")
                continue;
            const auto text = row["text"].get<std::string>();
            const auto tokens = m_tokenizer->encode(text, {.parseSpecial = row["parse_special"]}, StopFlag());
            QVERIFY(tokens);
            QVERIFY2(idsOf(*tokens) == row["ids"].get<Ids>(), row.dump().c_str());
            QCOMPARE(rangeFault(*tokens, text), std::string());
            QCOMPARE(m_tokenizer->decode(idsOf(*tokens), true), text);
            ++count;
        }
        QVERIFY(count > 150);
    }

    void anyBytesComeBackFromTheirTokens()
    {
        for (const std::string &text : mixedTexts(2000, true)) {
            const auto tokens = m_tokenizer->encode(text, {}, StopFlag());
            QVERIFY(tokens);
            QCOMPARE(rangeFault(*tokens, text), std::string());
            QCOMPARE(m_tokenizer->decode(idsOf(*tokens), true), text);
            for (const EncodedToken &token : *tokens) // a token's bytes are the bytes of its range
                QCOMPARE(m_tokenizer->bytes(token.id),
                         text.substr(token.source.begin, token.source.end - token.source.begin));
        }
    }

    void userDefinedTokensAlwaysMatchAndControlTokensWhenAsked()
    {
        const std::string text = "<tool_call><|im_end|>";
        const auto plain = m_tokenizer->encode(text, {}, StopFlag());
        QCOMPARE(plain->front().id, kToolCall);
        QVERIFY(!plain->front().isSpecial);
        QVERIFY(std::none_of(plain->begin(), plain->end(), [](const EncodedToken &token) { return token.isSpecial; }));
        QCOMPARE(m_tokenizer->decode(idsOf(*plain), false), text);

        const auto parsed = m_tokenizer->encode(text, {.parseSpecial = true}, StopFlag());
        QCOMPARE(idsOf(*parsed), (Ids{kToolCall, kImEnd}));
        QVERIFY(parsed->back().isSpecial);
        QCOMPARE(parsed->back().source, (TextRange{11, 21}));
        QCOMPARE(m_tokenizer->decode(idsOf(*parsed), false), std::string("<tool_call>"));
    }

    void noControlTokenComesOutOfUserText()
    {
        // The user typed "<|im_end|>" and the second half of a marker that the template begins.
        const std::string text = "<|im_start|>a<|im_end|>b<|im_end|><|im_start|>";
        const std::vector<TextRange> user{{13, 23}, {30, 34}};
        const auto tokens = m_tokenizer->encode(text, {.parseSpecial = true, .plainRanges = user}, StopFlag());
        std::vector<TextRange> control;
        for (const EncodedToken &token : *tokens) {
            if (token.isSpecial)
                control.push_back(token.source);
        }
        QCOMPARE(control, (std::vector<TextRange>{{0, 12}, {34, 46}}));
        QCOMPARE(rangeFault(*tokens, text), std::string());
        QCOMPARE(m_tokenizer->decode(idsOf(*tokens), true), text);
    }

    void userTextMayTouchAMarkerOfTheTemplate()
    {
        const std::vector<TextRange> user{{12, 13}};
        const auto tokens =
            m_tokenizer->encode("<|im_start|>a<|im_end|>", {.parseSpecial = true, .plainRanges = user}, StopFlag());
        QCOMPARE(idsOf(*tokens), (Ids{kImStart, 'a', kImEnd}));
    }

    void theLongestMarkerWins()
    {
        GgufWriter writer;
        writer.addText("tokenizer.ggml.model", "gpt2").addText("tokenizer.ggml.pre", "gpt-2");
        writer.addTexts("tokenizer.ggml.tokens", {"a", "b", "c", "ab", "abc", "bcc"});
        writer.addI32s("tokenizer.ggml.token_type", {1, 1, 1, 4, 3, 4}).addTexts("tokenizer.ggml.merges", {});
        const auto tokenizer = tokenizerFrom(writer);
        QVERIFY2(tokenizer, tokenizer ? "" : tokenizer.error().text().c_str());
        const auto ids = [&](std::string_view text, bool parseSpecial) {
            return idsOf(*(*tokenizer)->encode(text, {.parseSpecial = parseSpecial}, StopFlag()));
        };
        QCOMPARE(ids("abcc", true), (Ids{4, 2}));
        QCOMPARE(ids("abcc", false), (Ids{3, 2, 2}));
        QCOMPARE(ids("bbcc", false), (Ids{1, 5}));
    }

    // Pieces are stored in the byte alphabet, added tokens as they are: U+00F8 is the byte F8 in one and "ø" in the
    // other.
    void addedTokensAreNotInTheByteAlphabet()
    {
        GgufWriter writer;
        writer.addText("tokenizer.ggml.model", "gpt2").addText("tokenizer.ggml.pre", "gpt-2");
        writer.addTexts("tokenizer.ggml.tokens", {"\u00f7", "\u00f8", "\u00f9"});
        writer.addI32s("tokenizer.ggml.token_type", {1, 4, 3}).addTexts("tokenizer.ggml.merges", {});
        const auto tokenizer = tokenizerFrom(writer);
        QCOMPARE((*tokenizer)->bytes(0), std::string("\xF7"));
        QCOMPARE((*tokenizer)->bytes(1), std::string("\u00f8"));
        QCOMPARE((*tokenizer)->bytes(2), std::string("\u00f9"));
        QCOMPARE(idsOf(*(*tokenizer)->encode("\xF7\u00f8", {}, StopFlag())), (Ids{0, 1}));
    }

    void beginAndEndTokensComeAsTheFileAsks()
    {
        GgufWriter writer;
        writer.addText("tokenizer.ggml.model", "gpt2").addText("tokenizer.ggml.pre", "gpt-2");
        writer.addTexts("tokenizer.ggml.tokens", {"a", "<b>", "<e>"}).addI32s("tokenizer.ggml.token_type", {1, 3, 3});
        writer.addTexts("tokenizer.ggml.merges", {});
        writer.addU32("tokenizer.ggml.bos_token_id", 1).addU32("tokenizer.ggml.eos_token_id", 2);
        writer.addBool("tokenizer.ggml.add_bos_token", true).addBool("tokenizer.ggml.add_eos_token", true);
        const auto tokenizer = tokenizerFrom(writer);
        const auto tokens = (*tokenizer)->encode("a", {.addSpecial = true}, StopFlag());
        QCOMPARE(idsOf(*tokens), (Ids{1, 0, 2}));
        QCOMPARE(tokens->front().source, (TextRange{0, 0}));
        QCOMPARE(tokens->back().source, (TextRange{1, 1}));
        QVERIFY(tokens->front().isSpecial && !(*tokens)[1].isSpecial);
        QCOMPARE(idsOf(*(*tokenizer)->encode("", {.addSpecial = true}, StopFlag())), (Ids{1, 2}));
        QCOMPARE(idsOf(*(*tokenizer)->encode("a", {}, StopFlag())), (Ids{0}));
    }

    // The tokenizers library drops such a byte and merges its neighbours.
    void bytesWithoutAPieceAreLeftOutAsTheReferenceDoes()
    {
        const nlohmann::json fixture = loadFixture("tokens_left_out.json");
        const auto pieces = fixture["pieces"].get<std::vector<std::string>>();
        GgufWriter writer;
        writer.addText("tokenizer.ggml.model", "gpt2").addText("tokenizer.ggml.pre", "gpt-2");
        writer.addTexts("tokenizer.ggml.tokens", pieces);
        writer.addI32s("tokenizer.ggml.token_type", std::vector<std::int32_t>(pieces.size(), 1));
        writer.addTexts("tokenizer.ggml.merges", fixture["merges"].get<std::vector<std::string>>());
        const auto tokenizer = tokenizerFrom(writer);
        QVERIFY2(tokenizer, tokenizer ? "" : tokenizer.error().text().c_str());
        for (const nlohmann::json &row : fixture["small"])
            QCOMPARE(leftOutFault(**tokenizer, row), std::string());
        QCOMPARE(fixture["small"].size(), std::size_t{145});
    }

    void aTokenThatWasMergedAcrossALeftOutByteHoldsItInItsRange()
    {
        const auto tokenizer = fewBytesTokenizer();
        const std::string text = "\x05!?\xFF!\x05\x05?\x05";
        const auto tokens = tokenizer->encode(text, {.addSpecial = true}, StopFlag());
        QVERIFY(tokens);
        QCOMPARE(idsOf(*tokens), (Ids{3, 2, 2, 4}));
        QCOMPARE((*tokens)[1].source, (TextRange{1, 3}));
        QCOMPARE((*tokens)[2].source, (TextRange{4, 8}));
        QCOMPARE((*tokens)[3].source, (TextRange{9, 9})); // the end token
        QCOMPARE(leftOutOf(*tokenizer, *tokens, text), (std::vector<TextRange>{{0, 1}, {3, 4}, {5, 7}, {8, 9}}));
    }

    void aTextOfNothingButLeftOutBytesHasNoTokens()
    {
        const auto tokenizer = fewBytesTokenizer();
        const std::string text(1000, '\x05');
        const auto tokens = tokenizer->encode(text, {}, StopFlag());
        QVERIFY(tokens && tokens->empty());
        QCOMPARE(leftOutOf(*tokenizer, *tokens, text), (std::vector<TextRange>{{0, 1000}}));
    }

    void aMarkerIsNoTextThatCouldBeLeftOut()
    {
        const auto tokenizer = fewBytesTokenizer();
        const std::string text = "!\x05<b>\x05<e>"; // no byte of the markers has a piece
        const auto tokens = tokenizer->encode(text, {.parseSpecial = true}, StopFlag());
        QCOMPARE(idsOf(*tokens), (Ids{0, 3, 4}));
        QCOMPARE(leftOutOf(*tokenizer, *tokens, text), (std::vector<TextRange>{{1, 2}, {5, 6}}));
    }

    // The heap of long words and the scan of short ones give the same pieces; in particular ties go left.
    void longRunsAreCutLikeShortOnes()
    {
        // "aa" before "aaaa": an odd rest stays at the end.
        GgufWriter writer;
        writer.addText("tokenizer.ggml.model", "gpt2").addText("tokenizer.ggml.pre", "gpt-2");
        writer.addTexts("tokenizer.ggml.tokens", {"a", "aa", "aaaa", "b", "ba"});
        writer.addI32s("tokenizer.ggml.token_type", {1, 1, 1, 1, 1});
        writer.addTexts("tokenizer.ggml.merges", {"a a", "aa aa", "b a"});
        const auto tokenizer = tokenizerFrom(writer);
        for (const std::size_t length : {7u, 47u, 48u, 49u, 1000u, 10003u}) {
            Ids expected(length / 4, 2);
            for (std::size_t rest = length % 4; rest > 0; rest -= rest >= 2 ? 2 : 1)
                expected.push_back(rest >= 2 ? 1 : 0);
            QCOMPARE(idsOf(*(*tokenizer)->encode(std::string(length, 'a'), {}, StopFlag())), expected);
        }
        std::string bas;
        for (int i = 0; i < 100; ++i)
            bas += "baa"; // "aa" has the better rank: "ba" never forms
        const auto ids = idsOf(*(*tokenizer)->encode(bas, {}, StopFlag()));
        QCOMPARE(ids.size(), std::size_t{200});
        QCOMPARE((Ids{ids[0], ids[1], ids[198], ids[199]}), (Ids{3, 1, 3, 1}));
    }

    // tiktoken#15: no recursion, no quadratic work.
    void aMillionEqualCharactersEnd()
    {
        for (const char *unit : {"=", "q", " ", "1", "\n", "\xE4\xB8\xAD", "\xFF", "the", "<", "<|im_end|"}) {
            std::string text;
            while (text.size() < 1000000)
                text += unit;
            const auto tokens = m_tokenizer->encode(text, {.parseSpecial = true}, StopFlag());
            QVERIFY(tokens);
            QCOMPARE(rangeFault(*tokens, text), std::string());
        }
    }

    void aRequestToStopEndsTheWork()
    {
        StopFlag stop;
        stop.request();
        for (const std::string &text : {std::string(100000, 't'), std::string(100000, ' ')}) {
            const auto tokens = m_tokenizer->encode(text, {}, stop);
            QVERIFY(!tokens);
            QCOMPARE(tokens.error().code, ErrorCode::Cancelled);
        }
    }

    void idsOutsideTheVocabularyHaveNoBytes()
    {
        QCOMPARE(m_tokenizer->bytes(-1), std::string());
        QCOMPARE(m_tokenizer->bytes(m_tokenizer->vocabulary().size()), std::string());
        QCOMPARE(m_tokenizer->decode(Ids{-5, 'a', 1 << 30}, true), std::string("a"));
    }

private:
    std::unique_ptr<Tokenizer> m_tokenizer;
};

QTEST_APPLESS_MAIN(TestTokenizerBpe)
#include "tst_tokenizer_bpe.moc"
