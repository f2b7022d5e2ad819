// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/samples.h"

#include <QCoreApplication>
#include <QFile>

namespace lectern {

namespace {

struct Samples
{
    Q_DECLARE_TR_FUNCTIONS(lectern::Samples)
};

QString longText()
{
    QFile file(QStringLiteral(":/samples/long.txt"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return QString::fromUtf8(file.readAll());
}

} // namespace

std::vector<SamplePrompt> samplePrompts()
{
    // Without a system message of its own the 135 M model misses the capital of France; llama.cpp gives the same
    // answer.
    return {
        {Samples::tr("The lesson's sentence"),
         Samples::tr("Eight words, but a model reads tokens: some words are several."),
         {},
         QStringLiteral("Serving LLMs is not like serving web apps.")},
        {Samples::tr("A short question"),
         Samples::tr("Little to read, little to write: most of the time goes to decode."),
         QStringLiteral("Answer in one sentence."), QStringLiteral("What's the capital of France?")},
        {Samples::tr("A text of a few pages"),
         Samples::tr("Much to read: prefill decides, and the KV cache fills before the first token."),
         QStringLiteral("Summarize the text in one sentence."), longText()},
    };
}

} // namespace lectern
