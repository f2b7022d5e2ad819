// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/message_bar.h"

#include <QAccessible>
#include <QApplication>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <QShortcut>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

namespace lectern {

namespace {

// A note is read at 15 characters a second after it has been noticed.
constexpr int kNoticeMs = 6000;
constexpr int kReadMs = 65; // a character

QColor colorOf(MessageBar::Kind kind, const Theme &theme)
{
    switch (kind) {
    case MessageBar::Kind::Warning:
        return theme.warning;
    case MessageBar::Kind::Error:
        return theme.error;
    case MessageBar::Kind::Info:
        break;
    }
    return theme.accent;
}

// Shape and sign differ as well as colour: circle with i, triangle with !, square with ×.
QPixmap signOf(MessageBar::Kind kind, const Theme &theme, int size, double ratio)
{
    QPixmap pixmap(QSize(size, size) * ratio);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(size / 20.0, size / 20.0);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colorOf(kind, theme));
    QPen stroke(theme.card, 2.2);
    stroke.setCapStyle(Qt::RoundCap);
    if (kind == MessageBar::Kind::Error) {
        painter.drawRoundedRect(QRectF(1, 1, 18, 18), 4, 4);
        painter.setPen(stroke);
        painter.drawLine(QPointF(6.5, 6.5), QPointF(13.5, 13.5));
        painter.drawLine(QPointF(6.5, 13.5), QPointF(13.5, 6.5));
        return pixmap;
    }
    const bool isWarning = kind == MessageBar::Kind::Warning;
    if (isWarning) {
        painter.drawPolygon(QPolygonF{{10, 0.8}, {19.6, 18.5}, {0.4, 18.5}});
    } else {
        painter.drawEllipse(QRectF(1, 1, 18, 18));
    }
    painter.setPen(stroke);
    const QPointF dot = isWarning ? QPointF(10, 15.6) : QPointF(10, 5.6);
    painter.drawPoint(dot);
    painter.drawLine(QPointF(10, isWarning ? 7.2 : 9.4), QPointF(10, isWarning ? 12 : 14.4));
    return pixmap;
}

} // namespace

MessageBar::MessageBar(QWidget *parent)
    : QFrame(parent)
    , m_icon(new QLabel(this))
    , m_text(new QLabel(this))
    , m_detail(new QLabel(this))
    , m_action(new QPushButton(this))
    , m_close(new QToolButton(this))
    , m_theme(Theme::light())
    , m_life(new QTimer(this))
{
    setObjectName(QStringLiteral("messageBar"));
    m_text->setTextFormat(Qt::PlainText);
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_text->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    m_text->setObjectName(QStringLiteral("messageText"));
    m_detail->setObjectName(QStringLiteral("messageDetail"));
    m_detail->setTextFormat(Qt::PlainText);
    m_detail->setWordWrap(true);
    m_detail->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_detail->setProperty("muted", true);
    for (QLabel *label : {m_text, m_detail})
        label->setMinimumWidth(1); // a word that is longer than a line is cut, the lines below it are not
    m_close->setText(QStringLiteral("✕"));
    m_close->setAutoRaise(true);
    m_close->setToolTip(tr("Close this message (Esc)"));
    m_close->setAccessibleName(tr("Close this message"));
    m_action->setObjectName(QStringLiteral("messageAction"));
    m_close->setObjectName(QStringLiteral("messageClose"));

    auto *layout = new QHBoxLayout(this);
    const int unit = fontMetrics().height() / 2;
    layout->setContentsMargins(unit + 4, unit / 2 + 2, unit, unit / 2 + 2);
    layout->setSpacing(unit + 2);
    layout->addWidget(m_icon, 0, Qt::AlignVCenter);
    auto *texts = new QVBoxLayout;
    texts->setSpacing(unit / 4);
    texts->addWidget(m_text);
    texts->addWidget(m_detail);
    layout->addLayout(texts, 1);
    layout->addWidget(m_action);
    layout->addWidget(m_close);

    connect(m_close, &QToolButton::clicked, this, &MessageBar::dismiss);
    connect(m_action, &QPushButton::clicked, this, [this] {
        const std::function<void()> callback = m_callback; // it may show the next message
        dismiss();
        if (callback) {
            callback();
        }
    });
    auto *escape = new QShortcut(Qt::Key_Escape, this);
    escape->setContext(Qt::WidgetWithChildrenShortcut);
    connect(escape, &QShortcut::activated, this, &MessageBar::dismiss);
    m_life->setSingleShot(true);
    connect(m_life, &QTimer::timeout, this, &MessageBar::dismiss);
    connect(qApp, &QApplication::focusChanged, this, &MessageBar::restartLife);
    if (parent)
        parent->installEventFilter(this);
    hide();
}

