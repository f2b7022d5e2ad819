// SPDX-License-Identifier: GPL-3.0-or-later
// The schema pass: what a good file gives, and that each way of being wrong is refused with key or tensor named.
#include "engine/model/model.h"
#include "tests/support/model_draft.h"
#include "tests/support/models.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>

using namespace lectern;
using lectern::test::GgufWriter;
using lectern::test::ModelDraft;

namespace {

struct WrongFile
{
    const char *name;
    std::function<void(ModelDraft &)> change;
    ErrorCode code;
    const char *text; // what the error says after the path
};

const float kNan = std::numeric_limits<float>::quiet_NaN();
const float kInfinity = std::numeric_limits<float>::infinity();

const std::vector<WrongFile> kWrongFiles = {
    {"no architecture", [](ModelDraft &d) { d.removeKey("general.architecture"); }, ErrorCode::NotFound,
     "key general.architecture is missing"},
    {"unknown architecture", [](ModelDraft &d) { d.text("general.architecture", "mamba"); }, ErrorCode::Unsupported,
     "key general.architecture: architecture \"mamba\" is not known to this version. Choose a model of one of these "
     "architectures: llama."},
    {"split model", [](ModelDraft &d) { d.number("split.count", 3); }, ErrorCode::Unsupported,
     "key split.count: the file is one of 3 parts of a split model"},
    {"no layers", [](ModelDraft &d) { d.number("llama.block_count", 0); }, ErrorCode::BadFormat,
     "key llama.block_count: is 0, allowed are 1 to 512"},
    {"too many layers", [](ModelDraft &d) { d.number("llama.block_count", 513); }, ErrorCode::BadFormat,
     "key llama.block_count: is 513, allowed are 1 to 512"},
    {"more layers than tensors", [](ModelDraft &d) { d.number("llama.block_count", 3); }, ErrorCode::BadFormat,
     "tensor blk.2.attn_norm.weight: is missing"},
    {"fewer layers than tensors", [](ModelDraft &d) { d.number("llama.block_count", 1); }, ErrorCode::Unsupported,
     "tensor blk.1.attn_norm.weight: has no place in a llama model of 1 layers"},
    {"key missing", [](ModelDraft &d) { d.removeKey("llama.feed_forward_length"); }, ErrorCode::NotFound,
     "key llama.feed_forward_length is missing"},
    {"key of another type", [](ModelDraft &d) { d.text("llama.embedding_length", "64"); }, ErrorCode::BadFormat,
     "key llama.embedding_length: "},
    {"negative number",
     [](ModelDraft &d) { d.set("llama.context_length", [](GgufWriter &w, const std::string &k) { w.addI32(k, -1); }); },
     ErrorCode::BadFormat, "key llama.context_length: "},
    {"context without bound", [](ModelDraft &d) { d.number("llama.context_length", 0xFFFFFFFF); }, ErrorCode::BadFormat,
     "key llama.context_length: is 4294967295, allowed are 1 to 16777216"},
    {"no heads", [](ModelDraft &d) { d.number("llama.attention.head_count", 0); }, ErrorCode::BadFormat,
     "key llama.attention.head_count: is 0, allowed are 1 to 4096"},
    {"no KV heads", [](ModelDraft &d) { d.number("llama.attention.head_count_kv", 0); }, ErrorCode::BadFormat,
     "key llama.attention.head_count_kv: is 0, allowed are 1 to 4096"},
    {"KV heads that do not divide the heads", [](ModelDraft &d) { d.number("llama.attention.head_count_kv", 3); },
     ErrorCode::BadFormat, "key llama.attention.head_count_kv: is 3, which does not divide attention.head_count 4"},
    {"heads that do not divide the width",
     [](ModelDraft &d) {
         d.number("llama.attention.head_count", 3);
         d.number("llama.attention.head_count_kv", 3);
     },
     ErrorCode::BadFormat, "key llama.attention.head_count: is 3, which does not divide embedding_length 64"},
    {"heads that differ between layers",
     [](ModelDraft &d) {
         d.list("llama.attention.key_length", {16, 32});
     },
     ErrorCode::Unsupported, "key llama.attention.key_length: differs from layer to layer"},
    {"a list that is too short", [](ModelDraft &d) { d.list("llama.feed_forward_length", {96}); }, ErrorCode::BadFormat,
     "key llama.feed_forward_length: is a list of 1 numbers; expected one number, or one for each of 2 layers"},
    {"an empty list", [](ModelDraft &d) { d.list("llama.feed_forward_length", {}); }, ErrorCode::BadFormat,
     "key llama.feed_forward_length: "},
    {"values of another length than keys", [](ModelDraft &d) { d.number("llama.attention.value_length", 8); },
     ErrorCode::Unsupported, "key llama.attention.value_length: is 8 and differs from the key length 16"},
    {"odd rope dimensions", [](ModelDraft &d) { d.number("llama.rope.dimension_count", 15); }, ErrorCode::BadFormat,
     "key llama.rope.dimension_count: is 15; it must be even and at most the head size 16"},
    {"more rope dimensions than a head has", [](ModelDraft &d) { d.number("llama.rope.dimension_count", 18); },
     ErrorCode::BadFormat, "key llama.rope.dimension_count: is 18; it must be even and at most the head size 16"},
    {"epsilon that is no number", [](ModelDraft &d) { d.real("llama.attention.layer_norm_rms_epsilon", kNan); },
     ErrorCode::BadFormat, "key llama.attention.layer_norm_rms_epsilon: is not a finite number"},
    {"negative epsilon", [](ModelDraft &d) { d.real("llama.attention.layer_norm_rms_epsilon", -1e-5f); },
     ErrorCode::BadFormat, "key llama.attention.layer_norm_rms_epsilon: must lie between 0 and 1"},
    {"infinite rope base", [](ModelDraft &d) { d.real("llama.rope.freq_base", kInfinity); }, ErrorCode::BadFormat,
     "key llama.rope.freq_base: is not a finite number"},
    {"rope base 0", [](ModelDraft &d) { d.real("llama.rope.freq_base", 0); }, ErrorCode::BadFormat,
     "key llama.rope.freq_base: must be 1 or more"},
    {"yarn", [](ModelDraft &d) { d.text("llama.rope.scaling.type", "yarn"); }, ErrorCode::Unsupported,
     "key llama.rope.scaling.type: rope scaling \"yarn\" is not supported by this version"},
    {"linear scaling",
     [](ModelDraft &d) {
         d.text("llama.rope.scaling.type", "linear");
         d.real("llama.rope.scaling.factor", 4);
     },
     ErrorCode::Unsupported, "key llama.rope.scaling.factor: asks for scaled rope, which this version cannot run"},
    {"old key of linear scaling", [](ModelDraft &d) { d.real("llama.rope.scale_linear", 2); }, ErrorCode::Unsupported,
     "key llama.rope.scale_linear: asks for scaled rope"},
    {"experts", [](ModelDraft &d) { d.number("llama.expert_count", 8); }, ErrorCode::Unsupported,
     "key llama.expert_count: asks for mixture of experts"},
    {"a window shorter than the context", [](ModelDraft &d) { d.number("llama.attention.sliding_window", 64); },
     ErrorCode::Unsupported, "key llama.attention.sliding_window: asks for windowed attention"},

    {"no embedding", [](ModelDraft &d) { d.removeTensor("token_embd.weight"); }, ErrorCode::BadFormat,
     "tensor token_embd.weight: is missing"},
    {"embedding of another width",
     [](ModelDraft &d) {
         d.setShape("token_embd.weight", {32, 40});
     },
     ErrorCode::BadFormat, "tensor token_embd.weight: shape is [32, 40], expected [64, vocabulary]"},
    {"tensor missing", [](ModelDraft &d) { d.removeTensor("blk.1.ffn_up.weight"); }, ErrorCode::BadFormat,
     "tensor blk.1.ffn_up.weight: is missing"},
    {"matrix turned round",
     [](ModelDraft &d) {
         d.setShape("blk.0.ffn_down.weight", {64, 96});
     },
     ErrorCode::BadFormat, "tensor blk.0.ffn_down.weight: shape is [64, 96], expected [96, 64]"},
    {"a dimension too many",
     [](ModelDraft &d) {
         d.setShape("blk.0.attn_q.weight", {64, 32, 2});
     },
     ErrorCode::BadFormat, "tensor blk.0.attn_q.weight: shape is [64, 32, 2], expected [64, 64]"},
    {"a dimension too few", [](ModelDraft &d) { d.setShape("blk.0.attn_k.weight", {2048}); }, ErrorCode::BadFormat,
     "tensor blk.0.attn_k.weight: shape is [2048], expected [64, 32]"},
    {"short norm", [](ModelDraft &d) { d.setShape("output_norm.weight", {63}); }, ErrorCode::BadFormat,
     "tensor output_norm.weight: shape is [63], expected [64]"},
    {"short output",
     [](ModelDraft &d) {
         d.setShape("output.weight", {64, 39});
     },
     ErrorCode::BadFormat, "tensor output.weight: shape is [64, 39], expected [64, 40]"},
    {"short rope factors", [](ModelDraft &d) { d.setShape("rope_freqs.weight", {16}); }, ErrorCode::BadFormat,
     "tensor rope_freqs.weight: shape is [16], expected [8]"},
    {"norm that is not F32", [](ModelDraft &d) { d.setType("blk.0.attn_norm.weight", 1, 128); }, ErrorCode::Unsupported,
     "tensor blk.0.attn_norm.weight: is F16, expected F32"},
    {"a tensor that nobody reads", [](ModelDraft &d) { d.setShape("blk.0.attn_q.bias", {64}); }, ErrorCode::Unsupported,
     "tensor blk.0.attn_q.bias: has no place in a llama model of 2 layers"},
    {"known type that cannot be run",
     [](ModelDraft &d) {
         d.number("llama.feed_forward_length", 256);
         for (const char *block : {"blk.0.", "blk.1."}) {
             d.setShape(std::string(block) + "ffn_gate.weight", {64, 256});
             d.setShape(std::string(block) + "ffn_up.weight", {64, 256});
             d.setShape(std::string(block) + "ffn_down.weight", {256, 64});
         }
         d.setType("blk.0.ffn_down.weight", 14, 64 * 210);
     },
     ErrorCode::Unsupported,
     "tensor blk.0.ffn_down.weight is Q6_K, which this version cannot run yet. Choose a file whose weights are F32, "},
    {"more pieces than rows", [](ModelDraft &d) { d.texts("tokenizer.ggml.tokens", 41); }, ErrorCode::BadFormat,
     "key tokenizer.ggml.tokens: has 41 pieces, but token_embd.weight has 40 rows"},
    {"special id without a row", [](ModelDraft &d) { d.number("tokenizer.ggml.eot_token_id", 40); },
     ErrorCode::BadFormat, "key tokenizer.ggml.eot_token_id: is 40, but token_embd.weight has 40 rows"},
};

} // namespace

