// SPDX-License-Identifier: GPL-3.0-or-later
// Tokenizes the prompt while it is typed, in a thread of its own; only the newest request counts. GUI thread outside.
#pragma once

#include "app/core/engine_worker.h"

#include <QObject>

#include <memory>

namespace lectern {

struct PromptTokens
{
    QString userText;           // what was asked about
    PreparedPrompt prepared;    // text that would be run, with its tokens
    int replacedCount = 0;      // invalid characters of userText that became U+FFFD
    std::optional<Error> error; // then `prepared` is empty
};
using PromptTokensPtr = std::shared_ptr<const PromptTokens>;

class PromptTokenizer : public QObject
{
    Q_OBJECT

public:
    explicit PromptTokenizer(QObject *parent = nullptr);
    ~PromptTokenizer() override;

    void setModel(LoadedModelPtr model); // nullptr: requests give nothing
    // Text exactly as shown; Chat requests carry it as the last user message. Replaces an unfinished request.
    void request(const QString &userText, const Request &request);

Q_SIGNALS:
    void ready(const lectern::PromptTokensPtr &tokens);

private:
    void deliver();
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace lectern
