// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/prompt_counts.h"

#include "app/core/format.h"

#include <QCoreApplication>
#include <QStringList>
#include <QTextBoundaryFinder>

namespace lectern {

namespace {

struct PromptCountsText
{
    Q_DECLARE_TR_FUNCTIONS(lectern::PromptCountsText)

public:
    int words = 0;
    int characters = 0; // as people count them: grapheme clusters

    explicit PromptCountsText(const QString &text)
    {
        bool inWord = false;
        for (const QChar character : text) {
            const bool isSpace = character.isSpace();
            words += !isSpace && !inWord;
            inWord = !isSpace;
        }
        QTextBoundaryFinder finder(QTextBoundaryFinder::Grapheme, text);
        while (finder.toNextBoundary() >= 0)
            ++characters;
    }

    QStringList sizes(const PromptCounts &counts) const
    {
        QStringList parts{tr("%n word(s)", nullptr, words), tr("%n character(s)", nullptr, characters)};
        if (!counts.hasModel) {
            parts << tr("tokens: load a model");
        } else if (counts.tokens > 0) {
            parts << QStringLiteral("<b>%1</b>").arg(tr("%Ln token(s)", nullptr, counts.tokens));
            if (words > 0)
                parts << tr("%1 words/token").arg(formatNumber(static_cast<double>(words) / counts.tokens));
        }
        return parts;
    }

    // What a run would be refused for, or end early by; "" when everything fits.
    static QString shortage(const PromptCounts &counts)
    {
        const QString sent = formatCount(counts.sentTokens), context = formatCount(counts.contextTokens);
        const int room = counts.contextTokens - counts.sentTokens;
        if (room < 0)
            return tr("%1 tokens to send, but the context holds %2: shorten the prompt, or enlarge the context under "
                      "More")
                .arg(sent, context);
        if (room == 0)
            return tr("%1 tokens fill the context of %2, no room for an answer: shorten the prompt, or enlarge the "
                      "context under More")
                .arg(sent, context);
        return tr("room for %1 of at most %2 answer tokens in the context of %3")
            .arg(formatCount(room), formatCount(counts.maxTokens), context);
    }
};

} // namespace

QString promptCountsText(const PromptCounts &counts, const Theme &theme)
{
    const QString sizes = PromptCountsText(counts.text).sizes(counts).join(QStringLiteral(" · "));
    const bool isKnown = counts.contextTokens > 0 && counts.sentTokens > 0;
    if (!isKnown || counts.sentTokens + counts.maxTokens <= counts.contextTokens)
        return sizes;
    const QString shortage = PromptCountsText::shortage(counts);
    const bool isRefused = counts.sentTokens >= counts.contextTokens;
    return sizes + QStringLiteral("<br>") +
           (isRefused ? QStringLiteral("<b style='color:%1'>%2</b>").arg(theme.error.name(), shortage) : shortage);
}

} // namespace lectern