class TestModel : public QObject
{
    Q_OBJECT

private:
    Result<Model> open(const std::string &bytes)
    {
        std::ofstream(path(), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        auto file = GgufFile::open(path());
        if (!file)
            return tl::unexpected(file.error());
        return openModel(std::make_shared<const GgufFile>(std::move(*file)));
    }
    Result<Model> open(const ModelDraft &draft) { return open(draft.bytes()); }

    std::string path() const { return m_folder.filePath("model.gguf").toStdString(); }

    QTemporaryDir m_folder;

private slots:
    void aGoodFileGivesItsShape()
    {
        const auto model = open(ModelDraft());
        QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
        const ModelSpec &spec = model->spec;
        QCOMPARE(spec.name, std::string("Draft"));
        QCOMPARE(std::string(spec.architecture->name), std::string("llama"));
        QCOMPARE(spec.quantisation, std::string("F32"));
        QCOMPARE(spec.layerCount(), 2);
        QCOMPARE(spec.width, 64);
        QCOMPARE(spec.layers[1].heads, 4);
        QCOMPARE(spec.layers[1].kvHeads, 2);
        QCOMPARE(spec.layers[1].keySize, 16); // width / heads, as there is no key_length
        QCOMPARE(spec.layers[1].ropeDims, 16);
        QCOMPARE(spec.layers[1].feedForward, 96);
        QCOMPARE(spec.vocabulary, 40);
        QCOMPARE(spec.contextLength, 128);
        QCOMPARE(spec.normEpsilon, 1e-5f);
        QCOMPARE(spec.layers[1].ropeBase, 10000.0f);
        QVERIFY(spec.hasTiedOutput);
        const std::uint64_t perLayer = 64 + 64 * 64 + 64 * 32 + 64 * 32 + 64 * 64 + 64 + 3 * 64 * 96;
        QCOMPARE(spec.parameters, 64 * 40 + 2 * perLayer + 64);
        QCOMPARE(spec.weightBytes, 4 * spec.parameters);
        QCOMPARE(model->layers.size(), std::size_t(2));
        QCOMPARE(model->layers[1].down->name, std::string("blk.1.ffn_down.weight"));
        QCOMPARE(model->output, model->tokenEmbedding);
        QVERIFY(model->ropeFactors == nullptr);
    }

    void wrongFilesAreRefusedByName_data()
    {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < kWrongFiles.size(); ++i)
            QTest::newRow(kWrongFiles[i].name) << static_cast<int>(i);
    }

