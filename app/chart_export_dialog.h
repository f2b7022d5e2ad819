// SPDX-License-Identifier: GPL-3.0-or-later
// Asks for format, size and scale of a chart picture, and whether it becomes a file or goes to the clipboard.
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
    ChartExportDialog(const QString &chartTitle, const ChartExportOptions &start, bool isDark, QWidget *parent);
    ChartExportOptions options() const;
    bool usesDarkTheme() const;
    bool copies() const { return m_copies; } // accepted with "Copy": as pixels, whatever the format

private:
    void updateResult();
    QComboBox *m_format;
    QSpinBox *m_width;
    QSpinBox *m_height;
    QDoubleSpinBox *m_scale;
    QCheckBox *m_dark;
    QLabel *m_result;
    bool m_copies = false;
};

} // namespace lectern
