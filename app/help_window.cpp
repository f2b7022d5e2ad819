// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/help_window.h"

#include <QDialogButtonBox>
#include <QFile>
#include <QLocale>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace lectern {

HelpWindow::HelpWindow(QWidget *parent, const QString &page)
    : QDialog(parent)
{
    setObjectName(QStringLiteral("helpWindow"));
    setWindowTitle(tr("Guide to Lectern"));
    setAttribute(Qt::WA_DeleteOnClose);
    auto *browser = new QTextBrowser(this);
    browser->setAccessibleName(tr("Guide"));
    browser->setSource(QUrl(page));
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    auto *layout = new QVBoxLayout(this);
    layout->addWidget(browser);
    layout->addWidget(buttons);
    resize(fontMetrics().averageCharWidth() * 100, fontMetrics().height() * 36);
}

void HelpWindow::open(QWidget *parent, const QString &language)
{
    if (auto *window = parent->findChild<HelpWindow *>()) {
        window->raise();
        window->activateWindow();
        return;
    }
    const QString code = (language.isEmpty() ? QLocale().name() : language).left(2);
    const QString page = QStringLiteral(":/help/%1.html").arg(code);
    (new HelpWindow(parent, QStringLiteral("qrc") + (QFile::exists(page) ? page : QStringLiteral(":/help/en.html"))))
        ->show();
}

QString HelpWindow::aboutText(const LoadedModelPtr &model)
{
    const MachineInfo machine = describeMachine();
    QStringList facts{
        QStringLiteral("Lectern " LECTERN_VERSION), QStringLiteral("Qt %1").arg(QLatin1String(qVersion())),
        QString::fromStdString(machine.system),
        QStringLiteral("%1, %2").arg(QString::fromStdString(machine.cpu), tr("%n core(s)", nullptr, machine.cores)),
        QString::fromStdString(machine.instructionSet)};
    if (model)
        facts << QStringLiteral("%1 (%2)").arg(QString::fromStdString(model->model.name).toHtmlEscaped(),
                                               QString::fromStdString(model->model.quantisation));
    return QStringLiteral("<h3>Lectern</h3><p>%1</p><p>%2</p><p>%3</p>")
        .arg(tr("A workbench to teach and learn how a language model serves a request."),
             facts.join(QStringLiteral("<br>")),
             tr("Free software under the GNU General Public License, version 3 or later."));
}

} // namespace lectern
