// SPDX-License-Identifier: GPL-3.0-or-later
// Ids of the real tokenizers. The vocabularies are not part of the source: each test skips by name without its file.
#include "tests/support/fixture.h"
#include "tests/support/models.h"
#include "tests/support/tokenizer_file.h"

#include <QCryptographicHash>
#include <QTest>

#include <fstream>
#include <sstream>

using namespace lectern;
using namespace lectern::test;

namespace {

using Ids = std::vector<TokenId>;

std::unique_ptr<Tokenizer> openOrNull(const std::optional<std::filesystem::path> &path)
{
    if (!path)
        return nullptr;
    auto tokenizer = openTokenizer(*path);
    if (!tokenizer)
        qFatal("%s", tokenizer.error().text().c_str());
    return std::move(*tokenizer);
}

Ids encodeText(const Tokenizer &tokenizer, std::string_view text)
{
    const auto tokens = tokenizer.encode(text, {}, StopFlag());
    return tokens ? idsOf(*tokens) : Ids{-1};
}

// Long lists are stored as count and SHA-256 of the ids in decimal, joined by commas.
std::string digestOf(const Ids &ids)
{
    QByteArray joined;
    for (const TokenId id : ids)
        joined += (joined.isEmpty() ? "" : ",") + QByteArray::number(id);
    return QCryptographicHash::hash(joined, QCryptographicHash::Sha256).toHex().toStdString();
}

std::string caseFault(const Tokenizer &tokenizer, const nlohmann::json &row)
{
    const auto text = row["text"].get<std::string>();
    const EncodeOptions options{.addSpecial = row["add_special"], .parseSpecial = row["parse_special"]};
    const auto tokens = tokenizer.encode(text, options, StopFlag());
    if (!tokens)
        return tokens.error().text();
    const Ids ids = idsOf(*tokens);
    const bool isEqual = row.contains("ids") ? ids == row["ids"].get<Ids>()
                                             : ids.size() == row["ids_count"] && digestOf(ids) == row["ids_sha256"];
    if (!isEqual)
        return "other ids for " + row.dump();
    return tokens->empty() ? "" : rangeFault(*tokens, text);
}

struct PublicCase
{
    const char *text;
    Ids gpt2;
    Ids llama; // without the begin token
};

// Cases 1, 2, 4, 5, 7, 8, 10, 11 of the public trackers, where a list is given for the vocabulary.
const std::vector<PublicCase> kPublicCases{
    {"Đà Nẵng", {128, 238, 24247, 399, 157, 118, 113, 782}, {}},
    {"The river is cold.", {}, {450, 8580, 338, 11220, 29889}},
    {"river", {}, {8580}},
    {"\t\t\treturn", {197, 197, 197, 7783}, {29871, 12, 12, 12, 2457}},
    {"A\n\n\n\nB", {32, 628, 198, 198, 33}, {319, 13, 13, 13, 13, 29933}},
    {"A\r\nB", {32, 201, 198, 33}, {}},
    {"👩\u200d🚀", {41840, 102, 447, 235, 8582, 248, 222}, {29871, 243, 162, 148, 172, 30722, 243, 162, 157, 131}},
    {"\ue0b0", {170, 224, 108}, {29871, 241, 133, 179}},
    {"<0x0A>", {}, {529, 29900, 29916, 29900, 29909, 29958}},
    {"鑫森", {165, 239, 104, 162, 96, 106}, {29871, 236, 148, 174, 31484}},
    {"每个人都有他的作战策略",
     {},
     {29871, 31951, 30502, 30313, 30769, 30417, 31221, 30210, 30732, 233, 139, 155, 234, 176, 153, 234, 152, 168}},
    {"a\uFFFDb", {64, 4210, 65}, {}},
};

} // namespace

