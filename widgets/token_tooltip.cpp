// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/token_tooltip.h"

#include "app/core/format.h"

#include <QCoreApplication>

#include <cmath>

namespace lectern {

namespace {

struct TokenToolTip
{
    Q_DECLARE_TR_FUNCTIONS(lectern::TokenToolTip)
};

QString row(const QString &name, const QString &value)
{
    return QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td><b>%2</b></td></tr>").arg(name, value.toHtmlEscaped());
}

} // namespace

QString tokenToolTip(const TokenRecord &token, TokenPart part, int index, int promptCount)
{
    const int position = part == TokenPart::Prompt ? index : promptCount + index;
    QString html = QStringLiteral("<div style='white-space:pre'><b>%1</b>%2</div><table>")
                       .arg(visibleTokenText(token.bytes).toHtmlEscaped(),
                            token.isSpecial ? QStringLiteral(" &nbsp;<i>%1</i>").arg(TokenToolTip::tr("special token"))
                                            : QString());
    html += row(TokenToolTip::tr("id"), QString::number(token.id));
    html += row(TokenToolTip::tr("bytes"), hexBytes(token.bytes));
    html += row(TokenToolTip::tr("position in context"), QString::number(position + 1));
    if (part == TokenPart::Output) {
        html +=
            row(TokenToolTip::tr("probability"), TokenToolTip::tr("%1, rank %2")
                                                     .arg(formatPercent(std::exp(static_cast<double>(token.logprob))))
                                                     .arg(token.rank + 1));
        html += row(TokenToolTip::tr("log-probability"), formatNumber(static_cast<double>(token.logprob)));
        html += row(TokenToolTip::tr("step"), formatDuration(static_cast<double>(token.stepNs)));
        html += row(TokenToolTip::tr("after submission"), formatDuration(static_cast<double>(token.timeNs)));
        html += row(TokenToolTip::tr("KV cache after it"),
                    TokenToolTip::tr("%1; tokens: %2").arg(formatBytes(token.kvBytes)).arg(token.kvTokens));
    }
    return html + QStringLiteral("</table>");
}

QString tokensToolTip(const std::vector<TokenRecord> &tokens, int first, int last, TokenPart part, int promptCount)
{
    QString html;
    if (last > first)
        html = QStringLiteral("<p><i>%1</i></p>")
                   .arg(TokenToolTip::tr("One character made of %n tokens", nullptr, last - first + 1));
    constexpr int kMostShown = 4; // a tooltip has to fit a small screen
    for (int i = first; i <= last && i < first + kMostShown; ++i)
        if (i >= 0 && static_cast<std::size_t>(i) < tokens.size())
            html += tokenToolTip(tokens[static_cast<std::size_t>(i)], part, i, promptCount);
    return html;
}

} // namespace lectern
