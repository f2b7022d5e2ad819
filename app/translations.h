// SPDX-License-Identifier: GPL-3.0-or-later
// The texts of the window in the user's language.
#pragma once

#include <QString>

class QCoreApplication;

namespace lectern {

// Installs the catalogue of the program and that of Qt for `language` ("de"; empty: the system's languages in their
// order) and makes the language the one numbers are written in. Texts without a catalogue stay English, with English
// plural forms. Once, before the first widget. The application owns what is installed.
void installTranslations(QCoreApplication &application, const QString &language);

} // namespace lectern
