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
    connect(m_fetch, &ModelFetch::progressed, this, [this](qint64 doneBytes, qint64 totalBytes) {
        m_offer->showProgress(doneBytes, totalBytes);
        if (totalBytes > 0)
            tellFetch(tr("Fetching SmolLM2-135M-Instruct: %1 %").arg(doneBytes * 100 / totalBytes));
    });
    connect(m_fetch, &ModelFetch::checking, this, [this] {
        m_offer->showChecking();
        tellFetch(tr("Checking and unpacking SmolLM2-135M-Instruct…"));
    });
    connect(m_fetch, &ModelFetch::cancelled, this, [this] {
        m_offer->showCancelled();
        updateOffer();
        if (!m_answer->isOffered())
            m_messages->showMessage(MessageBar::Kind::Info,
                                    tr("Fetching SmolLM2-135M-Instruct was cancelled. What was fetched is kept; the "
                                       "next try goes on from there."));
    });
    connect(m_fetch, &ModelFetch::failed, this, [this](FetchFailure failure, const QString &detail) {
        m_offer->showFailure(ModelFetch::failureText(failure), detail);
        updateOffer();
        if (!m_answer->isOffered())
            m_messages->showProblem(MessageBar::Kind::Error, ModelFetch::failureText(failure), detail);
    });
    connect(m_fetch, &ModelFetch::fetched, this, [this](bool wasCancelled) {
        m_isFetchedModelDamaged = false;
        m_offer->showOffer();
        updateOffer();
        if (m_session->state() == SessionState::NoModel && !wasCancelled)
            loadModel(m_fetch->destination());
        else if (!m_answer->isOffered()) // the user has opened another one meanwhile
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
    m_fetchMessage.clear();
    if (m_fetch->isRunning())
        tellFetch(tr("Fetching SmolLM2-135M-Instruct…"));
}

// Where the offer is not seen; once closed or replaced by another message it does not come back.
void MainWindow::tellFetch(const QString &text)
{
    const QString shown = m_messages->text();
    const bool isOwn = !m_fetchMessage.isEmpty() && shown == m_fetchMessage;
    if (m_answer->isOffered()) {
        if (isOwn)
            m_messages->dismiss();
        m_fetchMessage.clear();
    } else if ((isOwn && text != shown) || (m_fetchMessage.isEmpty() && shown.isEmpty())) {
        m_fetchMessage = text;
        m_messages->showProgress(text, tr("Cancel"), [this] { m_fetch->cancel(); });
    }
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
