// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/more_panel.h"

#include "app/core/format.h"
#include "app/number_boxes.h"
#include "app/seed_box.h"
#include "engine/engine.h"
#include "engine/trace/request_limits.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QSpinBox>

namespace lectern {

MorePanel::MorePanel(QWidget *parent)
    : QWidget(parent)
{
    m_form = new QFormLayout(this);
    m_topK = wholeBox(this, "topK", 0, kMaxTopK);
    m_topK->setSpecialValueText(tr("off"));
    m_topK->setToolTip(tr("Only the k most likely tokens take part; 0 is off"));
    m_topP = decimalBox(this, "topP", 0, 1, 0.05, 3);
    m_topP->setToolTip(tr("The most likely tokens that together reach this probability take part; 1 is off"));
    m_minP = decimalBox(this, "minP", 0, 1, 0.01, 3);
    m_minP->setToolTip(tr("Tokens with at least this share of the best token's probability take part; 0 is off"));
    m_penalty = decimalBox(this, "repetitionPenalty", kMinRepetitionPenalty, kMaxRepetitionPenalty, 0.05, 2);
    m_penalty->setToolTip(tr("Above 1: tokens among the last 64 become less likely; 1 is off"));
    m_context = new QComboBox(this);
    m_context->setObjectName(QStringLiteral("contextBox"));
    m_context->setToolTip(tr("Most tokens of prompt and answer together. More needs more memory for keys and values. "
                             "A change loads the model again; a model made for less gets what it was made for."));
    m_context->addItem(tr("the model's, at most %1").arg(formatCount(kDefaultContextTokens)), 0);
    for (int count = 256; count <= 131072; count *= 2)
        m_context->addItem(formatCount(count), count);
    m_form->addRow(tr("top-k"), m_topK);
    m_form->addRow(tr("top-p"), m_topP);
    m_form->addRow(tr("min-p"), m_minP);
    m_form->addRow(tr("repetition penalty"), m_penalty);
    m_form->addRow(tr("context in tokens"), m_context);
    for (QWidget *input :
         {static_cast<QWidget *>(m_topK), static_cast<QWidget *>(m_topP), static_cast<QWidget *>(m_minP),
          static_cast<QWidget *>(m_penalty), static_cast<QWidget *>(m_context)})
        input->setAccessibleName(static_cast<QLabel *>(m_form->labelForField(input))->text());

    connect(m_topK, &QSpinBox::valueChanged, this, &MorePanel::changed);
    for (QDoubleSpinBox *box : {m_topP, m_minP, m_penalty})
        connect(box, &QDoubleSpinBox::valueChanged, this, &MorePanel::changed);
    connect(m_context, &QComboBox::activated, this, &MorePanel::contextChosen);
}

QWidget *MorePanel::addRow(const QString &label, QWidget *twin, const QWidget *field)
{
    twin->setObjectName(field->objectName() + QStringLiteral("Twin"));
    twin->setToolTip(field->toolTip());
    twin->setAccessibleName(field->accessibleName());
    m_form->insertRow(0, label, twin);
    m_form->setRowVisible(twin, false);
    return twin;
}

QWidget *MorePanel::addTwin(const QString &label, QSpinBox *field)
{
    auto *twin = new QSpinBox(this);
    twin->setRange(field->minimum(), field->maximum());
    twin->setValue(field->value());
    connect(field, &QSpinBox::valueChanged, twin, &QSpinBox::setValue);
    connect(twin, &QSpinBox::valueChanged, field, &QSpinBox::setValue);
    return addRow(label, twin, field);
}

QWidget *MorePanel::addTwin(const QString &label, QDoubleSpinBox *field)
{
    QDoubleSpinBox *twin =
        decimalBox(this, "", field->minimum(), field->maximum(), field->singleStep(), field->decimals());
    twin->setValue(field->value());
    connect(field, &QDoubleSpinBox::valueChanged, twin, [twin](double value) {
        if (value != twin->value())
            twin->setValue(value);
    });
    // Setting the value that it has would write its text anew: "1" would become "1.000" before ".5" is typed.
    connect(twin, &QDoubleSpinBox::valueChanged, field, [field](double value) {
        if (value != field->value())
            field->setValue(value);
    });
    return addRow(label, twin, field);
}

QWidget *MorePanel::addTwin(const QString &label, SeedBox *field)
{
    auto *twin = new SeedBox(this);
    twin->setValue(field->value());
    connect(field, &SeedBox::valueChanged, twin, &SeedBox::setValue);
    connect(twin, &SeedBox::valueChanged, field, &SeedBox::setValue);
    return addRow(label, twin, field);
}

QWidget *MorePanel::addTwin(const QString &label, QComboBox *field)
{
    auto *twin = new QComboBox(this);
    twin->setModel(field->model());
    twin->setCurrentIndex(field->currentIndex());
    connect(field, &QComboBox::currentIndexChanged, twin, &QComboBox::setCurrentIndex);
    connect(twin, &QComboBox::currentIndexChanged, field, &QComboBox::setCurrentIndex);
    return addRow(label, twin, field);
}

void MorePanel::setTwinVisible(QWidget *twin, bool isVisible)
{
    m_form->setRowVisible(twin, isVisible);
}

SamplingParams MorePanel::sampling() const
{
    SamplingParams params;
    params.topK = m_topK->value();
    params.topP = static_cast<float>(m_topP->value());
    params.minP = static_cast<float>(m_minP->value());
    params.repetitionPenalty = static_cast<float>(m_penalty->value());
    return params;
}

void MorePanel::setSampling(const SamplingParams &sampling)
{
    m_topK->setValue(sampling.topK);
    m_topP->setValue(static_cast<double>(sampling.topP));
    m_minP->setValue(static_cast<double>(sampling.minP));
    m_penalty->setValue(static_cast<double>(sampling.repetitionPenalty));
}

int MorePanel::contextTokens() const
{
    return m_context->currentData().toInt();
}

void MorePanel::setContextTokens(int count)
{
    if (m_context->findData(count) < 0) // given on the command line
        m_context->addItem(formatCount(count), count);
    m_context->setCurrentIndex(m_context->findData(count));
}

} // namespace lectern
