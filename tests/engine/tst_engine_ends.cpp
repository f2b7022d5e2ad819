// SPDX-License-Identifier: GPL-3.0-or-later
// What comes out of the logits, and every way in which a run ends.
#include "engine/engine.h"
#include "engine/trace/metrics.h"
#include "engine/trace/prompt_tokens.h"
#include "engine/trace/run_json.h"
#include "tests/support/scripted_engine.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

using namespace lectern;
using namespace lectern::test;

class TestEngineEnds : public QObject
{
    Q_OBJECT

private:
    ScriptedEngine m_engine;

private slots:
    void init() { m_engine.start(); }

    // Public cases 49 and 50.
    void stopStringsAreFoundAcrossTokens_data()
    {
        QTest::addColumn<QByteArray>("tokens"); // '$': the end token
        QTest::addColumn<QByteArray>("stop");
        QTest::addColumn<int>("maxTokens");
        QTest::addColumn<QByteArray>("answer");
        QTest::addColumn<int>("reason");
        const auto reason = [](FinishReason value) { return static_cast<int>(value); };
        QTest::newRow("completed") << QByteArray("red green blue!") << QByteArray("green blue") << 40
                                   << QByteArray("red ") << reason(FinishReason::StopString);
        QTest::newRow("not completed") << QByteArray("red green black") << QByteArray("green blue") << 15
                                       << QByteArray("red green black") << reason(FinishReason::MaxTokens);
        QTest::newRow("held at the end token")
            << QByteArray("maze$") << QByteArray("zebra") << 40 << QByteArray("maze") << reason(FinishReason::EndToken);
        QTest::newRow("held at the limit")
            << QByteArray("maze") << QByteArray("zebra") << 4 << QByteArray("maze") << reason(FinishReason::MaxTokens);
    }

    void stopStringsAreFoundAcrossTokens()
    {
        QFETCH(QByteArray, tokens);
        QFETCH(QByteArray, stop);
        QFETCH(int, maxTokens);
        QFETCH(QByteArray, answer);
        QFETCH(int, reason);
        m_engine.script->tokens = bytesOf(tokens.toStdString());
        std::replace(m_engine.script->tokens.begin(), m_engine.script->tokens.end(), static_cast<TokenId>('$'),
                     kEndToken);
        Request request = idsRequest(3, maxTokens);
        request.stops = {stop.toStdString()};
        const RecordingSink sink = m_engine.run(request);
        QCOMPARE(QByteArray::fromStdString(sink.record.answer()), answer);
        QCOMPARE(static_cast<int>(*sink.record.finishReason), reason);
        QCOMPARE(sink.record.stopString,
                 *sink.record.finishReason == FinishReason::StopString ? stop.toStdString() : "");
        QVERIFY(!sink.record.endedInsideCharacter);
    }

    void heldTextIsReleasedWhenTheUserStops()
    {
        m_engine.script->tokens = bytesOf("maze");
        Request request = idsRequest(3, 40);
        request.stops = {"zebra"};
        RecordingSink sink;
        const RequestId id = m_engine.engine->submit(request, sink);
        while (sink.record.outputTokens.size() < 4)
            m_engine.engine->step();
        m_engine.engine->cancel(id);
        m_engine.finish();
        QCOMPARE(sink.record.tailText, std::string("ze"));
        QCOMPARE(sink.record.answer(), std::string("maze"));
    }

    // Public cases 25 and 26: E9 91 AB is one character.
    void charactersWaitForTheirLastByte()
    {
        m_engine.script->tokens = {0xE9, 0x91, 0xAB, '!', 0xE9, 0x91, kEndToken};
        const RecordingSink sink = m_engine.run(idsRequest(3, 40));
        std::vector<std::string> texts;
        for (const TokenRecord &token : sink.record.outputTokens)
            texts.push_back(token.text);
        QCOMPARE(texts, (std::vector<std::string>{"", "", "\xE9\x91\xAB", "!", "", "", ""}));
        QCOMPARE(sink.record.tailText, std::string("\xEF\xBF\xBD"));
        QVERIFY(sink.record.endedInsideCharacter);
        QCOMPARE(sink.record.outputTokens[0].bytes, std::string("\xE9"));
    }

