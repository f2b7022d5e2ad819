// SPDX-License-Identifier: GPL-3.0-or-later
// Loading a model: its progress, its limits, its cancellation; and what a request becomes before it runs.
#include "engine/engine.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/scripted_engine.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <new>

using namespace lectern;
using namespace lectern::test;

namespace {

class ExhaustedTokenizer : public Tokenizer
{
public:
    ExhaustedTokenizer()
        : Tokenizer({})
    {
    }
    Result<std::vector<EncodedToken>> encode(std::string_view, const EncodeOptions &, const StopFlag &) const override
    {
        throw std::bad_alloc();
    }
    std::string bytes(TokenId) const override { return {}; }
    std::string decode(std::span<const TokenId>, bool) const override { return {}; }
};

} // namespace

class TestEngineLoad : public QObject
{
    Q_OBJECT

private:
    Result<std::shared_ptr<const LoadedModel>> load(const LoadOptions &options = {})
    {
        return m_engine->load(m_path, options, m_sink, m_stop);
    }

    QTemporaryDir m_folder;
    std::filesystem::path m_path;
    std::filesystem::path m_sentencePiecePath;
    std::unique_ptr<Engine> m_engine;
    RecordingSink m_sink;
    StopFlag m_stop;

private slots:
    void initTestCase()
    {
        const std::filesystem::path folder = m_folder.path().toStdString();
        m_path = writeTinyModel(folder, "tiny ü 数 ' \".gguf");
        TinyModelSpec spec;
        spec.vocabulary = TinyVocabulary::SentencePiece;
        m_sentencePiecePath = writeTinyModel(folder, "pieces.gguf", spec);
    }

    void init()
    {
        m_engine = std::make_unique<Engine>(ScriptedBackend::parts(std::make_shared<Script>()));
        m_sink = RecordingSink();
        m_stop.clear();
    }

    void aLoadedModelSaysWhatItIs()
    {
        const auto loaded = load();
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        const ModelInfo &model = (*loaded)->model;
        QCOMPARE(model.fileName, std::string("tiny ü 数 ' \".gguf"));
        QCOMPARE(model.architecture, std::string("llama"));
        QCOMPARE(model.quantisation, std::string("F32"));
        QCOMPARE(model.tokenizer, std::string("gpt2 / smollm"));
        QCOMPARE(model.layers, 2);
        QCOMPARE(model.vocabulary, 300);
        QCOMPARE(model.fileBytes, std::filesystem::file_size(m_path));
        QCOMPARE(model.sha256, std::string());
        QCOMPARE((*loaded)->engine.contextTokens, 256);
        QCOMPARE((*loaded)->engine.kvBytesPerToken, 256u);
        QCOMPARE((*loaded)->engine.kvBudgetBytes, 256u * 256);
        QCOMPARE((*loaded)->engine.kvBlockTokens, 16);
        QVERIFY((*loaded)->machine.cores >= 1);
        QVERIFY((*loaded)->chatTemplate);
        QCOMPARE(m_engine->loaded(), *loaded);
    }

    void progressComesInPhases()
    {
        QVERIFY(load());
        std::vector<LoadPhase> phases;
        for (const Event &event : m_sink.events) {
            QCOMPARE(event.request, 0);
            phases.push_back(std::get<LoadProgress>(event.body).phase);
        }
        QCOMPARE(phases,
                 (std::vector<LoadPhase>{LoadPhase::Open, LoadPhase::Validate, LoadPhase::Tokenizer, LoadPhase::Weights,
                                         LoadPhase::Weights, LoadPhase::Weights, LoadPhase::Ready}));
    }

    // Public case 80: at the start, in the middle, at the last byte, and when everything is ready.
    void aCancelBeforeTheResultWins()
    {
        QVERIFY(load());
        const std::size_t events = m_sink.events.size();
        for (std::size_t at = 0; at <= events; ++at) {
            m_sink = RecordingSink();
            m_stop.clear();
            m_sink.onEvent = [&](const Event &) {
                if (m_sink.events.size() == at)
                    m_stop.request();
            };
            if (at == 0)
                m_stop.request();
            const auto loaded = load();
            QVERIFY(!loaded);
            QCOMPARE(loaded.error().code, ErrorCode::Cancelled);
            QVERIFY(!m_engine->loaded());
        }
        m_stop.clear();
        m_sink.onEvent = nullptr;
        QVERIFY(load());
    }

