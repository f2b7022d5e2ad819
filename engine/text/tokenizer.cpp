// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/tokenizer.h"

#include "engine/base/file.h"
#include "engine/base/utf8.h"
#include "engine/text/byte_bpe_tokenizer.h"
#include "engine/text/sentencepiece_tokenizer.h"
#include "engine/text/vocabulary_loader.h"

#include <fstream>
#include <utility>

namespace lectern {

namespace {

constexpr std::uint64_t kMaxModelFileBytes = 256ull << 20; // the largest published .model files have about 16 MB

bool startsLikeGguf(const std::filesystem::path &path)
{
    char magic[4] = {};
    std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
    return std::string_view(magic, sizeof magic) == "GGUF";
}

} // namespace

Result<std::unique_ptr<Tokenizer>> loadTokenizer(const GgufFile &file)
{
    auto vocabulary = readVocabulary(file);
    if (!vocabulary)
        return tl::unexpected(vocabulary.error());
    if (vocabulary->model == "gpt2")
        return ByteBpeTokenizer::load(file, std::move(*vocabulary));
    if (vocabulary->model == "llama")
        return SentencePieceTokenizer::load(file, std::move(*vocabulary));
    return fail(ErrorCode::Unsupported,
                "key tokenizer.ggml.model: tokenizer '" + printableText(vocabulary->model) + "' is not supported",
                file.path().string(), "This version knows: gpt2 (byte-level BPE), llama (SentencePiece)");
}

Result<std::unique_ptr<Tokenizer>> loadSentencePieceModel(const std::filesystem::path &path)
{
    const auto bytes = readFile(path, kMaxModelFileBytes);
    if (!bytes)
        return tl::unexpected(bytes.error());
    return SentencePieceTokenizer::loadModel(*bytes, path.string());
}

Result<std::unique_ptr<Tokenizer>> openTokenizer(const std::filesystem::path &path)
{
    if (!startsLikeGguf(path))
        return loadSentencePieceModel(path);
    const auto file = GgufFile::open(path);
    if (!file)
        return tl::unexpected(file.error());
    return loadTokenizer(*file);
}

} // namespace lectern
