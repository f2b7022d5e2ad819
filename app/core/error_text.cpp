// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/error_text.h"

#include "app/core/format.h"

#include <QCoreApplication>

namespace lectern {

namespace {

struct ErrorText
{
    Q_DECLARE_TR_FUNCTIONS(lectern::ErrorText)

public:
    static QString outcome(ErrorTask task)
    {
        switch (task) {
        case ErrorTask::LoadModel:
            return tr("The model was not loaded.");
        case ErrorTask::OpenRun:
            return tr("The run was not opened.");
        case ErrorTask::Run:
            return tr("The run failed.");
        case ErrorTask::Tokenize:
            return tr("This text cannot be cut into tokens.");
        case ErrorTask::Export:
            return tr("Writing failed.");
        }
        return {};
    }

    static QString outOfMemory(ErrorTask task)
    {
        if (task == ErrorTask::Export)
            return tr("There is too little memory. Close other programs, or choose a smaller picture.");
        if (task == ErrorTask::OpenRun)
            return tr("There is too little memory. Close other programs, or delete runs from the list.");
        if (task == ErrorTask::Run)
            return tr(
                "The KV cache has no room for this prompt. Shorten it, or start Lectern with a larger --kv-budget.");
        return tr("There is too little memory. Close other programs, or choose a smaller model or context.");
    }

    static QString cause(ErrorCode code, ErrorTask task)
    {
        switch (code) {
        case ErrorCode::InvalidInput:
            return task == ErrorTask::Tokenize || task == ErrorTask::Run
                       ? tr("The model cannot take this prompt or this setting: change it.")
                       : tr("A setting does not fit: change it.");
        case ErrorCode::NotFound:
            if (task == ErrorTask::Export)
                return tr("The run is not there any more. Choose another one.");
            return tr("The file, or something that it must hold, is not there. Check the path or choose another file.");
        case ErrorCode::Unreadable:
            return tr("The file cannot be read. Check its rights, and that it is a file.");
        case ErrorCode::BadFormat:
            return tr("The file is damaged or not what its name says. Fetch it again or choose another one.");
        case ErrorCode::Unsupported:
            return task == ErrorTask::Tokenize || task == ErrorTask::Run
                       ? tr("The model's chat template cannot do this: use a raw prompt.")
                       : tr("The file is in order, but this version of Lectern cannot use it. Choose another one.");
        case ErrorCode::OutOfMemory:
            return outOfMemory(task);
        case ErrorCode::ContextFull:
            return tr("The prompt is longer than the context holds. Shorten it, or enlarge the context under More.");
        case ErrorCode::Cancelled:
            return tr("It was stopped.");
        case ErrorCode::WriteFailed:
            return tr(
                "The file cannot be written; an older one is untouched. Check the folder and the room on the disk.");
        case ErrorCode::Numerics:
            return tr("The model computed values that are no numbers. Its file may be damaged: try another one.");
        }
        return {};
    }

    static QString leftOut(const std::string &bytes)
    {
        return tr("%Ln byte(s) left out, since no token of the vocabulary stands for it: %1", nullptr,
                  static_cast<int>(bytes.size()))
            .arg(byteValues(bytes));
    }

    static QString warning(WarningKind kind)
    {
        switch (kind) {
        case WarningKind::DuplicatePieces:
            return tr("The vocabulary holds some pieces twice; the first one of each is used.");
        case WarningKind::KindsMissing:
            return tr("The file does not say which tokens are special: all count as text.");
        case WarningKind::PaddingToken:
            return tr("The padding token lies outside the vocabulary and is ignored.");
        case WarningKind::AddedToken:
            return tr("A begin or end token is to be added, but the file names none: none is added.");
        case WarningKind::PreTokenizerMissing:
            return tr("The file does not say how text is split: it is split as for GPT-2. Tokens may be others than in "
                      "training.");
        case WarningKind::MergesMissing:
            return tr("The file has no merges: every byte becomes a token of its own.");
        case WarningKind::MergesUnusable:
            return tr("Some merges name pieces that are not in the vocabulary and are left out.");
        case WarningKind::BytesMissing:
            return tr("Some bytes have no piece: they are left out of prompts.");
        case WarningKind::BytePiecesUnused:
            return tr("Some of the 256 byte pieces are missing: none is used.");
        }
        return {};
    }
};

} // namespace

QString errorHeadline(ErrorCode code, ErrorTask task)
{
    return ErrorText::outcome(task) + QLatin1Char(' ') + ErrorText::cause(code, task);
}

QString leftOutHeadline(const std::string &bytes)
{
    return ErrorText::leftOut(bytes);
}

QString warningHeadline(WarningKind kind)
{
    return ErrorText::warning(kind);
}

bool isWorthAMessage(WarningKind kind)
{
    return kind != WarningKind::BytesMissing && kind != WarningKind::PaddingToken &&
           kind != WarningKind::DuplicatePieces;
}

} // namespace lectern
