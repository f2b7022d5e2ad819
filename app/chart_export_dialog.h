// SPDX-License-Identifier: GPL-3.0-or-later
// Asks for format, size and scale of a chart picture.
#pragma once

#include "widgets/chart_export.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QSpinBox;

namespace lectern {

class ChartExportDialog : public QDialog
{
    Q_OBJECT

public:
    ChartExportDialog(const QString &chartTitle, QWidget *parent);
    ChartExportOptions options() const;
    bool usesDarkTheme() const;

private:
    void updateResult();
    QComboBox *m_format;
    QSpinBox *m_width;
    QSpinBox *m_height;
    QDoubleSpinBox *m_scale;
    QCheckBox *m_dark;
    QLabel *m_result;
};

} // namespace lectern
