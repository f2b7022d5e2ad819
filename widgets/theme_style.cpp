// SPDX-License-Identifier: GPL-3.0-or-later
// The theme as the program wears it: application style, style sheet, icons.
#include "widgets/theme.h"

#include <QApplication>
#include <QFile>
#include <QFontMetrics>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lectern {

namespace {

constexpr double kProjectorScale = 1.5;
constexpr double kSmallestPoints = 9;

// Combo boxes, spin boxes and check boxes stay pure Fusion: a sheet would take their arrows away.
constexpr const char *kSheet = R"(
QMainWindow, QDialog { background: @window; }
QMainWindow::separator { background: @window; width: @gap; height: @gap; }
QFrame[card="true"] { background: @card; border: 1px solid @border; border-radius: @radius; }
QToolBar { background: @card; border: none; border-bottom: 1px solid @border; spacing: @gap; padding: @pad; }
QToolBar::separator { background: transparent; width: @gap; }
QToolBar QToolButton, QToolBar QPushButton {
    background: @button; border: 1px solid @border; border-radius: @radius; padding: @pad @wide; }
QToolBar QToolButton#qt_toolbar_ext_button { padding: 0; }
QToolBar QToolButton:hover, QToolBar QPushButton:hover { border-color: @accent; }
QToolBar QToolButton:pressed, QToolBar QPushButton:pressed, QToolBar QToolButton:checked { background: @pressed; border-color: @accent; }
QToolBar QToolButton:disabled, QToolBar QPushButton:disabled { color: @disabled; }
QToolBar QToolButton[popupMode="1"] { padding-right: @arrow; }
QToolBar QToolButton[popupMode="2"] { padding-right: @arrow; }
QToolBar QToolButton::menu-indicator { subcontrol-origin: padding; subcontrol-position: right center; right: @pad; }
QToolBar QToolButton[primary="true"], QPushButton[primary="true"] {
    background: @accent; color: @onAccent; border: 1px solid @accent; border-radius: @radius; padding: @pad @wide; font-weight: bold; }
QToolBar QToolButton[primary="true"]:hover, QPushButton[primary="true"]:hover { background: @accentHover; }
QToolBar QToolButton[primary="true"]:disabled, QPushButton[primary="true"]:disabled {
    background: @button; color: @disabled; border-color: @border; }
QToolButton:focus, QPushButton:focus { border-color: @accent; }
QPushButton:flat { border: 1px solid transparent; background: transparent; color: @accent; }
QPushButton:flat:hover, QPushButton:flat:focus { border-color: @accent; border-radius: @radius; }
QPlainTextEdit, QLineEdit#systemPrompt { background: @card; }
QSplitter::handle { background: transparent; }
QLabel[muted="true"] { color: @muted; }
QToolButton[segment="true"] { background: transparent; border: none; border-radius: @radius; color: @muted; padding: @pad; }
QToolButton[segment="true"]:hover { color: @accent; }
QToolButton[segment="true"]:focus { background: @pressed; border: 1px solid @accent; }
QToolButton[segment="true"]:checked { background: @pressed; color: @text; font-weight: bold; border-bottom: @line solid @accent; }
QStatusBar { background: @card; border-top: 1px solid @border; color: @muted; }
QStatusBar::item { border: none; }
QTableView { background: @card; border: none; gridline-color: @grid; }
QHeaderView { background: @card; border: none; }
QHeaderView::section { background: @card; color: @muted; border: none; border-bottom: 1px solid @border; padding: @pad @gap; }
QToolTip { background: @card; color: @text; border: 1px solid @border; padding: @pad; }
)";

const QFont &startFont()
{
    static const QFont font = QApplication::font();
    return font;
}

QString styleSheet(const Theme &theme, const QFont &font)
{
    const double unit = QFontMetricsF(font).height() / 15;
    const auto px = [unit](double size) { return QStringLiteral("%1px").arg(std::max(1L, std::lround(size * unit))); };
    const QPalette palette = theme.palette();
    const auto name = [&palette](QPalette::ColorRole role) { return palette.color(role).name(); };
    // Longer names first: "@accent" is a prefix of "@accentHover".
    const std::pair<const char *, QString> values[] = {
        {"@accentHover", mixed(theme.accent, theme.isDark ? Qt::white : Qt::black, 0.12).name()},
        {"@onAccent", name(QPalette::HighlightedText)},
        {"@accent", theme.accent.name()},
        {"@window", theme.window.name()},
        {"@card", theme.card.name()},
        {"@border", theme.border.name()},
        {"@grid", theme.grid.name()},
        {"@text", theme.text.name()},
        {"@muted", theme.mutedText.name()},
        {"@button", name(QPalette::Button)},
        {"@pressed", mixed(palette.color(QPalette::Button), theme.accent, 0.18).name()},
        {"@disabled", palette.color(QPalette::Disabled, QPalette::ButtonText).name()},
        {"@radius", px(5)},
        {"@line", px(2)},
        {"@arrow", px(20)},
        {"@wide", px(9)},
        {"@gap", px(6)},
        {"@pad", px(4)},
    };
    QString sheet = QString::fromLatin1(kSheet);
    for (const auto &[key, value] : values) {
        sheet.replace(QLatin1String(key), value);
    }
    return sheet;
}

QPixmap tinted(QSvgRenderer &renderer, int size, const QColor &color)
{
    QPixmap pixmap(size, size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    renderer.render(&painter, QRectF(0, 0, size, size));
    painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
    painter.fillRect(pixmap.rect(), color);
    return pixmap;
}

} // namespace

void applyTheme(QApplication &application, const Theme &theme)
{
    Theme::forChoice(ThemeChoice::Auto, false); // notes the palette of the start before it changes
    QFont font = startFont();
    const double points = font.pointSizeF() > 0 ? font.pointSizeF() : kSmallestPoints;
    font.setPointSizeF(std::max(points, kSmallestPoints) * (theme.isProjector ? kProjectorScale : 1));
#if QT_VERSION >= QT_VERSION_CHECK(6, 7, 0)
    font.setFeature("tnum", 1);
#endif
    application.setStyle(QStringLiteral("Fusion"));
    application.setPalette(theme.palette());
    QPalette boxes = theme.palette();
    boxes.setColor(QPalette::Window,
                   theme.mutedText); // Fusion derives the frame of a box from it: unseen on dark cards
    application.setPalette(boxes, "QCheckBox");
    application.setFont(font);
    application.setStyleSheet(styleSheet(theme, font));
}

QIcon themedIcon(const QString &name, const Theme &theme, const QColor &color)
{
    const QString path = QStringLiteral(":/icons/%1.svg").arg(name);
    if (!QFile::exists(path)) {
        return {};
    }
    QSvgRenderer renderer(path);
    if (!renderer.isValid()) {
        return {};
    }
    const QColor normal = color.isValid() ? color : theme.text;
    const QColor disabled = theme.palette().color(QPalette::Disabled, QPalette::ButtonText);
    QIcon icon;
    for (const int size : {16, 20, 24, 32, 48, 64}) {
        icon.addPixmap(tinted(renderer, size, normal), QIcon::Normal);
        icon.addPixmap(tinted(renderer, size, disabled), QIcon::Disabled);
    }
    return icon;
}

} // namespace lectern