    void wrongFilesAreRefusedByName()
    {
        QFETCH(int, index);
        const WrongFile &wrong = kWrongFiles[static_cast<std::size_t>(index)];
        ModelDraft draft;
        wrong.change(draft);
        const auto model = open(draft);
        QVERIFY2(!model.has_value(), "the file was accepted");
        const std::string text = model.error().text();
        QVERIFY2(text.starts_with(path() + ": " + wrong.text), text.c_str());
        QCOMPARE(model.error().code, wrong.code);
    }

    // Public case 32: the type is named before anything else is said; the directory stays readable.
    void anUnknownTensorTypeIsNamed()
    {
        GgufWriter writer;
        writer.addTensor("t", {8}, 250, std::string(32, '\0'));
        const auto model = open(writer.bytes());
        QVERIFY(!model.has_value());
        QCOMPARE(model.error().code, ErrorCode::Unsupported);
        QVERIFY2(model.error().text().starts_with(path() + ": tensor t: type 250 not known to this version"),
                 model.error().text().c_str());
        QVERIFY(GgufFile::open(path()).has_value());
    }

    void defaultsFillInForMissingKeys()
    {
        ModelDraft draft;
        draft.removeKey("llama.attention.head_count_kv");
        draft.removeKey("llama.rope.dimension_count");
        draft.removeKey("llama.rope.freq_base");
        draft.removeKey("general.name");
        for (const char *name :
             {"blk.0.attn_k.weight", "blk.0.attn_v.weight", "blk.1.attn_k.weight", "blk.1.attn_v.weight"})
            draft.setShape(name, {64, 64});
        const auto model = open(draft);
        QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
        QCOMPARE(model->spec.layers[1].kvHeads, 4);
        QCOMPARE(model->spec.layers[1].ropeDims, 16);
        QCOMPARE(model->spec.layers[1].ropeBase, 10000.0f);
        QCOMPARE(model->spec.name, std::string("model")); // the file's
    }

