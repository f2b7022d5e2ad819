// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/samples.h"

#include <QCoreApplication>
#include <QFile>

namespace lectern {

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("lectern::Samples", text);
}

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
    return {
        {tr("The lesson's sentence"), tr("Eight words, but a model reads tokens: some words are several."),
         QStringLiteral("Serving LLMs is not like serving web apps.")},
        {tr("A short question"), tr("Little to read, little to write: most of the time goes to decode."),
         QStringLiteral("What's the capital of France?")},
        {tr("A text of a few pages"),
         tr("Much to read: prefill decides, and the KV cache fills before the first token."), longText()},
    };
}

} // namespace lectern
