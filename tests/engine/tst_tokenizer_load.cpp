// SPDX-License-Identifier: GPL-3.0-or-later
// What is checked when a vocabulary is opened: wrong files are refused by key, odd ones give a warning.
#include "tests/support/tokenizer_file.h"

#include <QTemporaryDir>
#include <QTest>

#include <functional>

using namespace lectern;
using namespace lectern::test;

namespace {

using Ids = std::vector<TokenId>;

// <unk>, <s>, </s>, a, b. Every part can be replaced.
struct FivePieces
{
    std::string model = "llama";
    std::vector<std::string> pieces = {"<unk>", "<s>", "</s>", "a", "b"};
    std::vector<std::int32_t> kinds = {2, 3, 3, 1, 1};
    std::optional<std::vector<float>> scores = std::vector<float>{0, 0, 0, -1, -2};
    std::function<void(GgufWriter &)> more = [](GgufWriter &) {};

    Result<std::unique_ptr<Tokenizer>> open() const
    {
        GgufWriter writer;
        writer.addText("tokenizer.ggml.model", model).addTexts("tokenizer.ggml.tokens", pieces);
        if (!kinds.empty())
            writer.addI32s("tokenizer.ggml.token_type", kinds);
        if (scores)
            writer.addFloats("tokenizer.ggml.scores", *scores);
        more(writer);
        return tokenizerFrom(writer);
    }
};

bool names(const Result<std::unique_ptr<Tokenizer>> &result, ErrorCode code, const std::string &part)
{
    return !result && result.error().code == code && result.error().text().find(part) != std::string::npos;
}

bool warnsOf(const Tokenizer &tokenizer, const std::string &part)
{
    const std::vector<FileWarning> &warnings = tokenizer.vocabulary().warnings;
    return std::any_of(warnings.begin(), warnings.end(),
                       [&part](const FileWarning &warning) { return warning.text.find(part) != std::string::npos; });
}

std::string openFault(const Result<std::unique_ptr<Tokenizer>> &result)
{
    return result ? "" : result.error().text();
}

} // namespace

class TestTokenizerLoad : public QObject
{
    Q_OBJECT

private slots:
    void theSmallVocabularyItselfIsGood()
    {
        const auto tokenizer = FivePieces().open();
        QCOMPARE(openFault(tokenizer), std::string());
        const Vocabulary &vocabulary = (*tokenizer)->vocabulary();
        QCOMPARE(vocabulary.size(), 5);
        QVERIFY(vocabulary.warnings.empty());
        QCOMPARE(vocabulary.bos, std::optional<TokenId>(1)); // no keys: by their usual names
        QCOMPARE(vocabulary.eos, std::optional<TokenId>(2));
        QVERIFY(vocabulary.addsBos && !vocabulary.addsEos);
        QVERIFY(vocabulary.isSpecial(0) && vocabulary.isSpecial(1) && !vocabulary.isSpecial(3));
    }

    // llama.cpp#24885, case by case
    void aPieceThatOccursTwiceGivesAWarning()
    {
        FivePieces file;
        file.pieces[4] = "a";
        for (const char *model : {"llama", "gpt2"}) {
            file.model = model;
            const auto tokenizer = file.open();
            QCOMPARE(openFault(tokenizer), std::string());
            QVERIFY(warnsOf(**tokenizer, "tokenizer.ggml.tokens: 1 pieces occur twice (the first is [4], 'a')"));
            QCOMPARE(idsOf(*(*tokenizer)->encode("a", {}, StopFlag())).back(), 3);
            QCOMPARE((*tokenizer)->bytes(4), std::string("a"));
        }
    }

    void scoresMustBeOneForEachPiece()
    {
        FivePieces file;
        file.scores->resize(2);
        QVERIFY(names(file.open(), ErrorCode::BadFormat, "tokenizer.ggml.scores: 2 scores for 5 tokens"));
        file.scores = std::vector<float>{0, 0, 0, std::numeric_limits<float>::quiet_NaN(), 0};
        QVERIFY(
            names(file.open(), ErrorCode::BadFormat, "tokenizer.ggml.scores: the score of token 3 is not a number"));
    }

