// SPDX-License-Identifier: GPL-3.0-or-later
// A controller on a scripted engine, with everything that it says written down. Header only: needs the app/core
// library.
#pragma once

#include "app/core/session_controller.h"
#include "tests/support/scripted_driver.h"

#include <QTest>

namespace lectern::test {

inline const QString kPath = QStringLiteral("/models/scripted.gguf");

struct Session
{
    explicit Session(Script script = {})
        : control(std::make_shared<DriverControl>(std::move(script)))
    {
        controller = std::make_unique<SessionController>(&store, std::make_unique<ScriptedDriver>(control));
        controller->frameClock()->setIntervalMs(0); // as fast as the event loop turns
        QObject::connect(controller.get(), &SessionController::stateChanged, controller.get(),
                         [this](SessionState state) { states.push_back(state); });
        QObject::connect(controller.get(), &SessionController::runEnded, controller.get(), [this](int id) {
            ends.push_back(id);
            record = *store.find(id)->record;
        });
        QObject::connect(controller.get(), &SessionController::loadFailed, controller.get(),
                         [this](const QString &path, const Error &error) {
                             failures.push_back(path + u' ' + QString::fromStdString(error.message));
                         });
    }

    bool load()
    {
        control->allowLoading();
        controller->loadModel(kPath);
        return waitFor(SessionState::Ready);
    }
    bool waitFor(SessionState state)
    {
        return QTest::qWaitFor([&] { return controller->state() == state; });
    }

    RunStore store;
    std::shared_ptr<DriverControl> control;
    std::unique_ptr<SessionController> controller;
    std::vector<SessionState> states;
    std::vector<int> ends; // runs in the order of their ends
    RunRecord record;      // of the run that ended last, as it was then
    QStringList failures;
};

} // namespace lectern::test