class TestTokenizerReference : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        m_smollm = openOrNull(modelPath());
        m_gpt2 = openOrNull(sharedPath("vocab/ggml-vocab-gpt-2.gguf"));
        m_llama = openOrNull(sharedPath("vocab/ggml-vocab-llama-spm.gguf"));
    }

    void smollmGivesTheStoredIds()
    {
        if (!m_smollm)
            QSKIP("SmolLM2-135M-Instruct.Q4_1.gguf is not there");
        const nlohmann::json fixture = loadFixture("tokens_smollm2.json");
        for (const nlohmann::json &row : fixture["cases"])
            QCOMPARE(caseFault(*m_smollm, row), std::string());
        QCOMPARE(fixture["cases"].size(), std::size_t{132});
    }

    void smollmEndsAnswersWithTwoTokensAndAddsNone()
    {
        if (!m_smollm)
            QSKIP("SmolLM2-135M-Instruct.Q4_1.gguf is not there");
        const Vocabulary &vocabulary = m_smollm->vocabulary();
        QCOMPARE(vocabulary.endOfGeneration, (Ids{0, 2}));
        QVERIFY(!vocabulary.addsBos && !vocabulary.addsEos);
        QCOMPARE(encodeText(*m_smollm, ""), Ids()); // case 16
        QCOMPARE(m_smollm->bytes(2), std::string("<|im_end|>"));
    }

    void smollmLeavesOutWhatTheReferenceDoes()
    {
        if (!m_smollm)
            QSKIP("SmolLM2-135M-Instruct.Q4_1.gguf is not there");
        const nlohmann::json fixture = loadFixture("tokens_left_out.json");
        for (const nlohmann::json &row : fixture["smollm2"])
            QCOMPARE(leftOutFault(*m_smollm, row), std::string());
        QCOMPARE(fixture["smollm2"].size(), std::size_t{145});
    }

    // Every text gives tokens that decode to it, but for the bytes that this vocabulary has no piece for.
    void smollmGivesTextBack()
    {
        if (!m_smollm)
            QSKIP("SmolLM2-135M-Instruct.Q4_1.gguf is not there");
        const std::string_view missing =
            "\x04\x06\x13\x14\x16\x1D\xC0\xC1\xF1\xF2\xF5\xF6\xF7\xF8\xF9\xFA\xFB\xFC\xFD\xFE\xFF";
        int textsWithout = 0;
        for (const std::string &text : mixedTexts(1000, true)) {
            const auto tokens = m_smollm->encode(text, {}, StopFlag());
            QVERIFY(tokens);
            std::string rest = text;
            textsWithout += std::erase_if(rest, [&](char byte) { return missing.find(byte) != missing.npos; }) == 0;
            QCOMPARE(m_smollm->decode(idsOf(*tokens), true), rest);
            QCOMPARE(withoutRanges(text, leftOutOf(*m_smollm, *tokens, text)), rest);
        }
        QVERIFY(textsWithout > 100 && textsWithout < 900);
    }

    void vocabularyFilesGiveTheirListedIds_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("gpt-2") << "gpt-2";
        QTest::newRow("llama-spm") << "llama-spm";
    }

    void vocabularyFilesGiveTheirListedIds()
    {
        QFETCH(QString, name);
        const std::string file = "vocab/ggml-vocab-" + name.toStdString() + ".gguf";
        const auto texts = sharedPath(file + ".inp");
        const auto ids = sharedPath(file + ".out");
        const std::unique_ptr<Tokenizer> &tokenizer = name == "gpt-2" ? m_gpt2 : m_llama;
        if (!tokenizer || !texts || !ids)
            QSKIP(qPrintable(QString::fromStdString(file) + " with .inp and .out is not there"));
        std::ostringstream content;
        content << std::ifstream(*texts, std::ios::binary).rdbuf();
        std::ifstream lines(*ids);
        const std::string all = content.str();
        const std::string separator = "\n__ggml_vocab_test__\n";
        int count = 0;
        for (std::size_t begin = 0; begin <= all.size(); ++count) { // behind the last separator is an empty text
            const std::size_t end = std::min(all.find(separator, begin), all.size());
            std::string line;
            std::getline(lines, line);
            std::istringstream numbers(line);
            const Ids expected{std::istream_iterator<TokenId>(numbers), {}};
            const std::string text = all.substr(begin, end - begin);
            QCOMPARE(encodeText(*tokenizer, text), expected);
            QCOMPARE(tokenizer->decode(expected, false), text);
            begin = end + (end == all.size() ? 1 : separator.size());
        }
        QCOMPARE(count, 47);
    }

    void publicCasesHold()
    {
        if (!m_gpt2 || !m_llama)
            QSKIP("vocab/ggml-vocab-gpt-2.gguf or vocab/ggml-vocab-llama-spm.gguf is not there");
        for (const PublicCase &row : kPublicCases) {
            if (!row.gpt2.empty())
                QCOMPARE(encodeText(*m_gpt2, row.text), row.gpt2);
            if (!row.llama.empty())
                QCOMPARE(encodeText(*m_llama, row.text), row.llama);
            for (const auto *tokenizer : {m_gpt2.get(), m_llama.get()})
                QCOMPARE(tokenizer->decode(encodeText(*tokenizer, row.text), false), std::string(row.text));
        }
    }

    // Case 11: both spellings of é come back as they were typed.
    void textIsNeitherComposedNorDecomposed()
    {
        if (!m_gpt2 || !m_llama)
            QSKIP("vocab/ggml-vocab-gpt-2.gguf or vocab/ggml-vocab-llama-spm.gguf is not there");
        for (const auto *tokenizer : {m_gpt2.get(), m_llama.get()}) {
            const Ids composed = encodeText(*tokenizer, "caf\u00e9");
            const Ids decomposed = encodeText(*tokenizer, "cafe\u0301");
            QVERIFY(composed != decomposed);
            QCOMPARE(tokenizer->decode(composed, false), std::string("caf\u00e9"));
            QCOMPARE(tokenizer->decode(decomposed, false), std::string("cafe\u0301"));
        }
    }

    // Cases 13 and 14.
    void markersInTextAreTextUnlessAskedFor()
    {
        if (!m_gpt2)
            QSKIP("vocab/ggml-vocab-gpt-2.gguf is not there");
        constexpr TokenId kEndOfText = 50256;
        const std::string text = "tag <|endoftext|> end";
        const Ids plain = encodeText(*m_gpt2, text);
        QVERIFY(std::find(plain.begin(), plain.end(), kEndOfText) == plain.end());
        QCOMPARE(m_gpt2->decode(plain, false), text);
        const Ids parsed = idsOf(*m_gpt2->encode(text, {.parseSpecial = true}, StopFlag()));
        QCOMPARE(std::count(parsed.begin(), parsed.end(), kEndOfText), 1);
    }

    // Case 19.
    void longRunsGiveTheListedCounts()
    {
        if (!m_gpt2)
            QSKIP("vocab/ggml-vocab-gpt-2.gguf is not there");
        QCOMPARE(encodeText(*m_gpt2, std::string(20000, '=')).size(), std::size_t{313});
        QCOMPARE(encodeText(*m_gpt2, std::string(1000000, '=')).size(), std::size_t{15625});
    }

    // Case 22.
    void byteLevelVocabulariesTakeAnyBytes()
    {
        if (!m_gpt2)
            QSKIP("vocab/ggml-vocab-gpt-2.gguf is not there");
        for (const char *bytes : {"\xE9\x91", "\xFF\xFE", "\xC0\x80", "\xED\xA0\x80"})
            QCOMPARE(m_gpt2->decode(encodeText(*m_gpt2, bytes), false), std::string(bytes));
    }

    void tinyModelsGiveTheirListedIds()
    {
        const auto path = sharedPath("golden/tiny/tokens.json");
        if (!path)
            QSKIP("golden/tiny/tokens.json is not there");
        const nlohmann::json fixture = loadJson(*path);
        std::map<std::string, std::unique_ptr<Tokenizer>> tokenizers;
        int count = 0;
        for (const nlohmann::json &row : fixture["cases"]) {
            if (row["tokenizer"] == "bpe_qwen2")
                continue; // a pre-tokenizer that this version refuses
            std::unique_ptr<Tokenizer> &tokenizer = tokenizers[row["model"]];
            if (!tokenizer)
                tokenizer = openOrNull(sharedPath("golden/tiny/" + row["model"].get<std::string>()));
            QVERIFY(tokenizer);
            QCOMPARE(caseFault(*tokenizer, row), std::string());
            ++count;
        }
        QCOMPARE(count, 87);
    }

private:
    std::unique_ptr<Tokenizer> m_smollm, m_gpt2, m_llama;
};

QTEST_APPLESS_MAIN(TestTokenizerReference)
#include "tst_tokenizer_reference.moc"
