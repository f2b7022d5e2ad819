// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/chart_export_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>

namespace lectern {

ChartExportDialog::ChartExportDialog(const QString &chartTitle, const ChartExportOptions &start, bool isDark,
                                     QWidget *parent)
    : QDialog(parent)
{
    setObjectName(QStringLiteral("chartExportDialog"));
    setWindowTitle(tr("Save chart “%1”").arg(chartTitle));
    m_format = new QComboBox(this);
    m_format->setObjectName(QStringLiteral("format"));
    m_format->addItem(tr("PNG (pixels, for slides and pages)"), static_cast<int>(ChartFormat::Png));
    m_format->addItem(tr("SVG (vector, for editing)"), static_cast<int>(ChartFormat::Svg));
    m_format->addItem(tr("PDF (vector, for printing)"), static_cast<int>(ChartFormat::Pdf));
    m_format->setCurrentIndex(m_format->findData(static_cast<int>(start.format)));
    const auto sizeBox = [this](const char *name, int value) {
        auto *box = new QSpinBox(this);
        box->setObjectName(QLatin1String(name));
        box->setRange(200, 8000);
        box->setSingleStep(50);
        box->setValue(value);
        return box;
    };
    m_width = sizeBox("width", start.size.width());
    m_height = sizeBox("height", start.size.height());
    m_scale = new QDoubleSpinBox(this);
    m_scale->setObjectName(QStringLiteral("scale"));
    m_scale->setRange(0.5, 8);
    m_scale->setSingleStep(0.5);
    m_scale->setDecimals(2);
    m_scale->setValue(start.scale);
    m_dark = new QCheckBox(tr("Dark background"), this);
    m_dark->setObjectName(QStringLiteral("dark"));
    m_dark->setChecked(isDark);
    m_result = new QLabel(this);
    m_result->setProperty("muted", true);

    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel, this);
    buttons->button(QDialogButtonBox::Save)->setText(tr("Choose file…"));
    QPushButton *copy = buttons->addButton(tr("Copy to clipboard"), QDialogButtonBox::ActionRole);
    copy->setObjectName(QStringLiteral("copy"));
    copy->setToolTip(tr("As pixels of this size and scale, whatever the format"));
    auto *form = new QFormLayout(this);
    form->addRow(tr("&Format"), m_format);
    form->addRow(tr("&Width"), m_width);
    form->addRow(tr("&Height"), m_height);
    form->addRow(tr("&Scale"), m_scale);
    form->addRow(QString(), m_dark);
    form->addRow(QString(), m_result);
    form->addRow(buttons);

    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(copy, &QPushButton::clicked, this, [this] {
        m_copies = true;
        accept();
    });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_format, &QComboBox::currentIndexChanged, this, &ChartExportDialog::updateResult);
    for (QSpinBox *box : {m_width, m_height})
        connect(box, &QSpinBox::valueChanged, this, &ChartExportDialog::updateResult);
    connect(m_scale, &QDoubleSpinBox::valueChanged, this, &ChartExportDialog::updateResult);
    updateResult();
}

ChartExportOptions ChartExportDialog::options() const
{
    ChartExportOptions options;
    options.format = static_cast<ChartFormat>(m_format->currentData().toInt());
    options.size = QSize(m_width->value(), m_height->value());
    options.scale = m_scale->value();
    return options;
}

bool ChartExportDialog::usesDarkTheme() const
{
    return m_dark->isChecked();
}

void ChartExportDialog::updateResult()
{
    const ChartExportOptions chosen = options();
    const QSize pixels = chosen.size * chosen.scale;
    const QString pixelText = tr("%1 × %2 pixels").arg(pixels.width()).arg(pixels.height());
    m_result->setText(chosen.format == ChartFormat::Png
                          ? tr("File and clipboard: %1.").arg(pixelText)
                          : tr("File: vector graphics, sharp at every size. Clipboard: %1.").arg(pixelText));
}

} // namespace lectern
