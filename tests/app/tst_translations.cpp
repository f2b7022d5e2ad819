// SPDX-License-Identifier: GPL-3.0-or-later
// The catalogues are complete and true to their sources, and the window in German is German and readable.
#include "app/core/error_text.h"
#include "app/main_window.h"
#include "app/translations.h"
#include "tests/support/tiny_model.h"
#include "widgets/prompt_pane.h"

#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QDir>
#include <QFile>
#include <QHash>
#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProcess>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QToolBar>
#include <QToolButton>
#include <QTranslator>
#include <QXmlStreamReader>
#include <QtTest>

#include <algorithm>
#include <memory>

using namespace lectern;

namespace {

constexpr int kLoadMs = 30'000;
constexpr int kRunMs = 60'000;

struct Message
{
    QString context, source, type;
    QStringList translations; // one, or one for each plural form
    bool isPlural = false;
};

QDir catalogueFolder()
{
    return QDir(QStringLiteral(LECTERN_TEST_DATA "/../../translations"));
}

std::vector<Message> readCatalogue(const QString &path)
{
    std::vector<Message> messages;
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return messages;
    QXmlStreamReader xml(&file);
    QString context;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement)
            continue;
        if (xml.name() == QLatin1String("name")) {
            context = xml.readElementText();
        } else if (xml.name() == QLatin1String("message")) {
            messages.push_back(
                {context, {}, {}, {}, xml.attributes().value(QLatin1String("numerus")) == QLatin1String("yes")});
        } else if (xml.name() == QLatin1String("source")) {
            messages.back().source = xml.readElementText();
        } else if (xml.name() == QLatin1String("translation")) {
            messages.back().type = xml.attributes().value(QLatin1String("type")).toString();
            if (!messages.back().isPlural)
                messages.back().translations << xml.readElementText();
        } else if (xml.name() == QLatin1String("numerusform")) {
            messages.back().translations << xml.readElementText();
        }
    }
    return xml.hasError() ? std::vector<Message>{} : messages;
}

// "%1", "%Ln" … in alphabetical order.
QStringList placeholders(const QString &text)
{
    static const QRegularExpression pattern(QStringLiteral("%L?[0-9n]"));
    QStringList found;
    for (auto match = pattern.globalMatch(text); match.hasNext();)
        found << match.next().captured();
    found.sort();
    return found;
}

// A text of the line below the prompt editor.
QString counted(const char *text, int count)
{
    return QCoreApplication::translate("lectern::PromptCountsText", text, nullptr, count);
}

QString trailing(const QString &text)
{
    return text.endsWith(u'…') || text.endsWith(u':') ? text.right(1) : QString();
}

// Texts in the window that are sources of the German catalogue and translated otherwise everywhere.
QStringList englishTexts(const MainWindow &window)
{
    QHash<QString, bool> isEnglish;
    for (const Message &message : readCatalogue(catalogueFolder().filePath(QStringLiteral("lectern_de.ts"))))
        for (const QString &translation : message.translations)
            isEnglish[message.source] = isEnglish.value(message.source, true) && translation != message.source;
    QStringList texts;
    for (const QAction *action : window.findChildren<QAction *>())
        texts << action->text() << action->toolTip();
    for (const QWidget *widget : window.findChildren<QWidget *>()) {
        texts << widget->toolTip() << widget->accessibleName() << widget->windowTitle();
        if (const auto *label = qobject_cast<const QLabel *>(widget))
            texts << label->text();
        if (const auto *button = qobject_cast<const QAbstractButton *>(widget))
            texts << button->text();
        if (const auto *editor = qobject_cast<const QPlainTextEdit *>(widget))
            texts << editor->placeholderText();
        if (const auto *table = qobject_cast<const QAbstractItemView *>(widget); table && table->model())
            for (int i = 0; i < table->model()->columnCount(); ++i)
                texts << table->model()->headerData(i, Qt::Horizontal).toString();
    }
    QStringList english;
    std::copy_if(texts.begin(), texts.end(), std::back_inserter(english),
                 [&](const QString &text) { return isEnglish.value(text); });
    return english;
}