    void controlTokensAreNoText()
    {
        m_engine.script->tokens = {'a', 297, 299, 'b', kEndToken}; // <|im_start|> is control, <tool_call> user-defined
        const RecordingSink sink = m_engine.run(idsRequest(3, 40));
        QCOMPARE(sink.record.answer(), std::string("a<tool_call>b"));
        QVERIFY(sink.record.outputTokens[1].isSpecial);
        QVERIFY(!sink.record.outputTokens[2].isSpecial);
    }

    // Public case 20.
    void promptsThatFillTheContextAreRefusedWithBothNumbers()
    {
        LoadOptions options;
        options.contextTokens = 64;
        m_engine.start(options);
        const RecordingSink fits = m_engine.run(idsRequest(63, 10));
        QCOMPARE(fits.record.outputTokens.size(), 1u);
        QCOMPARE(fits.record.finishReason, FinishReason::ContextFull);
        for (const auto &[count, excess] :
             {std::pair(64, "no room"), {65, "1 token too many"}, {640, "576 tokens too many"}}) {
            const RecordingSink sink = m_engine.run(idsRequest(static_cast<std::size_t>(count)));
            QCOMPARE(sink.story(), std::string("queued tokenized failed"));
            QCOMPARE(sink.record.error->code, ErrorCode::ContextFull);
            const std::string &message = sink.record.error->message;
            QVERIFY2(message.find(std::to_string(count) + " tokens") != std::string::npos, message.c_str());
            QVERIFY2(message.find("holds 64") != std::string::npos, message.c_str());
            QVERIFY2(message.find(excess) != std::string::npos, message.c_str());
            QVERIFY(m_engine.script->passes.empty());
        }
    }

    void theAnswerEndsWhereTheContextEnds()
    {
        LoadOptions options;
        options.contextTokens = 20;
        m_engine.start(options);
        const RecordingSink sink = m_engine.run(idsRequest(12, 100));
        QCOMPARE(sink.record.outputTokens.size(), 8u);
        QCOMPARE(sink.record.finishReason, FinishReason::ContextFull);
        QCOMPARE(metricsOf(sink.record).contextTokens, 20);
    }

    void theAnswerEndsWhereTheKvBudgetEnds()
    {
        LoadOptions options;
        options.kvBudgetBytes = 3 * 16 * 256; // three blocks
        m_engine.start(options);
        const RecordingSink sink = m_engine.run(idsRequest(40, 100));
        QCOMPARE(sink.record.finishReason, FinishReason::MemoryFull);
        QCOMPARE(sink.record.outputTokens.size(), 9u); // 48 positions hold the prompt and 8 of them
        QCOMPARE(sink.record.kv.back().tokens, 48);
        QCOMPARE(sink.ends(), 1);

        const RecordingSink refused = m_engine.run(idsRequest(49));
        QCOMPARE(refused.story(), std::string("queued tokenized failed"));
        QCOMPARE(refused.record.error->code, ErrorCode::OutOfMemory);
        QVERIFY(refused.record.error->message.find("12544 bytes") != std::string::npos); // needed
        QVERIFY(refused.record.error->message.find("12288 bytes") != std::string::npos); // budget
        QCOMPARE(m_engine.run(idsRequest(48, 1)).record.finishReason, FinishReason::MaxTokens);
    }

    void aStepThatFindsNoMemoryFailsItsRunOnly_data()
    {
        QTest::addColumn<int>("atPass");
        QTest::addColumn<QString>("story");
        QTest::newRow("prefill") << 2 << "queued tokenized grew chunk grew failed";
        QTest::newRow("decode") << 4 << "queued tokenized grew chunk grew chunk token token failed";
    }

    void aStepThatFindsNoMemoryFailsItsRunOnly()
    {
        QFETCH(int, atPass);
        QFETCH(QString, story);
        m_engine.script->onPass = [&] {
            if (static_cast<int>(m_engine.script->passes.size()) == atPass)
                throw std::bad_alloc();
        };
        const RecordingSink sink = m_engine.run(idsRequest(kPass + 36, 10));
        QCOMPARE(QString::fromStdString(sink.story()), story);
        QCOMPARE(sink.record.error->code, ErrorCode::OutOfMemory);
        m_engine.script->onPass = nullptr;
        const RecordingSink next = m_engine.run(idsRequest(kPass + 36, 2));
        QCOMPARE(next.record.finishReason, FinishReason::MaxTokens);
        QCOMPARE(next.record.reusedTokens, atPass == 2 ? kPass : kPass + 35); // what was computed is kept
    }

