// SPDX-License-Identifier: GPL-3.0-or-later
// Sample prompts: the lesson's sentence, a short question, a text of a few pages.
#pragma once

#include <QString>

#include <vector>

namespace lectern {

struct SamplePrompt
{
    QString title;  // translated
    QString lesson; // what it shows, translated
    QString system; // system message in chat mode; "": the template decides
    QString text;   // as it goes to the model, not translated
};

std::vector<SamplePrompt> samplePrompts();

} // namespace lectern
