// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/prompt_tokenizer.h"

#include "app/core/prompt_text.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace lectern {

namespace {

struct Job
{
    LoadedModelPtr model;
    QString userText;
    Request request;
    std::shared_ptr<StopFlag> stop = std::make_shared<StopFlag>();
};

void setUserText(Request &request, std::string text)
{
    if (request.kind == PromptKind::Text) {
        request.text = std::move(text);
    } else if (request.kind == PromptKind::Chat) {
        const auto last = std::find_if(request.messages.rbegin(), request.messages.rend(),
                                       [](const ChatMessage &message) { return message.role == "user"; });
        if (last != request.messages.rend())
            last->content = std::move(text);
        else
            request.messages.push_back({"user", std::move(text)});
    }
}

PromptTokensPtr tokenize(Job &job)
{
    auto tokens = std::make_shared<PromptTokens>();
    tokens->userText = job.userText;
    PromptUtf8 utf8 = toPromptUtf8(job.userText);
    tokens->replacedCount = utf8.replacedCount;
    setUserText(job.request, std::move(utf8.text));
    Result<PreparedPrompt> prepared = preparePrompt(*job.model, job.request, *job.stop);
    if (prepared)
        tokens->prepared = std::move(*prepared);
    else
        tokens->error = prepared.error();
    return tokens;
}

} // namespace

// The mailbox has one place in each direction: a newer request or result replaces what waits there.
struct PromptTokenizer::Private
{
    LoadedModelPtr model; // GUI thread
    Mailbox inbox;        // GUI thread

    std::mutex mutex; // guards everything below
    std::condition_variable wake;
    std::optional<Job> next;
    std::shared_ptr<StopFlag> running; // of the job at work; nullptr if idle
    PromptTokensPtr result;            // of the newest request, not yet delivered
    bool isClosing = false;

    std::thread thread;

    void cancelAll() // with the mutex held
    {
        if (running)
            running->request();
        next.reset();
        result.reset();
    }

    std::optional<Job> takeJob()
    {
        std::unique_lock lock(mutex);
        wake.wait(lock, [this] { return next || isClosing; });
        if (isClosing)
            return std::nullopt;
        std::optional<Job> job = std::exchange(next, std::nullopt);
        running = job->stop;
        return job;
    }

    bool putResult(const Job &job, PromptTokensPtr tokens)
    {
        const std::lock_guard lock(mutex);
        running.reset();
        if (job.stop->isRequested())
            return false;
        result = std::move(tokens);
        return true;
    }
};

PromptTokenizer::PromptTokenizer(QObject *parent)
    : QObject(parent)
    , d(std::make_unique<Private>())
{
    d->thread = std::thread([this] {
        while (std::optional<Job> job = d->takeJob()) {
            PromptTokensPtr tokens = tokenize(*job);
            if (d->putResult(*job, std::move(tokens)))
                d->inbox.post([this] { deliver(); });
        }
    });
}

PromptTokenizer::~PromptTokenizer()
{
    {
        const std::lock_guard lock(d->mutex);
        d->cancelAll();
        d->isClosing = true;
    }
    d->wake.notify_one();
    d->thread.join();
}

void PromptTokenizer::setModel(LoadedModelPtr model)
{
    d->model = std::move(model);
    const std::lock_guard lock(d->mutex);
    d->cancelAll();
}

void PromptTokenizer::request(const QString &userText, const Request &request)
{
    if (!d->model)
        return;
    {
        const std::lock_guard lock(d->mutex);
        d->cancelAll();
        d->next = Job{d->model, userText, request};
    }
    d->wake.notify_one();
}

void PromptTokenizer::deliver()
{
    PromptTokensPtr tokens;
    {
        const std::lock_guard lock(d->mutex);
        tokens = std::exchange(d->result, nullptr);
    }
    if (tokens)
        Q_EMIT ready(tokens);
}

} // namespace lectern
