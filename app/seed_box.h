// SPDX-License-Identifier: GPL-3.0-or-later
// Input field for a seed: any 64 bits. QSpinBox ends at 31 of them, and a double holds 53.
#pragma once

#include <QAbstractSpinBox>

#include <optional>

namespace lectern {

std::optional<quint64> seedIn(const QString &text); // digits alone, nothing around them

class SeedBox : public QAbstractSpinBox
{
    Q_OBJECT
    Q_PROPERTY(quint64 value READ value WRITE setValue NOTIFY valueChanged) // what screen readers say

public:
    explicit SeedBox(QWidget *parent = nullptr);

    quint64 value() const { return m_value; }
    void setValue(quint64 value);
    void stepBy(int steps) override; // stops at both ends
    QValidator::State validate(QString &text, int &position) const override;
    QSize sizeHint() const override;

Q_SIGNALS:
    void valueChanged(quint64 value); // while typing too

protected:
    StepEnabled stepEnabled() const override;

private:
    void take(quint64 value);
    quint64 m_value = 0;
};

} // namespace lectern
