// SPDX-License-Identifier: GPL-3.0-or-later
// Whole runs on the real backends: what must not change the answer does not change it.
#include "engine/engine.h"
#include "engine/trace/run_checks.h"
#include "engine/trace/run_json.h"
#include "tests/support/models.h"
#include "tests/support/recording_sink.h"
#include "tests/support/tiny_model.h"

#include <QTemporaryDir>
#include <QTest>

using namespace lectern;
using namespace lectern::test;

Q_DECLARE_METATYPE(lectern::test::TinyVocabulary)

class TestEngineModels : public QObject
{
    Q_OBJECT

private:
    void start(BackendChoice backend, const std::filesystem::path &path, int threads = 0)
    {
        LoadOptions options;
        options.backend = backend;
        options.threads = threads;
        RecordingSink sink;
        const auto loaded = m_engine.load(path, options, sink, StopFlag());
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
    }

    // At no event may the record be one that could not be opened again.
    RunRecord run(const Request &request, int cancelAfterTokens = -1)
    {
        RecordingSink sink;
        RequestId id = 0;
        sink.onEvent = [&](const Event &) {
            const auto contradiction = findContradiction(sink.record);
            QVERIFY2(!contradiction, contradiction ? contradiction->text().c_str() : "");
            if (static_cast<int>(sink.record.outputTokens.size()) == cancelAfterTokens)
                m_engine.cancel(id);
        };
        id = m_engine.submit(request, sink);
        while (m_engine.step()) {
        }
        return sink.record;
    }

    static Request longRequest()
    {
        Request request;
        request.maxTokens = 24;
        for (int i = 0; i < 3; ++i)
            request.text +=
                "the cache holds the keys and the values of all tokens in the prompt, so each step is cheap. ";
        return request;
    }

    // The same ids and, bit for bit, the same probabilities.
    static void compare(const RunRecord &a, const RunRecord &b)
    {
        QCOMPARE(a.outputTokens.size(), b.outputTokens.size());
        for (std::size_t i = 0; i < a.outputTokens.size(); ++i) {
            QCOMPARE(a.outputTokens[i].id, b.outputTokens[i].id);
            QCOMPARE(a.outputTokens[i].top, b.outputTokens[i].top);
        }
    }

    static void addBackends()
    {
        QTest::addColumn<BackendChoice>("backend");
        QTest::newRow("reference") << BackendChoice::Reference;
        QTest::newRow("cpu") << BackendChoice::Cpu;
    }

    QTemporaryDir m_folder;
    std::filesystem::path m_path;
    Engine m_engine;

private slots:
    void initTestCase()
    {
        TinyModelSpec spec;
        spec.weights = QuantId::Q4_1;
        m_path = writeTinyModel(m_folder.path().toStdString(), "tiny.gguf", spec);
    }

    void theCacheDoesNotChangeTheAnswer_data() { addBackends(); }
    void theCacheDoesNotChangeTheAnswer()
    {
        QFETCH(BackendChoice, backend);
        start(backend, m_path);
        Request request = longRequest();
        const RunRecord with = run(request);
        request.cache = CacheMode::None;
        const RunRecord without = run(request);
        QVERIFY(with.prefillChunks.size() > 1);
        QCOMPARE(with.outputTokens.size(), 24u);
        compare(with, without);
        QCOMPARE(without.kv.back().allocatedBytes, 0u);
    }

    // Public case 58.
    void theSameRequestGivesTheSameAnswer_data() { addBackends(); }
    void theSameRequestGivesTheSameAnswer()
    {
        QFETCH(BackendChoice, backend);
        start(backend, m_path);
        Request request = longRequest();
        request.reusesPrefix = false;
        const RunRecord first = run(request);
        compare(first, run(request));
        compare(first, run(request));
        request.reusesPrefix = true;
        const RunRecord reused = run(request);
        QCOMPARE(reused.reusedTokens, static_cast<int>(first.promptTokens.size()) - 1); // the run says so
        compare(first, reused);
    }

    void theNumberOfThreadsDoesNotChangeTheAnswer()
    {
        start(BackendChoice::Cpu, m_path, 1);
        const RunRecord one = run(longRequest());
        QCOMPARE(one.engine.threads, 1);
        start(BackendChoice::Cpu, m_path, 3);
        const RunRecord three = run(longRequest());
        QCOMPARE(three.engine.threads, 3);
        compare(one, three);
    }