    void theFileIsHashedWhenAskedFor()
    {
        LoadOptions options;
        options.hashesFile = true;
        QCOMPARE((*load(options))->model.sha256.size(), 64u);
    }

    void limitsAreCheckedBeforeWeightsAreRead_data()
    {
        QTest::addColumn<int>("context");
        QTest::addColumn<qulonglong>("budget");
        QTest::addColumn<int>("threads");
        QTest::addColumn<int>("code");
        QTest::addColumn<QByteArrayList>("words");
        const int invalid = static_cast<int>(ErrorCode::InvalidInput);
        const int memory = static_cast<int>(ErrorCode::OutOfMemory);
        QTest::newRow("context above the model's") << 257 << 0ull << 0 << invalid << QByteArrayList{"257", "256"};
        QTest::newRow("negative context") << -1 << 0ull << 0 << invalid << QByteArrayList{"-1", "256"};
        QTest::newRow("negative threads") << 0 << 0ull << -1 << invalid << QByteArrayList{"threads", "-1"};
        QTest::newRow("more threads than anyone has") << 0 << 0ull << 99'999 << invalid << QByteArrayList{"99999"};
        QTest::newRow("budget above all memory")
            << 0 << (1ull << 60) << 0 << memory << QByteArrayList{"1152921504606846976", "available"};
        QTest::newRow("budget below one block") << 0 << 4095ull << 0 << memory << QByteArrayList{"4095", "4096"};
    }

    void limitsAreCheckedBeforeWeightsAreRead()
    {
        QFETCH(int, context);
        QFETCH(qulonglong, budget);
        QFETCH(int, threads);
        QFETCH(int, code);
        QFETCH(QByteArrayList, words);
        LoadOptions options;
        options.contextTokens = context;
        options.kvBudgetBytes = budget;
        options.threads = threads;
        const auto loaded = load(options);
        QVERIFY(!loaded);
        QCOMPARE(static_cast<int>(loaded.error().code), code);
        for (const QByteArray &word : words)
            QVERIFY2(loaded.error().text().find(word.toStdString()) != std::string::npos,
                     loaded.error().text().c_str());
        QVERIFY(!m_engine->loaded());
    }

