// SPDX-License-Identifier: GPL-3.0-or-later
// The rarer settings of a run, in the menu "More" of the tool bar: how tokens are chosen, and the model's context.
#pragma once

#include "engine/sampling/sampler.h"

#include <QWidget>

class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QSpinBox;

namespace lectern {

class SeedBox;

class MorePanel : public QWidget
{
    Q_OBJECT

public:
    explicit MorePanel(QWidget *parent = nullptr);

    SamplingParams sampling() const; // temperature and seed are elsewhere: their defaults
    void setSampling(const SamplingParams &sampling);
    int contextTokens() const; // 0: the model's own
    void setContextTokens(int count);

    // A second field for a setting of the tool bar, for when that has no room there: both always show the same.
    QWidget *addTwin(const QString &label, QSpinBox *field);
    QWidget *addTwin(const QString &label, QDoubleSpinBox *field);
    QWidget *addTwin(const QString &label, SeedBox *field);
    QWidget *addTwin(const QString &label, QComboBox *field);
    void setTwinVisible(QWidget *twin, bool isVisible);

Q_SIGNALS:
    void changed();       // sampling
    void contextChosen(); // by the user: the model is loaded again

private:
    QWidget *addRow(const QString &label, QWidget *twin, const QWidget *field);
    QFormLayout *m_form;
    QSpinBox *m_topK;
    QDoubleSpinBox *m_topP;
    QDoubleSpinBox *m_minP;
    QDoubleSpinBox *m_penalty;
    QComboBox *m_context;
};

} // namespace lectern
