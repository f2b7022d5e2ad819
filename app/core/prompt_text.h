// SPDX-License-Identifier: GPL-3.0-or-later
// Text from an input field as the engine takes it: UTF-8. Line ends and everything else stay as they are; only lone
// surrogates, which UTF-8 cannot hold, become U+FFFD and are counted (openai/tiktoken#82).
#pragma once

#include <QString>

#include <string>

namespace lectern {

struct PromptUtf8
{
    std::string text;
    int replacedCount = 0;
};
PromptUtf8 toPromptUtf8(const QString &text);

} // namespace lectern