// Labels, buttons and column names that have less room than their text needs.
QStringList cutTexts(const MainWindow &window)
{
    QStringList cut;
    for (const QWidget *widget : window.findChildren<QWidget *>()) {
        if (!widget->isVisible())
            continue;
        if (const auto *header = qobject_cast<const QHeaderView *>(widget)) {
            for (int i = 0; i < header->count(); ++i)
                if (!header->isSectionHidden(i) && header->sectionSize(i) < header->sectionSizeHint(i))
                    cut << header->model()->headerData(i, Qt::Horizontal).toString();
            continue;
        }
        const auto *label = qobject_cast<const QLabel *>(widget);
        const auto *button = qobject_cast<const QAbstractButton *>(widget);
        const QString text = label ? label->text() : button ? button->text() : QString();
        if (text.isEmpty())
            continue;
        const QRect place(widget->mapTo(&window, QPoint()), widget->size());
        const bool isCut = label && label->wordWrap() ? widget->height() < widget->heightForWidth(widget->width())
                                                      : widget->width() < widget->minimumSizeHint().width();
        if (isCut || !window.rect().contains(place))
            cut << QStringLiteral("%1 “%2”").arg(widget->objectName(), text);
    }
    return cut;
}

} // namespace

class TestTranslations : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    void removeTranslators()
    {
        for (QTranslator *translator : qApp->findChildren<QTranslator *>())
            delete translator;
        QLocale::setDefault(QLocale::c());
    }