void MessageBar::setFloor(QWidget *floor)
{
    m_floor = floor;
    floor->installEventFilter(this);
}

// As wide as the panes, as high as the text needs.
void MessageBar::place()
{
    if (!parentWidget() || isHidden())
        return;
    const QRect room = parentWidget()->contentsRect();
    const int bottom = m_floor && m_floor->isVisibleTo(parentWidget()) ? m_floor->geometry().top() : room.bottom() + 1;
    const int height = hasHeightForWidth() ? heightForWidth(room.width()) : sizeHint().height();
    setGeometry(room.left(), bottom - height - fontMetrics().height() / 4, room.width(), height);
    raise();
}

void MessageBar::restartLife()
{
    m_life->stop();
    const QWidget *focus = QApplication::focusWidget();
    if (m_leaves && !isHidden() && !underMouse() && !(focus && isAncestorOf(focus)))
        m_life->start(kNoticeMs + kReadMs * static_cast<int>(m_text->text().size()));
}

bool MessageBar::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Resize || event->type() == QEvent::Move || event->type() == QEvent::LayoutRequest)
        place();
    return QFrame::eventFilter(watched, event);
}

void MessageBar::enterEvent(QEnterEvent *event)
{
    QFrame::enterEvent(event);
    restartLife();
}

void MessageBar::leaveEvent(QEvent *event)
{
    QFrame::leaveEvent(event);
    restartLife();
}

void MessageBar::setTheme(const Theme &theme)
{
    m_theme = theme;
    const QColor color = colorOf(m_kind, theme);
    // By object name, so that labels and buttons inside keep the program's look.
    setStyleSheet(QStringLiteral("#messageBar { background: %1; border: 1px solid %2; border-radius: 5px; }")
                      .arg(mixed(theme.card, color, 0.12).name(), color.name()));
    m_icon->setPixmap(signOf(m_kind, theme, fontMetrics().height() * 5 / 4, devicePixelRatioF()));
}

void MessageBar::showMessage(Kind kind, const QString &text, const QString &actionText, std::function<void()> action)
{
    present(kind, text, {}, actionText, std::move(action), kind == Kind::Info);
}

void MessageBar::showProgress(const QString &text, const QString &actionText, std::function<void()> action)
{
    present(Kind::Info, text, {}, actionText, std::move(action), false);
}

void MessageBar::showProblem(Kind kind, const QString &headline, const QString &detail)
{
    present(kind, headline, detail, {}, nullptr, kind == Kind::Info);
}

void MessageBar::present(Kind kind, const QString &text, const QString &detail, const QString &actionText,
                         std::function<void()> action, bool leaves)
{
    m_kind = kind;
    m_callback = std::move(action);
    m_leaves = leaves;
    const QString names[] = {tr("Note"), tr("Warning"), tr("Error")};
    m_icon->setAccessibleName(names[static_cast<int>(kind)]);
    m_text->setText(text);
    m_detail->setText(detail);
    m_detail->setVisible(!detail.isEmpty());
    const QString said = tr("%1: %2", "kind of message, its text").arg(names[static_cast<int>(kind)], text);
    m_text->setAccessibleName(detail.isEmpty() ? said : said + QLatin1Char(' ') + detail);
    setAccessibleName(m_text->accessibleName());
    m_action->setText(actionText);
    m_action->setVisible(!actionText.isEmpty());
    setTheme(m_theme);
    show();
    place();
    restartLife();
    QAccessibleEvent alert(this, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

void MessageBar::dismiss()
{
    m_callback = nullptr;
    m_leaves = false;
    m_life->stop();
    hide();
}

QString MessageBar::text() const
{
    return isHidden() ? QString() : m_text->text();
}

QString MessageBar::detail() const
{
    return isHidden() ? QString() : m_detail->text();
}

} // namespace lectern
