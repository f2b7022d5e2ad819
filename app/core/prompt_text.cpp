// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/prompt_text.h"

#include "engine/base/utf8.h"

namespace lectern {

PromptUtf8 toPromptUtf8(const QString &text)
{
    PromptUtf8 result;
    result.text.reserve(static_cast<std::size_t>(text.size()));
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar unit = text[i];
        if (!unit.isSurrogate()) {
            appendUtf8(result.text, unit.unicode());
        } else if (unit.isHighSurrogate() && i + 1 < text.size() && text[i + 1].isLowSurrogate()) {
            appendUtf8(result.text, QChar::surrogateToUcs4(unit, text[i + 1]));
            ++i;
        } else {
            appendUtf8(result.text, QChar::ReplacementCharacter);
            ++result.replacedCount;
        }
    }
    return result;
}

} // namespace lectern
