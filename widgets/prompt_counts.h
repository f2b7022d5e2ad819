// SPDX-License-Identifier: GPL-3.0-or-later
// The line below the prompt editor: words, characters and tokens, and whether what is sent leaves room for an answer.
#pragma once

#include "widgets/theme.h"

#include <QString>

namespace lectern {

struct PromptCounts
{
    QString text;
    int tokens = 0;     // of the text; 0: not yet known
    int sentTokens = 0; // those of the template and added ones included
    bool hasModel = false;
    int contextTokens = 0; // limit of prompt and answer together; 0: not known
    int maxTokens = 0;     // longest answer asked for
};

QString promptCountsText(const PromptCounts &counts, const Theme &theme); // rich text

} // namespace lectern