    void sentencePieceNeedsScoresAndBpeDoesNot()
    {
        FivePieces file;
        file.scores.reset();
        QVERIFY(names(file.open(), ErrorCode::BadFormat, "tokenizer.ggml.scores: is missing"));
        file.model = "gpt2";
        QCOMPARE(openFault(file.open()), std::string());
    }

    void specialIdsMustBeInTheVocabulary_data()
    {
        QTest::addColumn<QString>("key");
        for (const char *name : {"bos", "eos", "eot", "eom", "unknown"})
            QTest::newRow(name) << QString("tokenizer.ggml.%1_token_id").arg(name);
    }

    void specialIdsMustBeInTheVocabulary()
    {
        QFETCH(QString, key);
        for (const char *model : {"llama", "gpt2"}) {
            FivePieces file;
            file.model = model;
            file.more = [&key](GgufWriter &writer) { writer.addU32(key.toStdString(), 99); };
            QVERIFY(names(file.open(), ErrorCode::BadFormat,
                          key.toStdString() + ": token 99 is outside the vocabulary of 5 tokens"));
            file.more = [&key](GgufWriter &writer) { writer.addText(key.toStdString(), "1"); };
            QVERIFY(names(file.open(), ErrorCode::BadFormat, key.toStdString()));
        }
    }

    // Widely shared files have one past the end; nothing uses it.
    void aPaddingIdOutsideTheVocabularyIsOnlyAWarning()
    {
        FivePieces file;
        file.more = [](GgufWriter &writer) { writer.addU32("tokenizer.ggml.padding_token_id", 5); };
        const auto tokenizer = file.open();
        QCOMPARE(openFault(tokenizer), std::string());
        QVERIFY(!(*tokenizer)->vocabulary().padding);
        QVERIFY(warnsOf(**tokenizer, "tokenizer.ggml.padding_token_id"));
    }

    void namesOfTheFileAreShownCleanAndShort()
    {
        FivePieces file;
        file.model = std::string(5000, 'm');
        QVERIFY(names(file.open(), ErrorCode::Unsupported, "mmm... (5000 bytes)"));
        file.model = "gp\x1B[2J\xFF";
        QVERIFY(names(file.open(), ErrorCode::Unsupported, "'gp?[2J\xEF\xBF\xBD'"));
    }

    void kindsMustBeOneForEachPieceAndKnown()
    {
        FivePieces file;
        file.kinds.pop_back();
        QVERIFY(names(file.open(), ErrorCode::BadFormat, "tokenizer.ggml.token_type: 4 entries for 5 tokens"));
        file.kinds = {2, 3, 3, 1, 7};
        QVERIFY(names(file.open(), ErrorCode::BadFormat, "tokenizer.ggml.token_type: type 7 of token 4"));
        file.kinds = {2, 3, 3, 1, -1};
        QVERIFY(names(file.open(), ErrorCode::BadFormat, "tokenizer.ggml.token_type: type -1 of token 4"));
        file.kinds = {};
        file.model = "gpt2";
        const auto tokenizer = file.open();
        QCOMPARE(openFault(tokenizer), std::string());
        QVERIFY(warnsOf(**tokenizer, "tokenizer.ggml.token_type is missing"));
    }

    void keysOfAnotherTypeAreRefusedByName()
    {
        GgufWriter writer;
        writer.addText("tokenizer.ggml.model", "gpt2").addU32("tokenizer.ggml.tokens", 5);
        QVERIFY(names(tokenizerFrom(writer), ErrorCode::BadFormat, "tokenizer.ggml.tokens"));
        FivePieces file;
        file.model = "gpt2";
        for (const char *key : {"tokenizer.ggml.merges", "tokenizer.ggml.pre", "tokenizer.ggml.add_bos_token"}) {
            file.more = [key](GgufWriter &more) { more.addU32(key, 1); };
            QVERIFY(names(file.open(), ErrorCode::BadFormat, key));
        }
    }

    void anEmptyVocabularyIsRefused()
    {
        FivePieces file;
        file.pieces.clear();
        file.kinds.clear();
        QVERIFY(names(file.open(), ErrorCode::BadFormat, "the vocabulary is empty"));
    }

