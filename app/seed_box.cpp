// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/seed_box.h"

#include <QLineEdit>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

namespace lectern {

namespace {

constexpr quint64 kMost = std::numeric_limits<quint64>::max();

} // namespace

std::optional<quint64> seedIn(const QString &text)
{
    const QByteArray bytes = text.toUtf8();
    quint64 value = 0;
    const auto [rest, problem] = std::from_chars(bytes.cbegin(), bytes.cend(), value);
    return problem == std::errc() && rest == bytes.cend() ? std::optional(value) : std::nullopt;
}

SeedBox::SeedBox(QWidget *parent)
    : QAbstractSpinBox(parent)
{
    lineEdit()->setText(QString::number(m_value));
    connect(lineEdit(), &QLineEdit::textEdited, this, [this](const QString &text) {
        if (const std::optional<quint64> value = seedIn(text))
            take(*value);
    });
    connect(this, &QAbstractSpinBox::editingFinished, this, [this] { setValue(m_value); }); // no empty field stays
}

void SeedBox::setValue(quint64 value)
{
    if (seedIn(lineEdit()->text()) != value)
        lineEdit()->setText(QString::number(value));
    take(value);
}

void SeedBox::take(quint64 value)
{
    if (value == m_value)
        return;
    m_value = value;
    Q_EMIT valueChanged(value);
}

void SeedBox::stepBy(int steps)
{
    const auto distance = static_cast<quint64>(std::abs(qint64{steps}));
    setValue(steps < 0 ? m_value - std::min(distance, m_value) : m_value + std::min(distance, kMost - m_value));
    selectAll();
}

QValidator::State SeedBox::validate(QString &text, int &) const
{
    if (text.isEmpty())
        return QValidator::Intermediate;
    return seedIn(text) ? QValidator::Acceptable : QValidator::Invalid;
}

QAbstractSpinBox::StepEnabled SeedBox::stepEnabled() const
{
    return (m_value > 0 ? StepDownEnabled : StepNone) | (m_value < kMost ? StepUpEnabled : StepNone);
}

QSize SeedBox::sizeHint() const
{
    QSize hint = QAbstractSpinBox::sizeHint(); // of an empty field
    hint.rwidth() += fontMetrics().horizontalAdvance(QString::number(kMost));
    return hint;
}

} // namespace lectern
