// SPDX-License-Identifier: GPL-3.0-or-later
// The prompt on its way from the input field to tokens.
#include "app/core/prompt_text.h"
#include "app/core/prompt_tokenizer.h"

#include <QSignalSpy>
#include <QTest>

#include <thread>

using namespace lectern;

namespace {

// One token a byte, but none for 0x04. `holds`: the text "hold" is not done before it is stopped.
class ByteTokenizer final : public Tokenizer
{
public:
    ByteTokenizer()
        : Tokenizer(Vocabulary{})
    {
    }
    Result<std::vector<EncodedToken>> encode(std::string_view text, const EncodeOptions &,
                                             const StopFlag &stop) const override
    {
        if (text == "hold") {
            ++held;
            while (!stop.isRequested())
                std::this_thread::yield();
            return fail(ErrorCode::Cancelled, "Stopped");
        }
        if (text.empty())
            return fail(ErrorCode::InvalidInput, "Nothing to evaluate");
        std::vector<EncodedToken> tokens;
        for (std::size_t i = 0; i < text.size(); ++i)
            if (text[i] != '\x04')
                tokens.push_back({static_cast<unsigned char>(text[i]), {i, i + 1}, false});
        return tokens;
    }
    std::string bytes(TokenId id) const override { return std::string(1, static_cast<char>(id)); }
    std::string decode(std::span<const TokenId>, bool) const override { return {}; }

    mutable std::atomic<int> held{0};
};

std::shared_ptr<LoadedModel>
byteModel(std::shared_ptr<const ByteTokenizer> tokenizer = std::make_shared<ByteTokenizer>())
{
    auto model = std::make_shared<LoadedModel>();
    model->tokenizer = std::move(tokenizer);
    return model;
}

} // namespace

class TestPromptTokenizer : public QObject
{
    Q_OBJECT

private slots:
    void promptsKeepTheirLineEndsAndReplaceLoneSurrogates();
    void theTokenizerTellsTokensErrorsAndReplacements();
    void aChatCarriesTheTextAsItsLastUserMessage();
    void onlyTheNewestPromptIsTokenized();
    void aPromptOfAMegabyteArrivesWhole();
    void withoutAModelNothingIsTold();
    void closingDuringTokenizingIsQuick();
};

void TestPromptTokenizer::promptsKeepTheirLineEndsAndReplaceLoneSurrogates()
{
    QCOMPARE(toPromptUtf8(QStringLiteral("A\r\nB\n\tC")).text, std::string("A\r\nB\n\tC"));
    QCOMPARE(toPromptUtf8(QStringLiteral("é数🤗")).text, std::string("é数🤗"));
    const char16_t broken[] = {u'a', 0xDBC0, u'b', 0xDC00, 0xD83E, 0xDD17, 0xD83E}; // the pair in the middle is whole
    const PromptUtf8 replaced = toPromptUtf8(QString::fromUtf16(broken, std::size(broken)));
    QCOMPARE(replaced.text, std::string("a\uFFFDb\uFFFD🤗\uFFFD"));
    QCOMPARE(replaced.replacedCount, 3);
}

void TestPromptTokenizer::theTokenizerTellsTokensErrorsAndReplacements()
{
    PromptTokenizer tokenizer;
    tokenizer.setModel(byteModel());
    PromptTokensPtr last;
    connect(&tokenizer, &PromptTokenizer::ready, this, [&](const PromptTokensPtr &tokens) { last = tokens; });
    const auto ask = [&](const QString &text, const Request &request = {}) {
        last.reset();
        tokenizer.request(text, request);
        return QTest::qWaitFor([&] { return last != nullptr; });
    };
    QVERIFY(ask(QStringLiteral("A\r\nB")));
    QCOMPARE(last->userText, QStringLiteral("A\r\nB"));
    QCOMPARE(last->prepared.tokens.size(), std::size_t{4});
    QCOMPARE(last->prepared.tokens[1].id, TokenId{'\r'});
    QVERIFY(!last->error && last->prepared.warnings.empty());

    const char16_t broken[] = {u'a', 0xDBC0, u'b'}; // openai/tiktoken#82
    QVERIFY(ask(QString::fromUtf16(broken, 3)));
    QCOMPARE(last->prepared.text, std::string("a\uFFFDb"));
    QCOMPARE(last->replacedCount, 1);

    QVERIFY(ask(QStringLiteral("\x04z\x04")));
    QCOMPARE(last->prepared.tokens.size(), std::size_t{1});
    QCOMPARE(last->prepared.leftOut, (std::vector<TextRange>{{0, 1}, {2, 3}}));
    QCOMPARE(last->prepared.warnings.size(), std::size_t{1});
    QVERIFY(!last->error);

    QVERIFY(ask(QString()));
    QCOMPARE(last->error->message, std::string("Nothing to evaluate"));
    QVERIFY(last->prepared.tokens.empty());
    Request chat;
    chat.kind = PromptKind::Chat;
    QVERIFY(ask(QStringLiteral("no template here"), chat));
    QCOMPARE(last->error->code, ErrorCode::Unsupported);
    QVERIFY(ask(QStringLiteral("works again")));
    QVERIFY(!last->error);
}

