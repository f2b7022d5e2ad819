// SPDX-License-Identifier: GPL-3.0-or-later
// Shares the height of the prompt pane between two texts, in whole lines: what is typed above, what is sent below.
// A little more than half goes to what is sent, since a template makes a short prompt long. The texts have no say in
// it, so that nothing jumps while one types. Once the user has moved the handle, it stays where it was put
// until reset().
#pragma once

#include <QSplitter>

namespace lectern {

class PromptSplitter : public QSplitter
{
    Q_OBJECT

public:
    explicit PromptSplitter(QWidget *parent = nullptr);

    // Heights in pixels: a line of text, the margins of a text above and below together, and what stands around the
    // text in the upper and in the lower part.
    void setHeights(int line, int margins, int aroundUpper, int aroundLower);
    void reset(); // forgets that the handle was moved

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    void share();
    int m_line = 1, m_margins = 0, m_aroundUpper = 0, m_aroundLower = 0;
    bool m_isMoved = false;
};

} // namespace lectern
