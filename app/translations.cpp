// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/translations.h"

#include <QGuiApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QTranslator>

#include <memory>

namespace lectern {

namespace {

void install(QCoreApplication &application, std::unique_ptr<QTranslator> translator)
{
    translator->setParent(&application);
    QCoreApplication::installTranslator(translator.release());
}

} // namespace

void installTranslations(QCoreApplication &application, const QString &language)
{
    QLocale locale = language.isEmpty() ? QLocale::system() : QLocale(language);
    // Arabic digits in an English text would turn "48 / 8192" round.
    if (locale.zeroDigit() != QStringLiteral("0"))
        locale = QLocale(QLocale::English);
    QLocale::setDefault(locale);
    const QString separator = QStringLiteral("_");

    auto own = std::make_unique<QTranslator>();
    const QString folder = QStringLiteral(":/i18n");
    if (own->load(locale, QStringLiteral("lectern"), separator, folder) ||
        own->load(QStringLiteral("lectern_en"), folder))
        install(application, std::move(own));

    auto ofQt = std::make_unique<QTranslator>();
    if (ofQt->load(locale, QStringLiteral("qtbase"), separator, QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
        install(application, std::move(ofQt));
    // Qt's translation would mirror the window in locales for which it has one and Lectern has not.
    QGuiApplication::setLayoutDirection(Qt::LeftToRight);
}

} // namespace lectern
