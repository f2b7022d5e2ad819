// SPDX-License-Identifier: GPL-3.0-or-later
// A label whose text may change in every frame: it takes the width it is given and asks for a new layout only when its
// text needs another height.
//
// A plain QLabel tells its layout of every new text, that layout its own parent, and so on up to the window, each level
// in a later event with a repaint in between: nine labels made three layouts and three repaints of the window a frame.
#pragma once

#include <QLabel>

namespace lectern {

class StillLabel : public QWidget
{
    Q_OBJECT

public:
    explicit StillLabel(QWidget *parent = nullptr);

    QLabel *label() const { return m_label; } // for its format, alignment, name and properties
    void setText(const QString &text);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void fit();
    int neededHeight() const;
    QLabel *m_label;
    int m_height = 0;
};

} // namespace lectern
