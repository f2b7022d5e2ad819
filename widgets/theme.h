// SPDX-License-Identifier: GPL-3.0-or-later
// Colours of the program: one accent per meaning (prefill orange, decode blue, KV cache green) in every pane, all from
// the colour-blind-safe Okabe-Ito set and always beside a second cue (border, pattern, dash, marker, text).
#pragma once

#include "app/core/run_store.h"
#include "app/core/settings.h"

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QPalette>

#include <array>

class QApplication;

namespace lectern {

inline constexpr int kTokenColors = 6;

enum class Marker
{
    Circle,
    Triangle,
    Square,
    Diamond,
    Cross,
    Plus
};

// Look of one run in charts and tables.
struct RunStyle
{
    QColor color;
    Marker marker;
    QVector<qreal> dashes; // empty: solid
};

struct Theme
{
    bool isDark = false;
    bool isProjector = false; // text and lines 1.5 times as large

    QColor window, card, border, text, mutedText, grid;
    QColor tokenizeColor, prefillColor, decodeColor, kvColor, accent, error, warning;
    QColor latencyShade, probabilityShade; // strongest shade of the answer's lenses; weaker ones blend towards `card`
    std::array<QColor, kTokenColors> tokenFill;   // background of tokens, readable under `text`
    std::array<QColor, kTokenColors> tokenBorder; // line under each token
    std::array<RunStyle, kRunStyles> runStyles;

    static Theme light();
    static Theme dark();
    // Auto follows the palette the program was started with.
    static Theme forChoice(ThemeChoice choice, bool projector);

    double lineWidth() const { return isProjector ? 2.5 : 1.6; }
    QPalette palette() const;
};

// WCAG contrast of two opaque colours, 1 to 21. Text needs 4.5, lines and areas 3.
double contrast(const QColor &a, const QColor &b);
// `amount` 0: from, 1: to.
QColor mixed(const QColor &from, const QColor &to, double amount);
// `color` moved towards black or white until it can be read as text on `background`.
QColor readable(QColor color, const QColor &background);

// Small bold capitals of pane titles.
QFont paneTitleFont(const QFont &base);

// Fusion style, palette, font size and style sheet of the whole program. The sheet knows these dynamic properties:
// card=true on a QFrame (a pane), primary=true on a QPushButton or QToolButton (the one main action), segment=true on
// the QToolButtons of a choice, muted=true on a QLabel of less weight. (Colours set by QWidget::setPalette get lost: a
// sheet puts back the palette of the first polish whenever a widget gets another parent.)
void applyTheme(QApplication &application, const Theme &theme);

// Monochrome SVG icon of the resources (":/icons/NAME.svg") in `color` (default: the theme's text colour), dimmed when
// disabled. A null icon if there is no such file.
QIcon themedIcon(const QString &name, const Theme &theme, const QColor &color = {});

} // namespace lectern