    void unknownModelsAndPreTokenizersAreRefusedByName()
    {
        FivePieces file;
        file.model = "bert";
        QVERIFY(names(file.open(), ErrorCode::Unsupported, "tokenizer 'bert'"));
        file.model = "gpt2";
        file.more = [](GgufWriter &writer) { writer.addText("tokenizer.ggml.pre", "tekken"); };
        QVERIFY(names(file.open(), ErrorCode::Unsupported, "pre-tokenizer 'tekken'"));
        file.more = [](GgufWriter &) {};
        const auto tokenizer = file.open();
        QCOMPARE(openFault(tokenizer), std::string());
        QVERIFY(warnsOf(**tokenizer, "tokenizer.ggml.pre is missing"));
        QVERIFY(names(tokenizerFrom(GgufWriter()), ErrorCode::NotFound, "tokenizer.ggml.model"));
    }

    void brokenMergesAreRefusedAndUselessOnesCounted()
    {
        FivePieces file;
        file.model = "gpt2";
        const auto withMerges = [&file](std::vector<std::string> merges) {
            file.more = [merges](GgufWriter &writer) { writer.addTexts("tokenizer.ggml.merges", merges); };
            return file.open();
        };
        for (const char *line : {"", "ab", "a ", " "})
            QVERIFY(names(withMerges({"a b", line}), ErrorCode::BadFormat, "tokenizer.ggml.merges: entry 1"));
        const auto tokenizer = withMerges({"a b", "a a"});
        QCOMPARE(openFault(tokenizer), std::string());
        QVERIFY(
            warnsOf(**tokenizer, "tokenizer.ggml.merges: 2 of 2 merges name pieces that are not in the vocabulary"));
        QCOMPARE(idsOf(*(*tokenizer)->encode("ab", {}, StopFlag())), (Ids{3, 4}));
    }

    void aBeginTokenIsOnlyAddedWhereThereIsOne()
    {
        FivePieces file;
        file.model = "gpt2";
        file.more = [](GgufWriter &writer) { writer.addBool("tokenizer.ggml.add_bos_token", true); };
        const auto tokenizer = file.open();
        QVERIFY(!(*tokenizer)->vocabulary().addsBos);
        QVERIFY(warnsOf(**tokenizer, "tokenizer.ggml.add_bos_token"));
        QCOMPARE(idsOf(*(*tokenizer)->encode("a", {.addSpecial = true}, StopFlag())), (Ids{3}));
    }

    void everyTokenThatEndsAnAnswerIsKnown()
    {
        FivePieces file;
        file.model = "gpt2";
        file.pieces = {"a", "<|im_end|>", "<|endoftext|>", "<end_of_turn>", "</s>", "<|eot_id|>", "<x>", "<y>", "<z>"};
        file.kinds = {1, 3, 3, 3, 4, 1, 3, 3, 3}; // "</s>" is user text here, "<|eot_id|>" ordinary text
        file.more = [](GgufWriter &writer) {
            writer.addU32("tokenizer.ggml.eos_token_id", 6).addU32("tokenizer.ggml.eot_token_id", 7);
            writer.addU32("tokenizer.ggml.eom_token_id", 8);
        };
        const auto tokenizer = file.open();
        QCOMPARE(openFault(tokenizer), std::string());
        QCOMPARE((*tokenizer)->vocabulary().endOfGeneration, (Ids{1, 2, 3, 6, 7, 8}));
        QVERIFY((*tokenizer)->vocabulary().endsGeneration(6));
        QVERIFY(!(*tokenizer)->vocabulary().endsGeneration(4));
        QVERIFY(!(*tokenizer)->vocabulary().endsGeneration(-1));
    }

    void whatIsNoTokenizerIsRefused()
    {
        const QTemporaryDir folder;
        QVERIFY(names(openTokenizer(folder.path().toStdString()), ErrorCode::Unreadable, "folder"));
        QVERIFY(names(openTokenizer(folder.filePath("none").toStdString()), ErrorCode::NotFound, "none"));
        for (const char *bytes : {"", "<html><body>not found</body></html>", "plain text", "GGU", "\x0A\x05zzzzz"})
            QVERIFY(names(tokenizerFromBytes(bytes), ErrorCode::BadFormat, "not a SentencePiece model"));
        QVERIFY(names(tokenizerFromBytes("GGUF"), ErrorCode::BadFormat, ""));
    }
};

QTEST_APPLESS_MAIN(TestTokenizerLoad)
#include "tst_tokenizer_load.moc"
