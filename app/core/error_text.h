// SPDX-License-Identifier: GPL-3.0-or-later
// What errors and warnings of the engine mean to the user, in the user's language. Below it the error's own text is
// shown: English with key, offset and tensor if it is the engine's, translated if it was made in app/ or widgets/.
#pragma once

#include "engine/base/result.h"
#include "engine/text/vocabulary.h"

#include <QString>

#include <string>

namespace lectern {

// What was being done when it happened.
enum class ErrorTask
{
    LoadModel,
    OpenRun,
    Run,
    Tokenize,
    Export
};

// What happened and what to do: two or three sentences.
QString errorHeadline(ErrorCode code, ErrorTask task);

// That these bytes of a prompt have no token and are left out of it.
QString leftOutHeadline(const std::string &bytes);

// What is odd about a model file that is used all the same, and what follows from it.
QString warningHeadline(WarningKind kind);
// Does it change what ordinary prompts become? The others matter to few texts or to none: SmolLM2 itself lacks bytes.
bool isWorthAMessage(WarningKind kind);

} // namespace lectern
