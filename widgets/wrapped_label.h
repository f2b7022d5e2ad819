// SPDX-License-Identifier: GPL-3.0-or-later
// A label of several lines that keeps the height its text needs where no layout asks for it: inside a splitter.
#pragma once

#include <QLabel>

namespace lectern {

class WrappedLabel : public QLabel
{
    Q_OBJECT

public:
    explicit WrappedLabel(QWidget *parent = nullptr);
    void showText(const QString &text);

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    void fit();
};

} // namespace lectern
