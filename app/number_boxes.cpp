// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/number_boxes.h"

#include <QDoubleSpinBox>
#include <QLocale>
#include <QSpinBox>

namespace lectern {

namespace {

// Both marks count as the decimal mark while typing, whatever the locale: "0,7" and "0.7" are the same (engauge#442).
class DecimalBox : public QDoubleSpinBox
{
public:
    using QDoubleSpinBox::QDoubleSpinBox;

    QValidator::State validate(QString &text, int &position) const override
    {
        const QString point = locale().decimalPoint();
        text.replace(QLatin1Char(point == QLatin1String(",") ? '.' : ','), point);
        return QDoubleSpinBox::validate(text, position);
    }
};

} // namespace

QDoubleSpinBox *decimalBox(QWidget *parent, const char *name, double least, double most, double step, int decimals)
{
    auto *box = new DecimalBox(parent);
    box->setObjectName(QLatin1String(name));
    box->setRange(least, most);
    box->setSingleStep(step);
    box->setDecimals(decimals);
    box->setGroupSeparatorShown(false);
    return box;
}

QSpinBox *wholeBox(QWidget *parent, const char *name, int least, int most)
{
    auto *box = new QSpinBox(parent);
    box->setObjectName(QLatin1String(name));
    box->setRange(least, most);
    return box;
}

} // namespace lectern