    // Trap: head size is key_length, not width / heads; the output projection is then not square.
    void headSizeComesFromKeyLength()
    {
        ModelDraft draft;
        draft.number("llama.attention.key_length", 32);
        draft.number("llama.attention.value_length", 32);
        for (const std::string block : {"blk.0.", "blk.1."}) {
            draft.setShape(block + "attn_q.weight", {64, 128});
            draft.setShape(block + "attn_k.weight", {64, 64});
            draft.setShape(block + "attn_v.weight", {64, 64});
            draft.setShape(block + "attn_output.weight", {128, 64});
        }
        const auto model = open(draft);
        QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
        QCOMPARE(model->spec.layers[1].keySize, 32);
        QCOMPARE(model->spec.layers[1].ropeDims, 16);
        QCOMPARE(model->spec.layers[1].qWidth(), 128);
        QCOMPARE(model->spec.kvBytesPerToken(2), std::uint64_t(2 * 2 * 2 * 32 * 2));
    }

    void integersOfAnyWidthAndEqualListsAreAccepted()
    {
        ModelDraft draft;
        draft.set("llama.block_count", [](GgufWriter &w, const std::string &k) { w.addU64(k, 2); });
        draft.set("llama.context_length", [](GgufWriter &w, const std::string &k) { w.addI32(k, 128); });
        draft.set("llama.embedding_length",
                  [](GgufWriter &w, const std::string &k) { w.addRaw(k, 2, std::string("\x40\x00", 2)); });
        draft.list("llama.attention.head_count", {4, 4});
        draft.list("llama.attention.head_count_kv", {2, 2});
        draft.list("llama.feed_forward_length", {96, 96});
        const auto model = open(draft);
        QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
        QCOMPARE(model->spec.layers[1].kvHeads, 2);
        QCOMPARE(model->spec.layers[1].feedForward, 96);
    }