void TestPromptTokenizer::aChatCarriesTheTextAsItsLastUserMessage()
{
    Result<ChatTemplate> chat = ChatTemplate::compile(
        "{% for message in messages %}{{ message['role'] }}={{ message['content'] }};{% endfor %}");
    QVERIFY(chat.has_value());
    const std::shared_ptr<LoadedModel> model = byteModel();
    model->chatTemplate = std::make_shared<ChatTemplate>(std::move(*chat));
    PromptTokenizer tokenizer;
    tokenizer.setModel(model);
    PromptTokensPtr last;
    connect(&tokenizer, &PromptTokenizer::ready, this, [&](const PromptTokensPtr &tokens) { last = tokens; });
    Request request;
    request.kind = PromptKind::Chat;
    request.messages = {{"system", "Be brief."}};
    tokenizer.request(QStringLiteral("Hé"), request); // no user message yet: one is added
    QVERIFY(QTest::qWaitFor([&] { return last != nullptr; }));
    QCOMPARE(last->prepared.text, std::string("system=Be brief.;user=Hé;"));
    QCOMPARE(last->prepared.userRanges.size(), std::size_t{2});
    request.messages = {{"user", "first"}, {"assistant", "answer"}, {"user", "replaced"}};
    last.reset();
    tokenizer.request(QStringLiteral("second"), request);
    QVERIFY(QTest::qWaitFor([&] { return last != nullptr; }));
    QCOMPARE(last->prepared.text, std::string("user=first;assistant=answer;user=second;"));
}

void TestPromptTokenizer::onlyTheNewestPromptIsTokenized()
{
    auto bytes = std::make_shared<ByteTokenizer>();
    PromptTokenizer tokenizer;
    tokenizer.setModel(byteModel(bytes));
    QStringList texts;
    connect(&tokenizer, &PromptTokenizer::ready, this,
            [&](const PromptTokensPtr &tokens) { texts.push_back(tokens->userText); });
    tokenizer.request(QStringLiteral("hold"), {});
    QVERIFY(QTest::qWaitFor([&] { return bytes->held == 1; }));
    tokenizer.request(QStringLiteral("skipped"), {}); // stops the one at work
    tokenizer.request(QStringLiteral("newest"), {});
    QVERIFY(QTest::qWaitFor([&] { return !texts.isEmpty(); }));
    for (int i = 0; i < 10; ++i)
        QCoreApplication::processEvents();
    QCOMPARE(texts, QStringList{QStringLiteral("newest")});
}

void TestPromptTokenizer::aPromptOfAMegabyteArrivesWhole()
{
    PromptTokenizer tokenizer;
    tokenizer.setModel(byteModel());
    PromptTokensPtr last;
    connect(&tokenizer, &PromptTokenizer::ready, this, [&](const PromptTokensPtr &tokens) { last = tokens; });
    tokenizer.request(QString(1'000'000, u'='), {});
    QVERIFY(!last); // nothing happens in the caller's thread
    QVERIFY(QTest::qWaitFor([&] { return last != nullptr; }, 60'000));
    QCOMPARE(last->prepared.tokens.size(), std::size_t{1'000'000});
}

void TestPromptTokenizer::withoutAModelNothingIsTold()
{
    auto bytes = std::make_shared<ByteTokenizer>();
    PromptTokenizer tokenizer;
    QSignalSpy ready(&tokenizer, &PromptTokenizer::ready);
    tokenizer.request(QStringLiteral("text"), {});
    tokenizer.setModel(byteModel(bytes));
    tokenizer.request(QStringLiteral("hold"), {});
    QVERIFY(QTest::qWaitFor([&] { return bytes->held == 1; }));
    tokenizer.setModel(nullptr); // stops what is at work
    tokenizer.request(QStringLiteral("text"), {});
    QVERIFY(QTest::qWaitFor([&] { return bytes.use_count() == 1; })); // it has stopped
    QCoreApplication::processEvents();
    QCOMPARE(ready.size(), 0);
    tokenizer.setModel(byteModel());
    tokenizer.request(QStringLiteral("with a model"), {});
    QVERIFY(ready.wait());
    QCOMPARE(ready.size(), 1);
    QCOMPARE(ready[0][0].value<PromptTokensPtr>()->userText, QStringLiteral("with a model"));
}

void TestPromptTokenizer::closingDuringTokenizingIsQuick()
{
    auto bytes = std::make_shared<ByteTokenizer>();
    {
        PromptTokenizer tokenizer;
        tokenizer.setModel(byteModel(bytes));
        tokenizer.request(QStringLiteral("hold"), {}); // would never end by itself
        QVERIFY(QTest::qWaitFor([&] { return bytes->held == 1; }));
    }
    QCOMPARE(bytes.use_count(), 1L);
}

QTEST_GUILESS_MAIN(TestPromptTokenizer)
#include "tst_prompt_tokenizer.moc"