    void autoIsTheCpu()
    {
        start(BackendChoice::Auto, m_path);
        QCOMPARE(m_engine.loaded()->engine.backend, std::string("cpu"));
    }

    // Public case 59: a seed repeats an answer and leaves the temperature alone.
    void aSeedRepeatsAnAnswer()
    {
        start(BackendChoice::Cpu, m_path);
        Request request = longRequest();
        request.sampling.temperature = 1.5f;
        request.sampling.seed = 7;
        const RunRecord first = run(request);
        const RunRecord second = run(request);
        request.sampling.seed = 8;
        const RunRecord other = run(request);
        compare(first, second);
        QCOMPARE(first.request.sampling.temperature, 1.5f);
        const auto ids = [](const RunRecord &record) {
            std::vector<TokenId> list;
            for (const TokenRecord &token : record.outputTokens)
                list.push_back(token.id);
            return list;
        };
        QVERIFY(ids(first) != ids(other));
    }

    void logitsAreThoseOfTheNextToken()
    {
        start(BackendChoice::Cpu, m_path);
        const RunRecord record = run(longRequest());
        std::vector<TokenId> ids;
        for (const TokenRecord &token : record.promptTokens)
            ids.push_back(token.id);
        const Result<std::vector<float>> logits = m_engine.logits(ids, StopFlag());
        QVERIFY(logits);
        const auto best = std::max_element(logits->begin(), logits->end()) - logits->begin();
        QCOMPARE(static_cast<TokenId>(best), record.outputTokens[0].id);
    }

    // Random weights give what good models do not: broken characters and control tokens in the middle.
    void everyRunCanBeSavedAndOpened_data()
    {
        QTest::addColumn<TinyVocabulary>("vocabulary");
        QTest::newRow("byte BPE") << TinyVocabulary::ByteBpe;
        QTest::newRow("SentencePiece") << TinyVocabulary::SentencePiece;
    }

    void everyRunCanBeSavedAndOpened()
    {
        QFETCH(TinyVocabulary, vocabulary);
        TinyModelSpec spec;
        spec.vocabulary = vocabulary;
        start(BackendChoice::Cpu, writeTinyModel(m_folder.path().toStdString(), "any.gguf", spec));
        Request base;
        base.maxTokens = 30;
        base.sampling.temperature = 3;
        std::vector<Request> requests;
        for (const char *text : {"Tea \u00e9\U0001F469\u200D\U0001F680 <s>", " two  spaces", "x", ""})
            for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
                Request request = base;
                request.text = text;
                request.sampling.seed = seed;
                requests.push_back(request);
                request.parseSpecial = true;
                request.stops = {"e", "th"};
                requests.push_back(request);
                request.cache = CacheMode::None;
                requests.push_back(request);
                request.kind = PromptKind::Chat;
                request.messages = {{"user", text}};
                requests.push_back(request);
            }
        requests.push_back(base);
        requests.back().kind = PromptKind::Ids;
        requests.back().ids = {1, 2, 5, 200, 3};
        requests.push_back(requests.back());
        requests.back().ids = {999'999}; // refused
        for (const Request &request : requests)
            for (const int cancelAfter : {-1, 0, 1, 7}) {
                const RunRecord record = run(request, cancelAfter);
                const Result<RunRecord> opened = runFromJson(toJson(record));
                QVERIFY2(opened, opened ? "" : opened.error().text().c_str());
                QCOMPARE(toJson(*opened), toJson(record));
            }
    }

    void aRealModelCompletesASentence()
    {
        const auto path = modelPath();
        if (!path)
            QSKIP(kModelFileName);
        start(BackendChoice::Cpu, *path);
        Request request;
        request.text = "The capital of France is";
        request.maxTokens = 20;
        request.stops = {"."};
        const RunRecord record = run(request);
        QVERIFY(runFromJson(toJson(record)));
        QCOMPARE(record.answer(), std::string(" Paris"));
        QCOMPARE(record.finishReason, FinishReason::StopString);
        QCOMPARE(record.engine.kvBytesPerToken, 23'040u); // 2 · 30 layers · 3 KV heads · 64 · 2 bytes
        QCOMPARE(record.kv.back().usedBytes, 23'040u * static_cast<std::uint64_t>(record.kv.back().tokens));
    }
};

QTEST_APPLESS_MAIN(TestEngineModels)
#include "tst_engine_models.moc"