private slots:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        test::writeTinyModel(m_folder.path().toStdString(), "tiny.gguf");
    }

    void cleanup() { removeTranslators(); }

    void everyMessageIsTranslatedTrueToItsSource_data()
    {
        QTest::addColumn<QString>("path");
        for (const QFileInfo &file : catalogueFolder().entryInfoList({QStringLiteral("*.ts")}))
            QTest::newRow(qPrintable(file.baseName())) << file.filePath();
    }

    void everyMessageIsTranslatedTrueToItsSource()
    {
        QFETCH(QString, path);
        const std::vector<Message> messages = readCatalogue(path);
        QVERIFY(messages.size() >= 10);
        for (const Message &message : messages) {
            QVERIFY2(message.type.isEmpty(), qPrintable(message.type + QStringLiteral(": ") + message.source));
            QVERIFY2(!message.translations.isEmpty(), qPrintable(message.source));
            for (const QString &translation : message.translations) {
                const QByteArray where = QString(message.source + QStringLiteral(" -> ") + translation).toUtf8();
                QVERIFY2(!translation.isEmpty(), where);
                QVERIFY2(placeholders(translation) == placeholders(message.source), where);
                QVERIFY2(trailing(translation) == trailing(message.source), where);
                QVERIFY2(translation.count(u'&') <= message.source.count(u'&'), where);
                QVERIFY2(!translation.contains(QStringLiteral("(s)")), where);
            }
        }
    }

    // A new text in the source needs: cmake --build <folder> --target update_translations, and its translation.
    void cataloguesAreInStepWithTheSource()
    {
        const QString updater = qEnvironmentVariable("LECTERN_LUPDATE");
        if (!QFile::exists(updater))
            QSKIP("LECTERN_LUPDATE names no lupdate");
        const QDir source(QStringLiteral(LECTERN_TEST_DATA "/../.."));
        const QString fresh = m_folder.filePath(QStringLiteral("lectern_de.ts"));
        QProcess process;
        process.setWorkingDirectory(source.path());
        process.start(updater,
                      {QStringLiteral("-I"), QStringLiteral("."), QStringLiteral("app"), QStringLiteral("widgets"),
                       QStringLiteral("-locations"), QStringLiteral("none"), QStringLiteral("-ts"), fresh});
        QVERIFY(process.waitForFinished(kRunMs));
        const auto keys = [](const std::vector<Message> &messages) {
            QStringList list;
            for (const Message &message : messages)
                list << message.context + QStringLiteral(": ") + message.source;
            list.sort();
            return list;
        };
        const QStringList found = keys(readCatalogue(fresh));
        QVERIFY(found.size() > 300);
        QCOMPARE(keys(readCatalogue(catalogueFolder().filePath(QStringLiteral("lectern_de.ts")))), found);
    }

    void pluralsAreRightInEnglishAndInLanguagesWithoutACatalogue_data()
    {
        QTest::addColumn<QString>("language");
        for (const char *language : {"en", "en_GB", "C", "is", "zh_CN"})
            QTest::newRow(language) << QString::fromLatin1(language);
    }

    void pluralsAreRightInEnglishAndInLanguagesWithoutACatalogue()
    {
        QFETCH(QString, language);
        installTranslations(*qApp, language);
        QCOMPARE(counted("%Ln token(s)", 1), QStringLiteral("1 token"));
        QCOMPARE(counted("%Ln token(s)", 0), QStringLiteral("0 tokens"));
        QCOMPARE(counted("%Ln token(s)", 21), QStringLiteral("21 tokens"));
        QCOMPARE(PromptPane::tr("Raw"), QStringLiteral("Raw"));
    }

    void englishTextsHaveLatinDigits()
    {
        for (const char *language : {"ar_EG", "fa_IR", "hi_IN", "tr_TR"}) {
            installTranslations(*qApp, QString::fromLatin1(language));
            QCOMPARE(QLocale().toString(48), QStringLiteral("48"));
        }
    }

    void germanIsFoundForEveryGermanLocale_data()
    {
        QTest::addColumn<QString>("language");
        for (const char *language : {"de", "de_DE", "de_AT"})
            QTest::newRow(language) << QString::fromLatin1(language);
    }

    void germanIsFoundForEveryGermanLocale()
    {
        QFETCH(QString, language);
        installTranslations(*qApp, language);
        QCOMPARE(PromptPane::tr("Raw"), QStringLiteral("Roh"));
        QCOMPARE(counted("%n word(s)", 1), QStringLiteral("1 Wort"));
        QCOMPARE(counted("%n word(s)", 2), QStringLiteral("2 Wörter"));
        QCOMPARE(QLocale().decimalPoint(), QStringLiteral(","));
    }

    void everyErrorAndWarningOfTheEngineHasGermanWords()
    {
        const auto texts = [] {
            QStringList list;
            for (int code = 0; code <= static_cast<int>(ErrorCode::Numerics); ++code)
                for (int task = 0; task <= static_cast<int>(ErrorTask::Export); ++task)
                    list << errorHeadline(static_cast<ErrorCode>(code), static_cast<ErrorTask>(task));
            for (int kind = 0; kind < kWarningKinds; ++kind)
                list << warningHeadline(static_cast<WarningKind>(kind));
            return list;
        };
        const QStringList english = texts();
        installTranslations(*qApp, QStringLiteral("de"));
        const QStringList german = texts();
        for (int i = 0; i < english.size(); ++i) {
            for (const QString &sentence : english.at(i).split(QStringLiteral(". ")))
                QVERIFY2(!german.at(i).contains(sentence), qPrintable(german.at(i)));
        }
    }

    void aFileThatIsNoModelIsRefusedInGermanWithTheExactReason()
    {
        installTranslations(*qApp, QStringLiteral("de"));
        Settings settings(m_folder.filePath(QStringLiteral("settings.ini")));
        MainWindow window(&settings);
        const QString path = m_folder.filePath(QStringLiteral("page.gguf"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("<!DOCTYPE html>") > 0);
        file.close();
        QSignalSpy loaded(&window, &MainWindow::loadEnded);
        window.loadModel(path);
        QVERIFY(loaded.wait(kLoadMs) && !loaded.at(0).at(0).toBool());
        QVERIFY(window.findChild<QLabel *>(QStringLiteral("messageText"))
                    ->text()
                    .startsWith(QStringLiteral("Das Modell wurde nicht geladen.")));
        QVERIFY(
            window.findChild<QLabel *>(QStringLiteral("messageDetail"))->text().contains(QStringLiteral("page.gguf")));
    }

    void theToolBarHidesNothing_data()
    {
        QTest::addColumn<QString>("language");
        QTest::addColumn<QSize>("size");
        QTest::addColumn<bool>("isProjector");
        for (const char *language : {"en", "de"})
            for (const QSize size : {QSize(1280, 800), QSize(1024, 640), QSize(800, 600)})
                for (const bool isProjector : {false, true})
                    QTest::addRow("%s %d%s", language, size.width(), isProjector ? " projector" : "")
                        << QString::fromLatin1(language) << size << isProjector;
    }

    // What has no room in the bar is in the menu More, nothing behind the arrow that Qt puts at its end.
    void theToolBarHidesNothing()
    {
        QFETCH(QString, language);
        QFETCH(QSize, size);
        QFETCH(bool, isProjector);
        installTranslations(*qApp, language);
        Settings settings(m_folder.filePath(QStringLiteral("settings.ini")));
        MainWindow window(&settings);
        window.setTheme(ThemeChoice::Light, isProjector);
        window.resetLayout(size);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        QTRY_COMPARE(window.size(), size);
        auto *bar = window.findChild<QToolBar *>(QStringLiteral("runToolBar"));
        QTRY_VERIFY(!bar->findChild<QToolButton *>(QStringLiteral("qt_toolbar_ext_button"))->isVisible());
        for (const char *name : {"modelButton", "runButton", "samplingButton", "samplesButton", "exportButton"}) {
            const auto *button = bar->findChild<QToolButton *>(QLatin1String(name));
            QVERIFY2(button->isVisible() && bar->rect().contains(button->geometry()), name);
        }
        QVERIFY(bar->findChild<QToolButton *>(QStringLiteral("runButton"))->toolButtonStyle() !=
                Qt::ToolButtonIconOnly);
        for (const char *name : {"backendBox", "maxTokens", "temperature", "seed"}) {
            const auto *field = bar->findChild<QWidget *>(QLatin1String(name));
            const auto *twin = bar->findChild<QWidget *>(QLatin1String(name) + QStringLiteral("Twin"));
            QVERIFY2(field->isVisible() == twin->isHidden(), name);
        }
        window.setTheme(ThemeChoice::Light, false);
    }

    void theGermanWindowIsGermanAndCutsNothingOff_data()
    {
        QTest::addColumn<QSize>("size");
        QTest::newRow("1280 x 800") << QSize(1280, 800);
        QTest::newRow("1024 x 640") << QSize(1024, 640);
    }

    void theGermanWindowIsGermanAndCutsNothingOff()
    {
        QFETCH(QSize, size);
        installTranslations(*qApp, QStringLiteral("de"));
        Settings settings(m_folder.filePath(QStringLiteral("settings.ini")));
        MainWindow window(&settings);
        window.resetLayout(size);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        QSignalSpy loaded(&window, &MainWindow::loadEnded);
        window.loadModel(m_folder.filePath(QStringLiteral("tiny.gguf")));
        QVERIFY(loaded.wait(kLoadMs) && loaded.at(0).at(0).toBool());
        window.findChild<QSpinBox *>(QStringLiteral("maxTokens"))->setValue(24);
        window.setPrompt(QStringLiteral("the model reads"));
        QSignalSpy ended(&window, &MainWindow::runEnded);
        window.startRun();
        QVERIFY(!ended.isEmpty() || ended.wait(kRunMs));
        QTRY_COMPARE(window.size(), size);

        QCOMPARE(englishTexts(window), QStringList());
        QTRY_COMPARE(cutTexts(window), QStringList()); // docks move in an animation
        QCOMPARE(window.findChild<QAction *>(QStringLiteral("run"))->text(), QStringLiteral("Start"));
    }
};

QTEST_MAIN(TestTranslations)
#include "tst_translations.moc"