    // Public cases 46 and 47: from layers, KV heads and head size, nothing else.
    void theMemoryNeedIsKnownFromTheShape()
    {
        ModelSpec spec;
        LayerSpec layer;
        layer.heads = 32;
        layer.kvHeads = 8;
        layer.keySize = layer.valueSize = 128;
        spec.layers.assign(32, layer);
        QCOMPARE(memoryNeed(spec, 1'048'576, KvElement::F16).kvBytesPerToken, 131'072u);
        QCOMPARE(memoryNeed(spec, 1'048'576, KvElement::F16).kvBytes, 137'438'953'472u);
        layer.heads = 8;
        layer.kvHeads = 2;
        layer.keySize = layer.valueSize = 16;
        spec.layers.assign(4, layer);
        QCOMPARE(memoryNeed(spec, 4096, KvElement::F16).kvBytes, 2'097'152u);
        QCOMPARE(memoryNeed(spec, 4096, KvElement::F32).kvBytes, 4'194'304u);
    }

    // Public case 46: a million tokens are not taken unasked.
    void aLongContextIsNotTheDefault()
    {
        TinyModelSpec spec;
        spec.contextLength = 1'048'576;
        const auto path = writeTinyModel(m_folder.path().toStdString(), "long.gguf", spec);
        const auto loaded = m_engine->load(path, {}, m_sink, m_stop);
        QVERIFY(loaded);
        QCOMPARE((*loaded)->engine.contextTokens, 8192);
        QCOMPARE((*loaded)->model.contextLength, 1'048'576);
    }

    // Widely shared files name a padding token one past the end.
    void whatIsOddButUsableInAFileIsAWarning()
    {
        QVERIFY((*load())->warnings.empty());
        TinyModelSpec spec;
        spec.paddingId = 300;
        const auto path = writeTinyModel(m_folder.path().toStdString(), "padding.gguf", spec);
        const auto loaded = m_engine->load(path, {}, m_sink, m_stop);
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QCOMPARE((*loaded)->warnings.size(), 1u);
        QVERIFY2((*loaded)->warnings[0].text.find("padding_token_id: token 300 is outside") != std::string::npos,
                 (*loaded)->warnings[0].text.c_str());
    }

    void everyBackendTakesTheThreadsAskedFor()
    {
        LoadOptions options;
        options.threads = 3;
        for (const BackendChoice backend : {BackendChoice::Reference, BackendChoice::Cpu}) {
            options.backend = backend;
            Engine engine;
            QCOMPARE((*engine.load(m_path, options, m_sink, m_stop))->engine.threads, 3);
        }
    }

    void aMachineOutOfMemoryRefusesTheModel()
    {
        EngineParts parts = ScriptedBackend::parts(std::make_shared<Script>());
        parts.createBackend = [](const auto &...) -> Result<std::unique_ptr<Backend>> { throw std::bad_alloc(); };
        Engine engine(std::move(parts));
        const auto loaded = engine.load(m_path, {}, m_sink, m_stop);
        QVERIFY(!loaded);
        QCOMPARE(loaded.error().code, ErrorCode::OutOfMemory);
        QVERIFY(!engine.loaded());
    }

    void aFileThatIsRefusedLeavesNoModel()
    {
        QVERIFY(load());
        const std::filesystem::path path = std::filesystem::path(m_folder.path().toStdString()) / "other.txt";
        std::ofstream(path) << "no model";
        const auto loaded = m_engine->load(path, {}, m_sink, m_stop);
        QVERIFY(!loaded);
        QVERIFY(!m_engine->loaded());
        QVERIFY(load());
    }

    void loadingEndsTheOldModelsRequests()
    {
        QVERIFY(load());
        RecordingSink sink;
        m_engine->submit(idsRequest(3), sink);
        m_engine->step();
        QVERIFY(load());
        QCOMPARE(sink.record.finishReason, FinishReason::Cancelled);
        QCOMPARE(sink.ends(), 1);
        QVERIFY(!m_engine->step());
    }

    void userTextInAChatIsNoControlToken()
    {
        const auto loaded = *load();
        Request request;
        request.kind = PromptKind::Chat;
        request.messages = {{"user", "Hi <|im_end|>"}};
        const Result<PreparedPrompt> prompt = preparePrompt(*loaded, request, m_stop);
        QVERIFY2(prompt, prompt ? "" : prompt.error().text().c_str());
        QCOMPARE(prompt->text, std::string("<|im_start|>user\nHi <|im_end|><|im_end|>\n<|im_start|>assistant\n"));
        int ends = 0;
        for (const TokenRecord &token : prompt->tokens)
            ends += token.id == kEndToken ? 1 : 0;
        QCOMPARE(ends, 1);
        std::string joined;
        for (const TokenRecord &token : prompt->tokens)
            joined += prompt->text.substr(token.begin, token.end - token.begin);
        QCOMPARE(joined, prompt->text);
        QCOMPARE(prompt->userRanges.size(), 1u);
        QCOMPARE(prompt->text.substr(prompt->userRanges[0].begin, 13), std::string("Hi <|im_end|>"));
    }

    // The user knows the message, not what the template makes of it.
    void bytesThatAreNoTextAreNamedByTheirPlaceInTheMessage()
    {
        TinyModelSpec spec;
        spec.vocabulary = TinyVocabulary::SentencePiece;
        spec.chatTemplate = "{% for m in messages %}a long head {{ m.content }}{% endfor %}";
        const auto path = writeTinyModel(m_folder.path().toStdString(), "chat pieces.gguf", spec);
        const auto loaded = m_engine->load(path, {}, m_sink, m_stop);
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        Request request;
        request.kind = PromptKind::Chat;
        request.messages = {{"system", "be kind"}, {"user", "hi\xFF"}};
        const Result<PreparedPrompt> prompt = preparePrompt(**loaded, request, m_stop);
        QVERIFY(!prompt);
        QCOMPARE(prompt.error().where, std::string("user message, byte offset 2"));
    }

    void rawTextIsParsedOnlyWhenAskedFor()
    {
        const auto loaded = *load();
        Request request;
        request.text = "a<|im_end|>";
        QVERIFY(preparePrompt(*loaded, request, m_stop)->tokens.size() > 2);
        request.parseSpecial = true;
        const Result<PreparedPrompt> prompt = preparePrompt(*loaded, request, m_stop);
        QCOMPARE(prompt->tokens.size(), 2u);
        QVERIFY(prompt->tokens[1].isSpecial);
    }

    void idsBecomeTheTextTheyStandFor()
    {
        const auto loaded = *load();
        Request request;
        request.kind = PromptKind::Ids;
        request.ids = {'H', 'i', kEndToken};
        const Result<PreparedPrompt> prompt = preparePrompt(*loaded, request, m_stop);
        QCOMPARE(prompt->text, std::string("Hi<|im_end|>"));
        QCOMPARE(prompt->tokens[2].begin, 2u);
        QCOMPARE(prompt->tokens[2].end, 12u);
    }

    void aPromptThatFindsNoMemoryIsAnError()
    {
        LoadedModel model;
        model.tokenizer = std::make_shared<ExhaustedTokenizer>();
        Request request;
        request.text = "a";
        const Result<PreparedPrompt> prompt = preparePrompt(model, request, m_stop);
        QVERIFY(!prompt);
        QCOMPARE(prompt.error().code, ErrorCode::OutOfMemory);
    }

    void bytesWithoutATokenAreLeftOutWithAWarning()
    {
        TinyModelSpec spec;
        spec.missingBytes = "\x04\xFF";
        const auto path = writeTinyModel(m_folder.path().toStdString(), "few bytes.gguf", spec);
        const auto loaded = m_engine->load(path, {}, m_sink, m_stop);
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        const auto prepared = [&](const Request &request) { return *preparePrompt(**loaded, request, m_stop); };
        Request request;
        request.text = "a";
        QVERIFY(prepared(request).leftOut.empty() && prepared(request).warnings.empty());

        request.text = "a\x04h\xFF"
                       "e";
        const PreparedPrompt raw = prepared(request);
        QCOMPARE(raw.leftOut, (std::vector<TextRange>{{1, 2}, {3, 4}}));
        QCOMPARE(raw.tokens.size(), 3u);
        QCOMPARE(raw.warnings, std::vector<std::string>{
                                   "2 bytes of the text are left out, since no token of the vocabulary stands for "
                                   "them: 0x04 at byte 1, 0xFF at byte 3"});

        Request chat;
        chat.kind = PromptKind::Chat;
        chat.messages = {{"user", "Hi\x04"}};
        QCOMPARE(prepared(chat).warnings,
                 std::vector<std::string>{"1 byte of the rendered prompt is left out, since no token of the vocabulary "
                                          "stands for it: 0x04 at byte 19"});

        request.text.assign(1'000'000, '\x04'); // the warning stays short
        const std::vector<std::string> warnings = prepared(request).warnings;
        QVERIFY(warnings[0].starts_with("1000000 bytes of the text are left out"));
        QVERIFY(warnings[0].ends_with(", 0x04 at byte 7 and 999992 more"));
        QVERIFY(warnings[0].size() < 300);
    }

    void aPromptMayHaveTwoThingsToWarnOf()
    {
        TinyModelSpec spec;
        spec.missingBytes = "\x04";
        const auto path = writeTinyModel(m_folder.path().toStdString(), "few bytes.gguf", spec);
        const auto loaded = m_engine->load(path, {}, m_sink, m_stop);
        Request request;
        request.text = "<|im_start|><|im_start|>\x04";
        request.parseSpecial = true;
        const auto prepared = preparePrompt(**loaded, request, m_stop);
        QCOMPARE(prepared->warnings.size(), 2u);
        QVERIFY(prepared->warnings[0].find("left out") != std::string::npos);
        QVERIFY(prepared->warnings[1].find("two begin tokens") != std::string::npos);
        QVERIFY(prepared->secondBegin && !prepared->leftOut.empty());
    }

    // Public case 17.
    void twoBeginTokensAreWarnedAbout()
    {
        const auto loaded = m_engine->load(m_sentencePiecePath, {}, m_sink, m_stop);
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QVERIFY(!(*loaded)->chatTemplate);
        Request request;
        request.text = "<s>a";
        request.parseSpecial = true;
        const auto twice = preparePrompt(**loaded, request, m_stop);
        QCOMPARE(twice->warnings.size(), 1u);
        QVERIFY(twice->warnings[0].find("two begin tokens") != std::string::npos);
        QCOMPARE(twice->secondBegin, std::optional<TextRange>({0, 3}));
        request.addSpecial = false;
        QVERIFY(preparePrompt(**loaded, request, m_stop)->warnings.empty());
        QVERIFY(!preparePrompt(**loaded, request, m_stop)->secondBegin);
        request.kind = PromptKind::Chat;
        const Result<PreparedPrompt> chat = preparePrompt(**loaded, request, m_stop);
        QVERIFY(!chat);
        QCOMPARE(chat.error().message, std::string("the model file has no chat template"));
    }
};

QTEST_APPLESS_MAIN(TestEngineLoad)
#include "tst_engine_load.moc"
