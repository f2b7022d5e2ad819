// SPDX-License-Identifier: GPL-3.0-or-later
// An engine whose model is a script and whose clock stands still unless a test moves it. In the tiny vocabulary bytes
// are their own ids.
#pragma once

#include "tests/support/recording_sink.h"
#include "tests/support/scripted_backend.h"
#include "tests/support/tiny_model.h"

#include <QTemporaryDir>
#include <QtGlobal>

#include <memory>
#include <string_view>
#include <vector>

namespace lectern::test {

inline constexpr TokenId kEndToken = 298; // <|im_end|>

// The size of a pass, under a name that leaves room for sums.
inline constexpr int kPass = kPassTokens;

inline std::vector<TokenId> bytesOf(std::string_view text)
{
    std::vector<TokenId> ids;
    for (const char c : text)
        ids.push_back(static_cast<unsigned char>(c));
    return ids;
}

inline Request idsRequest(int count, int maxTokens = 4)
{
    Request request;
    request.kind = PromptKind::Ids;
    for (int i = 0; i < count; ++i)
        request.ids.push_back('a' + i % 26);
    request.maxTokens = maxTokens;
    return request;
}

class ScriptedEngine
{
public:
    explicit ScriptedEngine(const std::string &missingBytes = {}) // that the vocabulary has no piece for
        : m_path(writeTinyModel(m_folder.path().toStdString(), "tiny.gguf",
                                {.contextLength = 4 * kPassTokens, .missingBytes = missingBytes}))
    {
    }

    // A fresh engine and script with the tiny model loaded.
    void start(const LoadOptions &options = {})
    {
        nowNs = 1000;
        script = std::make_shared<Script>();
        engine = std::make_unique<Engine>(ScriptedBackend::parts(script, [this] { return nowNs; }));
        RecordingSink sink;
        if (const auto loaded = engine->load(m_path, options, sink, StopFlag()); !loaded)
            qFatal("%s", loaded.error().text().c_str());
    }

    void finish()
    {
        while (engine->step()) {
        }
    }

    // A whole run, with the script from its beginning.
    RecordingSink run(Request request)
    {
        RecordingSink sink;
        script->step = 0;
        script->passes.clear();
        engine->submit(std::move(request), sink);
        finish();
        return sink;
    }

    std::shared_ptr<Script> script;
    std::unique_ptr<Engine> engine;
    std::int64_t nowNs = 0;

private:
    QTemporaryDir m_folder;
    std::filesystem::path m_path;
};

} // namespace lectern::test
