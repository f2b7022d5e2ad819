// SPDX-License-Identifier: GPL-3.0-or-later
// Input fields for numbers as the tool bar and its menu have them.
#pragma once

class QDoubleSpinBox;
class QSpinBox;
class QWidget;

namespace lectern {

// Takes "0,7" and "0.7" alike, whatever the locale.
QDoubleSpinBox *decimalBox(QWidget *parent, const char *name, double least, double most, double step, int decimals);
QSpinBox *wholeBox(QWidget *parent, const char *name, int least, int most);

} // namespace lectern