    void layersMayDiffer()
    {
        ModelDraft draft;
        draft.list("llama.attention.head_count_kv", {2, 4});
        draft.list("llama.feed_forward_length", {96, 64});
        draft.setShape("blk.1.attn_k.weight", {64, 64});
        draft.setShape("blk.1.attn_v.weight", {64, 64});
        draft.setShape("blk.1.ffn_gate.weight", {64, 64});
        draft.setShape("blk.1.ffn_up.weight", {64, 64});
        draft.setShape("blk.1.ffn_down.weight", {64, 64});
        const auto model = open(draft);
        QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
        QCOMPARE(model->spec.layers[0].kvHeads, 2);
        QCOMPARE(model->spec.layers[1].kvHeads, 4);
        QCOMPARE(model->spec.layers[1].feedForward, 64);
        QCOMPARE(model->spec.widest(&LayerSpec::feedForward), 96);
        QCOMPARE(model->spec.kvBytesPerToken(2), std::uint64_t((2 + 4) * (16 + 16) * 2));
    }

    void keysThatChangeNothingAreAccepted()
    {
        ModelDraft draft;
        draft.text("llama.rope.scaling.type", "linear");
        draft.real("llama.rope.scaling.factor", 1);
        draft.number("llama.expert_count", 0);
        draft.number("llama.attention.sliding_window", 128); // as long as the context
        const auto model = open(draft);
        QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
    }

    void ownOutputAndRopeFactorsAreFound()
    {
        ModelDraft draft;
        draft.setShape("output.weight", {64, 40});
        draft.setShape("rope_freqs.weight", {8});
        const auto model = open(draft);
        QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
        QVERIFY(!model->spec.hasTiedOutput);
        QCOMPARE(model->output->name, std::string("output.weight"));
        QCOMPARE(model->ropeFactors->name, std::string("rope_freqs.weight"));
    }

    void moreRowsThanPiecesAreAccepted()
    {
        ModelDraft draft;
        draft.setShape("token_embd.weight", {64, 64});
        const auto model = open(draft);
        QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
        QCOMPARE(model->spec.vocabulary, 64);
    }

    void aNameThatIsNoTextDoesNoHarm()
    {
        ModelDraft draft;
        draft.text("general.name", "bad \xff\n" + std::string(1000, 'n'));
        const auto model = open(draft);
        QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
        QVERIFY(model->spec.name.starts_with("bad \xEF\xBF\xBD nnn"));
        QVERIFY(model->spec.name.size() < 150);
    }

    void theRealModelHasItsPublishedShape()
    {
        const auto path = lectern::test::modelPath();
        if (!path)
            QSKIP("SmolLM2-135M-Instruct.Q4_1.gguf is not there");
        auto file = GgufFile::open(*path);
        QVERIFY(file.has_value());
        const auto model = openModel(std::make_shared<const GgufFile>(std::move(*file)));
        QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
        const ModelSpec &spec = model->spec;
        QCOMPARE(spec.layerCount(), 30);
        QCOMPARE(spec.width, 576);
        QCOMPARE(spec.layers[1].heads, 9);
        QCOMPARE(spec.layers[1].kvHeads, 3);
        QCOMPARE(spec.layers[1].keySize, 64);
        QCOMPARE(spec.vocabulary, 49152);
        QCOMPARE(spec.contextLength, 8192);
        QCOMPARE(spec.layers[1].ropeBase, 100000.0f);
        QCOMPARE(spec.quantisation, std::string("Q4_1"));
        QCOMPARE(spec.parameters, std::uint64_t(134'515'008));
        QCOMPARE(spec.kvBytesPerToken(2), std::uint64_t(23'040));
        QVERIFY(spec.hasTiedOutput);
    }
};

QTEST_APPLESS_MAIN(TestModel)
#include "tst_model.moc"
