// SPDX-License-Identifier: GPL-3.0-or-later
// MainWindow: where a model comes from at the start, and what is offered while there is none.
#include "app/main_window.h"

#include "app/core/model_fetch.h"
#include "widgets/answer_pane.h"
#include "widgets/message_bar.h"
#include "widgets/model_offer.h"

#include <QDir>
#include <QFileInfo>

namespace lectern {

void MainWindow::buildOffer()
{
    m_offer = new ModelOffer(this);
    m_answer->addOffer(m_offer);
    m_offer->setFetchProblem(m_fetch->problem());
    connect(m_offer, &ModelOffer::openRequested, this, &MainWindow::chooseFile);
    connect(m_offer, &ModelOffer::loadRequested, this, [this] { loadModel(m_fetch->destination()); });
    connect(m_offer, &ModelOffer::fetchRequested, this, &MainWindow::fetchModel);
    connect(m_offer, &ModelOffer::cancelRequested, m_fetch, &ModelFetch::cancel);
    connect(m_fetch, &ModelFetch::progressed, m_offer, &ModelOffer::showProgress);
    connect(m_fetch, &ModelFetch::checking, m_offer, &ModelOffer::showChecking);
    connect(m_fetch, &ModelFetch::canceled, this, [this] {
        m_offer->showCanceled();
        updateOffer();
    });
    connect(m_fetch, &ModelFetch::failed, this, [this](FetchFailure failure, const QString &detail) {
        m_offer->showFailure(ModelFetch::failureText(failure), detail);
        updateOffer();
    });
    connect(m_fetch, &ModelFetch::fetched, this, [this] {
        m_isFetchedModelDamaged = false;
        m_offer->showOffer();
        if (m_session->state() == SessionState::NoModel)
            loadModel(m_fetch->destination());
        else // the user has opened another one meanwhile
            m_messages->showMessage(MessageBar::Kind::Info, tr("SmolLM2-135M-Instruct is there."), tr("Load it"),
                                    [this] { loadModel(m_fetch->destination()); });
    });
}

void MainWindow::fetchModel()
{
    m_messages->dismiss(); // what it says is about what was there before
    m_offer->showProgress(0, 0);
    m_fetch->start();
    updateOffer();
}

bool MainWindow::isFetchedModelThere() const
{
    return !m_isFetchedModelDamaged && QFileInfo(m_fetch->destination()).isFile();
}

// In the place of the answer, unless a run is shown there; a fetch that goes on has to be seen.
void MainWindow::updateOffer()
{
    m_offer->setModelPresent(isFetchedModelThere());
    m_answer->setOffered(m_hasStarted && m_session->state() == SessionState::NoModel &&
                         (m_fetch->isRunning() || !m_store.current()));
}

// The model of the last session, or the one that set-up brought.
void MainWindow::loadLastModel()
{
    const QString crashed = m_settings->loadingModel();
    if (!crashed.isEmpty()) {
        m_settings->setLoadingModel({});
        m_messages->showMessage(MessageBar::Kind::Warning,
                                tr("Lectern ended while it loaded %1, so it was not loaded again by itself.")
                                    .arg(QDir::toNativeSeparators(crashed)),
                                tr("Load it"), [this, crashed] { loadModel(crashed); });
        return;
    }
    const QStringList recent = m_settings->recentModels();
    const bool isGone = !recent.isEmpty() && !QFileInfo::exists(recent.first());
    if (!recent.isEmpty() && !isGone)
        loadModel(recent.first());
    else if (isFetchedModelThere())
        loadModel(m_fetch->destination());
    if (isGone)
        m_messages->showMessage(MessageBar::Kind::Info,
                                tr("The model used last is not there any more: %1. Is its drive connected?")
                                    .arg(QDir::toNativeSeparators(recent.first())));
}

} // namespace lectern
