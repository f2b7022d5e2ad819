// SPDX-License-Identifier: GPL-3.0-or-later
// Line breaks of token texts: as in any plain text, but a special token such as <|im_end|> that fits into a line is not
// cut in two. Qt would break it after the first "|". The text and its positions stay as they are.
#pragma once

#include "widgets/token_spans.h"

#include <QPlainTextDocumentLayout>

namespace lectern {

class TokenLayout : public QPlainTextDocumentLayout
{
    Q_OBJECT

public:
    // `spans` are those of the document's text, ascending. They may change, and go before the layout does, as long as
    // nobody asks it for lines any more.
    TokenLayout(QTextDocument *document, const std::vector<TokenSpan> *spans);

    // Lays the block out where that has not been done: all that needs a line goes through here.
    QRectF blockBoundingRect(const QTextBlock &block) const override;
    // The lines of blocks with a special token depend on the spans: after these have changed.
    void forgetLines(const std::vector<TokenSpan> &changed);

private:
    bool cutsSpecial(const QTextBlock &block) const;
    void breakAround(const QTextBlock &block) const;
    const TokenSpan *specialAcross(int position) const;
    const std::vector<TokenSpan> *m_spans;
};

} // namespace lectern
