// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run_store.h"

#include "app/core/format.h"

#include <algorithm>
#include <array>

namespace lectern {

namespace {

// The style that the fewest runs wear; the first of those. Two runs look alike only when there are more runs than
// styles.
int leastUsedStyle(const std::vector<RunEntry> &runs)
{
    std::array<int, kRunStyles> uses{};
    for (const RunEntry &entry : runs)
        ++uses[static_cast<std::size_t>(entry.style)];
    return static_cast<int>(std::min_element(uses.begin(), uses.end()) - uses.begin());
}

std::size_t tokensIn(const RunRecord &record)
{
    return record.promptTokens.size() + record.outputTokens.size();
}

// A title from a file or a user as every view can show it: one line, of a bounded length (a word of 20,000 letters took
// seconds to lay out), without control characters and marks that turn the direction of what follows.
QString tidyTitle(const QString &title)
{
    constexpr qsizetype kLongest = 120;
    QString tidy = title.left(kLongest * 8).simplified();
    tidy.removeIf([](QChar c) {
        return c.category() == QChar::Other_Control || (c >= QChar(0x202A) && c <= QChar(0x202E)) ||
               (c >= QChar(0x2066) && c <= QChar(0x2069));
    });
    return shortened(tidy, kLongest);
}

} // namespace

std::shared_ptr<const RunRecord> RunEntry::snapshot() const
{
    const bool hasEnded = record->state == RunState::Finished || record->state == RunState::Failed;
    return hasEnded ? record : std::make_shared<RunRecord>(*record);
}

int RunStore::indexOf(int id) const
{
    const auto found =
        std::find_if(m_runs.begin(), m_runs.end(), [id](const RunEntry &entry) { return entry.id == id; });
    return found == m_runs.end() ? -1 : static_cast<int>(found - m_runs.begin());
}

const RunEntry *RunStore::find(int id) const
{
    const int index = indexOf(id);
    return index < 0 ? nullptr : &m_runs[static_cast<std::size_t>(index)];
}

RunEntry *RunStore::entry(int id)
{
    return const_cast<RunEntry *>(find(id));
}

int RunStore::add(std::shared_ptr<RunRecord> record, const QString &title, const QString &filePath)
{
    const int id = ++m_lastId;
    auto metrics = std::make_shared<LiveMetrics>(record);
    m_runs.push_back(
        {id, tidyTitle(title), filePath, std::move(record), leastUsedStyle(m_runs), false, std::move(metrics)});
    Q_EMIT runAdded(id);
    setCurrent(id);
    return id;
}

void RunStore::setCurrent(int id)
{
    if (id == m_currentId || (id != 0 && indexOf(id) < 0))
        return;
    m_currentId = id;
    Q_EMIT currentChanged(id);
}

void RunStore::setOverlaid(int id, bool overlaid)
{
    RunEntry *run = entry(id);
    if (!run || run->isOverlaid == overlaid)
        return;
    run->isOverlaid = overlaid;
    Q_EMIT runEdited(id);
}

void RunStore::rename(int id, const QString &title)
{
    RunEntry *run = entry(id);
    const QString clean = tidyTitle(title);
    if (!run || clean.isEmpty() || clean == run->title)
        return;
    run->title = clean;
    Q_EMIT runEdited(id);
}

void RunStore::setFilePath(int id, const QString &filePath)
{
    RunEntry *run = entry(id);
    if (!run || run->filePath == filePath)
        return;
    run->filePath = filePath;
    Q_EMIT runEdited(id);
}

void RunStore::notifyGrown(int id)
{
    if (indexOf(id) >= 0)
        Q_EMIT runGrew(id);
}

void RunStore::notifyChanged(int id)
{
    if (indexOf(id) >= 0)
        Q_EMIT runChanged(id);
}

RunEntry RunStore::takeOut(int index)
{
    RunEntry taken = std::move(m_runs[static_cast<std::size_t>(index)]);
    m_runs.erase(m_runs.begin() + index);
    const bool wasCurrent = m_currentId == taken.id;
    if (wasCurrent) {
        const int next = std::min(index, static_cast<int>(m_runs.size()) - 1);
        m_currentId = next < 0 ? 0 : m_runs[static_cast<std::size_t>(next)].id;
    }
    Q_EMIT runRemoved(taken.id);
    if (wasCurrent)
        Q_EMIT currentChanged(m_currentId);
    return taken;
}

void RunStore::remove(int id)
{
    const int index = indexOf(id);
    if (index < 0)
        return;
    RunEntry taken = takeOut(index);
    m_removed.push_back({static_cast<std::size_t>(index), std::move(taken)});
    std::size_t tokens = 0;
    auto oldest = m_removed.end();
    while (oldest != m_removed.begin()) {
        tokens += tokensIn(*std::prev(oldest)->entry.record);
        if (tokens > kRestorableTokens && oldest != m_removed.end())
            break;
        --oldest;
    }
    m_removed.erase(m_removed.begin(), oldest);
}

void RunStore::discard(int id)
{
    if (const int index = indexOf(id); index >= 0)
        takeOut(index);
}

void RunStore::restoreLast()
{
    if (m_removed.empty())
        return;
    Removed last = std::move(m_removed.back());
    m_removed.pop_back();
    const int id = last.entry.id;
    const std::size_t index = std::min(last.index, m_runs.size());
    m_runs.insert(m_runs.begin() + static_cast<std::ptrdiff_t>(index), std::move(last.entry));
    Q_EMIT runAdded(id);
    setCurrent(id);
}

} // namespace lectern
