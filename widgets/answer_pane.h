// SPDX-License-Identifier: GPL-3.0-or-later
// The streamed answer with its lenses, and below it where the run stands.
#pragma once

#include "app/core/settings.h"
#include "app/core/token_selection.h"
#include "engine/trace/run_record.h"
#include "widgets/theme.h"

#include <QFrame>

#include <memory>

class QButtonGroup;
class QLabel;
class QStackedLayout;

namespace lectern {

class StillLabel;
class TokenView;

class AnswerPane : public QFrame
{
    Q_OBJECT

public:
    explicit AnswerPane(QWidget *parent = nullptr);

    void setTheme(const Theme &theme);
    void setSelection(TokenSelection *selection);
    AnswerLens lens() const;
    void setLens(AnswerLens lens);

    void showRun(int runId, std::shared_ptr<const RunRecord> record); // nullptr: empty
    void appendNew();                                                 // its record grew: the text
    void updateFooter();                                              // the figures, together with those of the charts
    TokenView *view() const { return m_view; }
    void addOffer(QWidget *offer); // shown in the place of the answer while it is wanted
    void setOffered(bool isOffered);
    bool isOffered() const;

Q_SIGNALS:
    void lensChanged(lectern::AnswerLens lens);

private:
    TokenView *m_view;
    QStackedLayout *m_pages;
    QLabel *m_title;
    StillLabel *m_footer;
    QButtonGroup *m_lenses;
    std::shared_ptr<const RunRecord> m_record;
};

} // namespace lectern
