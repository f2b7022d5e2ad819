// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme.h"

#include <QGuiApplication>

#include <cmath>

namespace lectern {

namespace {

// Okabe and Ito's set, as published; the themes use shades of it that keep 3:1 on their cards.
constexpr QRgb kOrange = 0xffe69f00, kSkyBlue = 0xff56b4e9, kGreen = 0xff009e73, kBlue = 0xff0072b2,
               kVermillion = 0xffd55e00, kPurple = 0xffcc79a7;

double channelLuminance(double value)
{
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double luminance(const QColor &color)
{
    return 0.2126 * channelLuminance(color.redF()) + 0.7152 * channelLuminance(color.greenF()) +
           0.0722 * channelLuminance(color.blueF());
}

std::array<RunStyle, kRunStyles> makeRunStyles(const std::array<QRgb, kRunStyles> &colors)
{
    return {RunStyle{QColor::fromRgb(colors[0]), Marker::Circle, {}},
            RunStyle{QColor::fromRgb(colors[1]), Marker::Triangle, {7, 3}},
            RunStyle{QColor::fromRgb(colors[2]), Marker::Square, {3, 2}},
            RunStyle{QColor::fromRgb(colors[3]), Marker::Diamond, {8, 2, 2, 2}},
            RunStyle{QColor::fromRgb(colors[4]), Marker::Cross, {12, 3}},
            RunStyle{QColor::fromRgb(colors[5]), Marker::Plus, {1.5, 2}}};
}

void fillTokenColors(Theme &theme, double amount)
{
    const std::array<QRgb, kTokenColors> colors{kOrange, kSkyBlue, kGreen, kPurple, kVermillion, kBlue};
    for (int i = 0; i < kTokenColors; ++i) {
        const QColor color = QColor::fromRgb(colors[i]);
        theme.tokenFill[i] = mixed(theme.card, color, amount);
        theme.tokenBorder[i] = color;
    }
}

// The palette before applyTheme first changed it.
bool startedDark()
{
    static const bool isDark = luminance(QGuiApplication::palette().window().color()) <
                               luminance(QGuiApplication::palette().windowText().color());
    return isDark;
}

} // namespace

double contrast(const QColor &a, const QColor &b)
{
    const double first = luminance(a), second = luminance(b);
    return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

QColor mixed(const QColor &from, const QColor &to, double amount)
{
    const auto mix = [amount](float a, float b) { return static_cast<float>(a + (b - a) * amount); };
    return QColor::fromRgbF(mix(from.redF(), to.redF()), mix(from.greenF(), to.greenF()),
                            mix(from.blueF(), to.blueF()));
}

QColor readable(QColor color, const QColor &background)
{
    const QColor goal = luminance(background) > 0.18 ? Qt::black : Qt::white;
    const QColor start = color;
    for (double amount = 0.05; contrast(color, background) < 4.5 && amount <= 1; amount += 0.05) {
        color = mixed(start, goal, amount);
    }
    return color;
}

QFont paneTitleFont(const QFont &base)
{
    QFont font = base;
    if (base.pixelSize() > 0) {
        font.setPixelSize(std::max(1, static_cast<int>(std::lround(base.pixelSize() * 0.88))));
    } else {
        font.setPointSizeF(base.pointSizeF() * 0.88);
    }
    font.setBold(true);
    font.setCapitalization(QFont::AllUppercase);
    font.setLetterSpacing(QFont::PercentageSpacing, 103);
    return font;
}

Theme Theme::light()
{
    Theme theme;
    theme.window = QColor(0xf4f4f0);
    theme.card = QColor(0xffffff);
    theme.border = QColor(0xdfdfd8);
    theme.text = QColor(0x1b1f24);
    theme.mutedText = QColor(0x5a616b);
    theme.grid = QColor(0xeaeae6);
    theme.tokenizeColor = QColor(0xc46a9c);
    theme.prefillColor = QColor(0xcc8400);
    theme.decodeColor = QColor::fromRgb(kBlue);
    theme.kvColor = QColor::fromRgb(kGreen);
    theme.accent = theme.decodeColor;
    theme.error = QColor(0xb3361f);
    theme.warning = QColor(0x855700);
    theme.latencyShade = QColor(0x8fc3e6);
    theme.probabilityShade = QColor(0xf2b872);
    fillTokenColors(theme, 0.3);
    theme.runStyles = makeRunStyles({kBlue, kVermillion, 0xffb8578e, 0xff008a64, 0xff4b5563, 0xff9a6a00});
    return theme;
}

Theme Theme::dark()
{
    Theme theme;
    theme.isDark = true;
    theme.window = QColor(0x15171a);
    theme.card = QColor(0x1f2226);
    theme.border = QColor(0x353a40);
    theme.text = QColor(0xe8eaed);
    theme.mutedText = QColor(0xa3aab3);
    theme.grid = QColor(0x2c3036);
    theme.tokenizeColor = QColor::fromRgb(kPurple);
    theme.prefillColor = QColor::fromRgb(kOrange);
    theme.decodeColor = QColor::fromRgb(kSkyBlue);
    theme.kvColor = QColor(0x10ad80);
    theme.accent = theme.decodeColor;
    theme.error = QColor(0xff8d78);
    theme.warning = QColor(0xf0b94a);
    theme.latencyShade = QColor(0x22618c);
    theme.probabilityShade = QColor(0x7d5200);
    fillTokenColors(theme, 0.38);
    theme.runStyles = makeRunStyles({kSkyBlue, 0xfff07f3c, 0xffdb8fb9, 0xff2fc194, 0xffc8cdd4, 0xffe6b13a});
    return theme;
}

Theme Theme::forChoice(ThemeChoice choice, bool projector)
{
    const bool isDark = choice == ThemeChoice::Dark || (choice == ThemeChoice::Auto && startedDark());
    Theme theme = isDark ? dark() : light();
    theme.isProjector = projector;
    return theme;
}

QPalette Theme::palette() const
{
    const QColor onAccent = isDark ? QColor(0x10161c) : QColor(Qt::white);
    QPalette palette(text, window);
    palette.setColor(QPalette::Window, window);
    palette.setColor(QPalette::WindowText, text);
    palette.setColor(QPalette::Base, card);
    palette.setColor(QPalette::AlternateBase, mixed(card, window, 0.6));
    palette.setColor(QPalette::Text, text);
    palette.setColor(QPalette::Button, isDark ? QColor(0x2a2e33) : QColor(0xf7f7f4));
    palette.setColor(QPalette::ButtonText, text);
    palette.setColor(QPalette::BrightText, error);
    palette.setColor(QPalette::PlaceholderText, mutedText);
    palette.setColor(QPalette::ToolTipBase, card);
    palette.setColor(QPalette::ToolTipText, text);
    palette.setColor(QPalette::Highlight, accent);
    palette.setColor(QPalette::HighlightedText, onAccent);
    palette.setColor(QPalette::Link, accent);
    palette.setColor(QPalette::LinkVisited, readable(tokenizeColor, card));
    palette.setColor(QPalette::Light, isDark ? QColor(0x3a3f46) : QColor(0xffffff));
    palette.setColor(QPalette::Midlight, isDark ? QColor(0x30353b) : QColor(0xf0f0ec));
    palette.setColor(QPalette::Mid, border);
    palette.setColor(QPalette::Dark, isDark ? QColor(0x101214) : QColor(0xb9b9b2));
    palette.setColor(QPalette::Shadow, Qt::black);
    const QColor disabled = mixed(text, window, 0.55);
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        palette.setColor(QPalette::Disabled, role, disabled);
    }
    palette.setColor(QPalette::Disabled, QPalette::Highlight, border);
    palette.setColor(QPalette::Disabled, QPalette::HighlightedText, disabled);
    return palette;
}

} // namespace lectern
