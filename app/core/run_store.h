// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of this session: live, finished and opened from files. Only the GUI thread reads and writes it.
#pragma once

#include "app/core/live_metrics.h"
#include "engine/trace/run_record.h"

#include <QObject>
#include <QString>

#include <memory>
#include <optional>
#include <vector>

namespace lectern {

// How a run looks in tables and charts: one colour and one marker and one dash pattern, the same everywhere.
// Index into the theme's series; 0 to kRunStyles - 1.
inline constexpr int kRunStyles = 6;

// Removed runs are kept for undo up to this many tokens in all, the last one always: clearing gives memory back.
inline constexpr std::size_t kRestorableTokens = 50'000;

struct RunEntry
{
    int id = 0; // > 0, never reused in a session
    QString title;
    QString filePath; // set once saved or opened
    std::shared_ptr<RunRecord> record;
    int style = 0;
    bool isOverlaid = false;                        // shown in every chart beside the current run
    std::shared_ptr<LiveMetrics> metrics = nullptr; // of the record, for all panes

    // The record as it is now, for other threads: itself once the run has ended, a copy while it grows (1.5 ms for
    // 8,000 tokens with 20 candidates each).
    std::shared_ptr<const RunRecord> snapshot() const;
};

class RunStore : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    const std::vector<RunEntry> &runs() const { return m_runs; } // oldest first
    const RunEntry *find(int id) const;
    int currentId() const { return m_currentId; } // 0: none; the run that the panes show
    const RunEntry *current() const { return find(m_currentId); }

    int add(std::shared_ptr<RunRecord> record, const QString &title, const QString &filePath = {}); // becomes current
    void setCurrent(int id);
    void setOverlaid(int id, bool overlaid);
    void rename(int id, const QString &title);
    void setFilePath(int id, const QString &filePath);
    void notifyGrown(int id);   // its record has new tokens; once per frame
    void notifyChanged(int id); // time to show its figures anew; more seldom
    void remove(int id);        // can be undone; the next run becomes current
    void discard(int id);       // cannot: for requests that were refused before anything ran
    bool canRestore() const { return !m_removed.empty(); }
    void restoreLast(); // undo of remove: back in its old place

Q_SIGNALS:
    void runAdded(int id);
    void runGrew(int id);    // for what shows its text
    void runChanged(int id); // for what shows its figures
    void runEdited(int id);  // title, file or overlay flag
    void runRemoved(int id);
    void currentChanged(int id);

private:
    struct Removed
    {
        std::size_t index;
        RunEntry entry;
    };
    int indexOf(int id) const;
    RunEntry *entry(int id);
    RunEntry takeOut(int index);
    std::vector<RunEntry> m_runs;
    std::vector<Removed> m_removed;
    int m_currentId = 0;
    int m_lastId = 0;
};

} // namespace lectern
