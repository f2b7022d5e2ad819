// SPDX-License-Identifier: GPL-3.0-or-later
// Offline help and the About text.
#pragma once

#include "app/core/engine_worker.h"

#include <QDialog>

namespace lectern {

class HelpWindow : public QDialog
{
    Q_OBJECT

public:
    // One window at a time; `language` as in the settings, "" for the system's.
    static void open(QWidget *parent, const QString &language);
    static QString aboutText(const LoadedModelPtr &model);

private:
    HelpWindow(QWidget *parent, const QString &page);
};

} // namespace lectern
