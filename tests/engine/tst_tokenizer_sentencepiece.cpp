// SPDX-License-Identifier: GPL-3.0-or-later
// SentencePiece: space prefix, byte fallback, source ranges, odd vocabularies, .model files.
#include "engine/text/sentencepiece_import.h"
#include "tests/support/fixture.h"
#include "tests/support/tokenizer_file.h"

#include <QTest>

using namespace lectern;
using namespace lectern::test;

namespace {

using Ids = std::vector<TokenId>;
using Ranges = std::vector<TextRange>;

constexpr TokenId kFirstByte = 3; // in the tiny vocabulary, after <unk>, <s>, </s>
const std::string kMark = "\xE2\x96\x81";

Ranges rangesOf(const std::vector<EncodedToken> &tokens)
{
    Ranges ranges;
    for (const EncodedToken &token : tokens)
        ranges.push_back(token.source);
    return ranges;
}

GgufWriter vocabulary(const std::vector<std::string> &pieces, const std::vector<std::int32_t> &kinds)
{
    std::vector<float> scores;
    for (std::size_t i = 0; i < pieces.size(); ++i)
        scores.push_back(-static_cast<float>(i));
    GgufWriter writer;
    writer.addText("tokenizer.ggml.model", "llama").addTexts("tokenizer.ggml.tokens", pieces);
    writer.addI32s("tokenizer.ggml.token_type", kinds).addFloats("tokenizer.ggml.scores", scores);
    return writer;
}

SentencePieceModel smallModel()
{
    SentencePieceModel model;
    model.pieces = {{"<unk>", 0, TokenKind::Unknown},     {"<s>", 0, TokenKind::Control},
                    {"</s>", 0, TokenKind::Control},      {"<sep>", 0, TokenKind::UserDefined},
                    {kMark + "a", -1, TokenKind::Normal}, {kMark, -2, TokenKind::Normal},
                    {"a", -3, TokenKind::Normal},         {"b", -4, TokenKind::Normal}};
    model.removesExtraSpaces = false;
    return model;
}

std::string littleEndian(std::uint32_t value)
{
    return u32Bytes(value);
}

// Compiled normalisation rules with the one rule "A becomes a": size of the trie, one block of 256 units, texts. A unit
// holds offset << 10, "has a value" in bit 8 and its byte; a value has bit 31.
std::string ruleUpperAToLowerA(std::uint32_t rootOffset, std::uint32_t value)
{
    std::vector<std::uint32_t> units(256, 0);
    units[0] = rootOffset << 10;
    units[0x80 ^ 'A'] = 1u << 10 | 1u << 8 | 'A';
    units[0x80 ^ 'A' ^ 1] = 1u << 31 | value;
    std::string rules = littleEndian(1024);
    for (const std::uint32_t unit : units)
        rules += littleEndian(unit);
    return rules + std::string("a\0", 2);
}

} // namespace