    // Public case 16.
    void anEmptyPromptIsRefusedAndTheNextOneRuns()
    {
        Request empty;
        const RecordingSink sink = m_engine.run(empty);
        QCOMPARE(sink.story(), std::string("queued tokenized failed"));
        QCOMPARE(sink.record.error->code, ErrorCode::InvalidInput);
        QVERIFY(sink.record.error->message.find("nothing to evaluate") != std::string::npos);
        Request zeroWidthSpace;
        zeroWidthSpace.text = "\xE2\x80\x8B";
        QCOMPARE(m_engine.run(zeroWidthSpace).record.promptTokens.size(), 3u);
    }

    void aPromptRunsWithoutTheBytesThatHaveNoToken()
    {
        ScriptedEngine engine("\x04");
        engine.start();
        Request request;
        request.text = "\x04"
                       "a\x04"
                       "b";
        request.maxTokens = 2;
        const RecordingSink sink = engine.run(request);
        QCOMPARE(sink.record.state, RunState::Finished);
        QCOMPARE(sink.record.promptTokens.size(), 2u);
        QCOMPARE(leftOutRanges(sink.record), (std::vector<TextRange>{{0, 1}, {2, 3}}));
        const Result<RunRecord> loaded = runFromJson(toJson(sink.record));
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QCOMPARE(leftOutRanges(*loaded), leftOutRanges(sink.record));

        request.text = "\x04\x04";
        const RecordingSink none = engine.run(request);
        QCOMPARE(none.story(), std::string("queued tokenized failed"));
        QCOMPARE(none.record.promptText, request.text);
        QCOMPARE(
            none.record.error->text(),
            std::string("nothing to evaluate: the prompt has no tokens: 2 bytes of the text are left out, since no "
                        "token of the vocabulary stands for them: 0x04 at byte 0, 0x04 at byte 1. Type other "
                        "characters."));
    }

    void valuesOutOfRangeAreRefusedByName_data()
    {
        QTest::addColumn<QString>("where");
        QTest::newRow("max tokens") << "max tokens";
        QTest::newRow("top candidates") << "top candidates";
        QTest::newRow("temperature") << "temperature";
        QTest::newRow("prompt ids") << "prompt ids";
    }

    void valuesOutOfRangeAreRefusedByName()
    {
        QFETCH(QString, where);
        Request request = idsRequest(3);
        if (where == "max tokens")
            request.maxTokens = 0;
        else if (where == "top candidates")
            request.topCandidates = 21;
        else if (where == "temperature")
            request.sampling.temperature = -1;
        else
            request.ids[1] = 300;
        const RecordingSink sink = m_engine.run(request);
        QCOMPARE(sink.story(), std::string("queued failed"));
        QCOMPARE(sink.record.error->code, ErrorCode::InvalidInput);
        QVERIFY2(sink.record.error->text().find(where.toStdString()) != std::string::npos,
                 sink.record.error->text().c_str());
    }

    // Public case 55.
    void logitsThatAreNoNumbersEndTheRunAtTheirStep_data()
    {
        QTest::addColumn<float>("all");
        QTest::addColumn<float>("one");
        const float infinity = std::numeric_limits<float>::infinity();
        QTest::newRow("all -inf") << -infinity << -infinity;
        QTest::newRow("all NaN") << NAN << NAN;
        QTest::newRow("a single NaN") << 1.0f << NAN;
        QTest::newRow("a single +inf") << 1.0f << infinity;
    }

    void logitsThatAreNoNumbersEndTheRunAtTheirStep()
    {
        QFETCH(float, all);
        QFETCH(float, one);
        m_engine.script->tokens = bytesOf("abcdef");
        m_engine.script->changeLogits = [=](int step, std::span<float> logits) {
            if (step == 7) {
                std::fill(logits.begin(), logits.end(), all);
                logits[30] = one;
            }
        };
        Request request = idsRequest(3, 20);
        request.stops = {"fz"};
        const RecordingSink sink = m_engine.run(request);
        QCOMPARE(sink.ends(), 1);
        QCOMPARE(sink.record.error->code, ErrorCode::Numerics);
        QCOMPARE(sink.record.error->where, std::string("step 7"));
        QCOMPARE(sink.record.answer(), std::string("abcdef")); // the held "f" too
        m_engine.script->changeLogits = nullptr;
        QCOMPARE(m_engine.run(idsRequest(3)).record.finishReason, FinishReason::MaxTokens);
    }
};

QTEST_APPLESS_MAIN(TestEngineEnds)
#include "tst_engine_ends.moc"