class TestTokenizerSentencePiece : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { m_tokenizer = tinyTokenizer(TinyVocabulary::SentencePiece); }

    void idsAreThoseOfTheReference()
    {
        const nlohmann::json fixture = loadFixture("tokens_tiny.json");
        int count = 0;
        for (const nlohmann::json &row : fixture["cases"]) {
            if (row["vocabulary"] != "sentencepiece")
                continue;
            const auto text = row["text"].get<std::string>();
            const auto tokens = m_tokenizer->encode(text, {.parseSpecial = row["parse_special"]}, StopFlag());
            QVERIFY(tokens);
            QVERIFY2(idsOf(*tokens) == row["ids"].get<Ids>(), row.dump().c_str());
            QCOMPARE(rangeFault(*tokens, text), std::string());
            ++count;
        }
        QVERIFY(count > 150);
    }

    void textComesBackFromItsTokens()
    {
        QVERIFY(m_tokenizer->stripsFirstSpace());
        for (const std::string &text : mixedTexts(2000, false)) {
            const auto tokens = m_tokenizer->encode(text, {.addSpecial = true}, StopFlag());
            QVERIFY(tokens);
            QCOMPARE(rangeFault(*tokens, text), std::string());
            QCOMPARE(m_tokenizer->decode(idsOf(*tokens), false), text);
        }
    }

    void everyByteOfACharacterWithoutAPieceIsItsOwnToken()
    {
        const std::string text = "a\xEE\x82\xB0 \xE9\x91\xAB"; // U+E0B0 and U+946B
        const auto tokens = m_tokenizer->encode(text, {}, StopFlag());
        QVERIFY(tokens);
        const Ids ids = idsOf(*tokens);
        QCOMPARE((Ids(ids.end() - 7, ids.end() - 4)), (Ids{kFirstByte + 0xEE, kFirstByte + 0x82, kFirstByte + 0xB0}));
        QCOMPARE((Ids(ids.end() - 3, ids.end())), (Ids{kFirstByte + 0xE9, kFirstByte + 0x91, kFirstByte + 0xAB}));
        QCOMPARE(rangesOf(*tokens), (Ranges{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}}));
        QCOMPARE(m_tokenizer->bytes(kFirstByte + 0xEE), std::string("\xEE"));
    }

    void bytePiecesTypedAsTextStayText()
    {
        const auto tokens = m_tokenizer->encode("<0x0A>", {.parseSpecial = true}, StopFlag());
        QCOMPARE(m_tokenizer->decode(idsOf(*tokens), false), std::string("<0x0A>"));
        for (const EncodedToken &token : *tokens)
            QVERIFY(m_tokenizer->vocabulary().kind(token.id) == TokenKind::Normal);
    }

    void theAddedSpaceStandsForNoText()
    {
        const auto tokens = m_tokenizer->encode(" x", {.addSpecial = true}, StopFlag());
        QCOMPARE(rangesOf(*tokens), (Ranges{{0, 0}, {0, 0}, {0, 1}, {1, 2}}));
        QCOMPARE(m_tokenizer->bytes((*tokens)[1].id), std::string(" "));
        QCOMPARE(m_tokenizer->decode(idsOf(*tokens), false), std::string(" x"));
        QCOMPARE(m_tokenizer->decode(idsOf(*tokens), true), std::string("<s> x"));
    }

    void emptyTextHasOnlyTheBeginToken()
    {
        QCOMPARE(idsOf(*m_tokenizer->encode("", {.addSpecial = true}, StopFlag())), (Ids{1}));
        QCOMPARE(idsOf(*m_tokenizer->encode("", {}, StopFlag())), Ids());
        QCOMPARE(m_tokenizer->decode(Ids(), true), std::string());
    }

    void noControlTokenComesOutOfUserText()
    {
        const std::string text = "<s></s>a";
        const Ranges user{{3, 8}};
        const auto tokens = m_tokenizer->encode(text, {.parseSpecial = true, .plainRanges = user}, StopFlag());
        QCOMPARE(tokens->front().id, 1);
        QCOMPARE(
            std::count_if(tokens->begin(), tokens->end(), [](const EncodedToken &token) { return token.isSpecial; }),
            1);
        QCOMPARE(rangeFault(*tokens, text), std::string());
    }

    void invalidTextIsRefusedWithItsOffset()
    {
        for (const char *bytes : {"ab\xE9\x91", "ab\xFF\xFE", "ab\xC0\x80", "ab\xED\xA0\x80"}) {
            const auto tokens = m_tokenizer->encode(bytes, {}, StopFlag());
            QVERIFY(!tokens);
            QCOMPARE(tokens.error().code, ErrorCode::InvalidInput);
            QCOMPARE(tokens.error().where, std::string("text, byte offset 2"));
        }
        QVERIFY(m_tokenizer->encode(std::string("a\0b", 3), {}, StopFlag()));
    }

    void aRequestToStopEndsTheWork()
    {
        StopFlag stop;
        stop.request();
        const auto tokens = m_tokenizer->encode("text", {}, stop);
        QVERIFY(!tokens);
        QCOMPARE(tokens.error().code, ErrorCode::Cancelled);
    }

    void longRunsEnd()
    {
        for (const char *unit : {"=", " ", "\xEE\x82\xB0"}) {
            std::string text;
            while (text.size() < 300000)
                text += unit;
            const auto tokens = m_tokenizer->encode(text, {}, StopFlag());
            QVERIFY(tokens);
            QCOMPARE(rangeFault(*tokens, text), std::string());
        }
    }

    void withoutASpacePrefixTextStartsAsItIs()
    {
        GgufWriter writer = vocabulary({"<unk>", kMark, "a", kMark + "a"}, {2, 1, 1, 1});
        writer.addBool("tokenizer.ggml.add_space_prefix", false);
        const auto tokenizer = tokenizerFrom(writer);
        QVERIFY(!(*tokenizer)->stripsFirstSpace());
        QCOMPARE(idsOf(*(*tokenizer)->encode("a a", {}, StopFlag())), (Ids{2, 3}));
        QCOMPARE((*tokenizer)->decode(Ids{3, 2}, false), std::string(" aa"));
    }

    void aMissingUnknownPieceDoesNotShiftTheIds()
    {
        const auto tokenizer = tokenizerFrom(vocabulary({"a", "b", kMark}, {1, 1, 1}));
        QVERIFY(tokenizer);
        QCOMPARE(idsOf(*(*tokenizer)->encode("ab", {}, StopFlag())), (Ids{2, 0, 1}));
    }

    void withoutAnUnknownTokenAnUnknownCharacterIsLeftOut()
    {
        const auto tokenizer = tokenizerFrom(vocabulary({"a", "b", kMark}, {1, 1, 1}));
        const std::string text = "\xC3\xA9"
                                 "a\xC3\xA9\xE2\x82\xAC b\xC3\xA9";
        const auto tokens = (*tokenizer)->encode(text, {}, StopFlag());
        QVERIFY(tokens);
        QCOMPARE(idsOf(*tokens), (Ids{2, 0, 2, 1}));
        QCOMPARE(rangesOf(*tokens), (Ranges{{0, 0}, {2, 3}, {8, 9}, {9, 10}}));
        QCOMPARE(leftOutOf(**tokenizer, *tokens, text), (Ranges{{0, 2}, {3, 8}, {10, 12}}));
    }

    void aSpacePrefixWithoutAPieceLeavesNothingOut()
    {
        const auto tokenizer = tokenizerFrom(vocabulary({"a"}, {1}));
        const auto tokens = (*tokenizer)->encode("aa", {}, StopFlag());
        QCOMPARE(idsOf(*tokens), (Ids{0, 0}));
        QCOMPARE(rangesOf(*tokens), (Ranges{{0, 1}, {1, 2}}));
        QCOMPARE(leftOutOf(**tokenizer, *tokens, "aa"), Ranges());
    }

    void anUnknownCharacterIsTheUnknownTokenWithItsRange()
    {
        const auto tokenizer = tokenizerFrom(vocabulary({"a", "<unk>", kMark}, {1, 2, 1}));
        const auto tokens = (*tokenizer)->encode("a\xC3\xA9", {}, StopFlag());
        QCOMPARE(idsOf(*tokens), (Ids{2, 0, 1}));
        QCOMPARE(tokens->back().source, (TextRange{1, 3}));
        QVERIFY(tokens->back().isSpecial);
    }

    // Pieces that the library would refuse: empty, twice, two unknown ones; and single characters that are control
    // tokens.
    void oddPiecesAreKeptOutOfTheText()
    {
        const auto tokenizer =
            tokenizerFrom(vocabulary({"<unk>", "", "a", "a", "?", kMark, "", "<un>"}, {2, 1, 1, 1, 3, 1, 3, 2}));
        QVERIFY2(tokenizer, tokenizer ? "" : tokenizer.error().text().c_str());
        QCOMPARE(idsOf(*(*tokenizer)->encode("a?", {}, StopFlag())), (Ids{5, 2, 0}));
        QCOMPARE(idsOf(*(*tokenizer)->encode("a?", {.parseSpecial = true}, StopFlag())), (Ids{5, 2, 4}));
        QCOMPARE((*tokenizer)->bytes(1), std::string());
    }

    void bytePiecesMustBeWellFormed()
    {
        for (const char *piece : {"<0x-1>", "<0x1>", "<0x100>", "0x10", "<0xG0>", "<0x+1>"}) {
            const auto tokenizer = tokenizerFrom(vocabulary({"<unk>", piece}, {2, 6}));
            QVERIFY(!tokenizer);
            QVERIFY(tokenizer.error().message.find(piece) != std::string::npos);
        }
        QCOMPARE(byteOfPiece("<0xFf>"), std::optional<std::uint8_t>(255));
        QVERIFY(!byteOfPiece(""));
        const auto few = tokenizerFrom(vocabulary({"<unk>", "<0x41>"}, {2, 6}));
        QVERIFY(few);
        QCOMPARE((*few)->vocabulary().warnings.size(), std::size_t{1});
    }

    void aModelFileOpensWithoutWeights()
    {
        const auto tokenizer = tokenizerFromBytes(writeSentencePieceModel(smallModel()));
        QVERIFY2(tokenizer, tokenizer ? "" : tokenizer.error().text().c_str());
        const Vocabulary &vocabulary = (*tokenizer)->vocabulary();
        QCOMPARE(vocabulary.model, std::string("sentencepiece"));
        QCOMPARE(vocabulary.size(), 8);
        QCOMPARE(vocabulary.bos, std::optional<TokenId>(1));
        QCOMPARE(vocabulary.eos, std::optional<TokenId>(2));
        QCOMPARE(vocabulary.endOfGeneration, (Ids{2}));
        const auto tokens =
            (*tokenizer)->encode("a<sep>b a</s>", {.addSpecial = true, .parseSpecial = true}, StopFlag());
        QCOMPARE(idsOf(*tokens), (Ids{1, 4, 3, 7, 4, 2}));
        QCOMPARE(rangesOf(*tokens), (Ranges{{0, 0}, {0, 1}, {1, 6}, {6, 7}, {7, 9}, {9, 13}}));
        QCOMPARE((*tokenizer)->decode(idsOf(*tokens), false), std::string("a<sep>b a"));
    }

    void aModelFileIsReadAsItWasWritten()
    {
        const SentencePieceModel model = smallModel();
        const auto read = readSentencePieceModel(writeSentencePieceModel(model));
        QVERIFY(read);
        QVERIFY(read->pieces == model.pieces);
        QVERIFY(read->addsSpacePrefix && !read->removesExtraSpaces);
    }

    void aCutModelFileIsRefusedOrSmallerButNeverWrong()
    {
        const std::string whole = writeSentencePieceModel(smallModel());
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const auto tokenizer = tokenizerFromBytes(whole.substr(0, length));
            if (tokenizer)
                QVERIFY((*tokenizer)->vocabulary().size() <= 8);
            else
                QVERIFY(tokenizer.error().code == ErrorCode::BadFormat);
        }
    }

    void spacesThatAModelRemovesBelongToANeighbour()
    {
        SentencePieceModel model = smallModel();
        model.removesExtraSpaces = true;
        const auto tokenizer = tokenizerFromBytes(writeSentencePieceModel(model));
        const std::string text = "  a   b  ";
        const auto tokens = (*tokenizer)->encode(text, {}, StopFlag());
        QCOMPARE(idsOf(*tokens), (Ids{4, 5, 7}));
        QCOMPARE(rangeFault(*tokens, text), std::string());
        QCOMPARE((*tokenizer)->decode(idsOf(*tokens), false), std::string("a b"));
        const auto none = (*tokenizer)->encode("   ", {}, StopFlag()); // there is no neighbour
        QVERIFY(none && none->empty());
        QCOMPARE(leftOutOf(**tokenizer, *none, "   "), (Ranges{{0, 3}}));
    }

    void normalisationRulesAreApplied()
    {
        SentencePieceModel model = smallModel();
        model.charsmap = ruleUpperAToLowerA(0x80, 0);
        const auto tokenizer = tokenizerFromBytes(writeSentencePieceModel(model));
        QVERIFY2(tokenizer, tokenizer ? "" : tokenizer.error().text().c_str());
        QCOMPARE(idsOf(*(*tokenizer)->encode("bA", {}, StopFlag())), (Ids{5, 7, 6}));
    }

    void normalisationRulesMustStayInsideTheirTable()
    {
        QVERIFY(isValidCharsmap(""));
        QVERIFY(isValidCharsmap(ruleUpperAToLowerA(0x80, 0)));
        QVERIFY(!isValidCharsmap(ruleUpperAToLowerA(0x100, 0))); // a step leaves the table
        QVERIFY(!isValidCharsmap(ruleUpperAToLowerA(0x80, 2)));  // a text starts behind the texts
        const std::string good = ruleUpperAToLowerA(0x80, 0);
        QVERIFY(!isValidCharsmap(good.substr(0, good.size() - 1))); // the last text has no end
        QVERIFY(!isValidCharsmap(good.substr(0, 3)));
        QVERIFY(!isValidCharsmap(littleEndian(0x7FFFFFFF) + good.substr(4)));
        SentencePieceModel model = smallModel();
        model.charsmap = ruleUpperAToLowerA(0x100, 0);
        QVERIFY(!tokenizerFromBytes(writeSentencePieceModel(model)));
    }

private:
    std::unique_ptr<Tokenizer> m_tokenizer;
};

QTEST_APPLESS_MAIN(TestTokenizerSentencePiece)
#include "tst_tokenizer_sentencepiece.moc"
