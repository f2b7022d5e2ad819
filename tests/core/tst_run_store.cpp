// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of a session, their metrics and their table.
#include "app/core/run_table_model.h"
#include "app/core/token_selection.h"

#include <QAbstractItemModelTester>
#include <QLocale>
#include <QSignalSpy>
#include <QTest>

#include <set>

using namespace lectern;

namespace {

std::shared_ptr<RunRecord> emptyRun()
{
    return std::make_shared<RunRecord>();
}

// TTFT 2 s, then 100 tokens in 4 s: TPOT 40 ms, 25 tokens/s.
std::shared_ptr<RunRecord> finishedRun()
{
    auto record = std::make_shared<RunRecord>();
    record->model.name = "SmolLM2";
    record->engine.backend = "cpu";
    record->engine.threads = 2;
    record->engine.contextTokens = 8192;
    record->promptTokens.resize(50);
    record->reusedTokens = 49;
    record->outputTokens.resize(101);
    for (std::size_t i = 0; i < record->outputTokens.size(); ++i)
        record->outputTokens[i].timeNs = 2'000'000'000 + static_cast<std::int64_t>(i) * 40'000'000;
    record->kv.push_back({6'000'000'000, 150, 1'310'000, 1'470'000});
    record->state = RunState::Finished;
    record->finishReason = FinishReason::ContextFull;
    return record;
}

QString cell(const RunTableModel &model, int row, int column, int role = Qt::DisplayRole)
{
    return model.index(row, column).data(role).toString();
}

} // namespace

class TestRunStore : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void stylesAreSpreadEvenlyAndStayWithTheirRun();
    void theNewRunIsCurrentAndRemovalPicksANeighbour();
    void removalIsUndoneInItsOldPlace();
    void clearingGivesMemoryBack();
    void titlesAreCleanAndNeverEmpty();
    void selectionTellsOnlyChanges();
    void theTableFollowsTheStoreRowByRow();
    void theTableShowsMetricsAndTheirDefinitions();
    void theTableEditsTitleAndOverlay();
    void metricsAreDerivedOnceForAllWhoAskUntilTheRunGrows();
};

void TestRunStore::stylesAreSpreadEvenlyAndStayWithTheirRun()
{
    RunStore store;
    std::set<int> styles;
    for (int i = 0; i < kRunStyles; ++i)
        styles.insert(store.find(store.add(emptyRun(), QStringLiteral("run")))->style);
    QCOMPARE(styles.size(), static_cast<std::size_t>(kRunStyles));
    const RunEntry third = store.runs()[2];
    store.remove(third.id);
    QCOMPARE(store.find(store.add(emptyRun(), QStringLiteral("new")))->style, third.style); // the free one
    store.restoreLast();
    QCOMPARE(store.find(third.id)->style, third.style);
    const int last = store.add(emptyRun(), QStringLiteral("eighth"));
    QVERIFY(store.find(last)->style != third.style); // that one is worn twice already
}

void TestRunStore::theNewRunIsCurrentAndRemovalPicksANeighbour()
{
    RunStore store;
    QSignalSpy current(&store, &RunStore::currentChanged);
    const int first = store.add(emptyRun(), QStringLiteral("1"));
    const int second = store.add(emptyRun(), QStringLiteral("2"));
    const int third = store.add(emptyRun(), QStringLiteral("3"));
    QCOMPARE(store.currentId(), third);
    store.setCurrent(second);
    store.setCurrent(12345); // unknown
    QCOMPARE(store.currentId(), second);
    store.remove(second);
    QCOMPARE(store.currentId(), third);
    store.remove(third);
    QCOMPARE(store.currentId(), first);
    store.remove(first);
    QCOMPARE(store.currentId(), 0);
    QVERIFY(store.current() == nullptr);
    QCOMPARE(current.size(), 7);
    QCOMPARE(store.add(emptyRun(), QStringLiteral("4")), third + 1); // ids are never used again
}

void TestRunStore::removalIsUndoneInItsOldPlace()
{
    RunStore store;
    std::vector<int> ids;
    for (int i = 0; i < 4; ++i)
        ids.push_back(store.add(emptyRun(), QString::number(i)));
    QVERIFY(!store.canRestore());
    store.remove(ids[1]);
    store.remove(ids[2]);
    store.discard(ids[3]); // not undone
    store.restoreLast();
    store.restoreLast();
    store.restoreLast(); // nothing left
    std::vector<int> now;
    for (const RunEntry &entry : store.runs())
        now.push_back(entry.id);
    QCOMPARE(now, (std::vector<int>{ids[0], ids[1], ids[2]}));
    QCOMPARE(store.find(ids[1])->title, QStringLiteral("1"));
    QVERIFY(!store.canRestore());
}

void TestRunStore::clearingGivesMemoryBack()
{
    RunStore store;
    std::vector<std::weak_ptr<RunRecord>> records;
    for (int i = 0; i < 20; ++i) {
        auto record = emptyRun();
        record->outputTokens.resize(kRestorableTokens + 1);
        records.push_back(record);
        store.remove(store.add(record, QStringLiteral("large")));
    }
    const auto alive =
        std::count_if(records.begin(), records.end(), [](const auto &record) { return !record.expired(); });
    QCOMPARE(alive, 1); // the last one can be brought back
    QVERIFY(store.canRestore());
}

void TestRunStore::titlesAreCleanAndNeverEmpty()
{
    RunStore store;
    const int id = store.add(emptyRun(), QStringLiteral(" What's the\ncapital? "));
    QCOMPARE(store.find(id)->title, QStringLiteral("What's the capital?"));
    QSignalSpy edited(&store, &RunStore::runEdited);
    store.rename(id, QStringLiteral("  "));
    QCOMPARE(edited.size(), 0);
    store.rename(id, QStringLiteral("Paris"));
    store.rename(id, QStringLiteral("Paris"));
    QCOMPARE(edited.size(), 1);
    QCOMPARE(store.find(id)->title, QStringLiteral("Paris"));
    // A file may hold anything: a bell, an override of the direction, a word without an end.
    const int wild = store.add(emptyRun(), QStringLiteral("a\u0007b\u202Ec ") + QString(100'000, QLatin1Char('A')));
    QCOMPARE(store.find(wild)->title, QStringLiteral("abc ") + QString(115, QLatin1Char('A')) + QChar(0x2026));
}

void TestRunStore::selectionTellsOnlyChanges()
{
    TokenSelection selection;
    QSignalSpy changes(&selection, &TokenSelection::hoveredChanged);
    selection.setHovered({1, TokenPart::Output, 3});
    selection.setHovered({1, TokenPart::Output, 3});
    QCOMPARE(changes.size(), 1);
    selection.setHovered({2, TokenPart::Prompt, -1}); // none
    selection.clear();
    QCOMPARE(changes.size(), 2);
    QCOMPARE(selection.hovered(), TokenRef{});
}

void TestRunStore::theTableFollowsTheStoreRowByRow()
{
    RunStore store;
    store.add(emptyRun(), QStringLiteral("before the model"));
    RunTableModel model(&store);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
    QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
    std::vector<int> ids;
    for (int i = 0; i < 5; ++i)
        ids.push_back(store.add(finishedRun(), QString::number(i)));
    QCOMPARE(model.rowCount(), 6);
    store.remove(ids[1]);
    QCOMPARE(model.rowOf(ids[2]), 2);
    QCOMPARE(model.rowOf(ids[1]), -1);
    store.restoreLast();
    QCOMPARE(model.rowOf(ids[1]), 2);
    QCOMPARE(cell(model, 2, RunTableModel::Title), QStringLiteral("1"));
    QVERIFY(model.index(2, 0).data(RunTableModel::IsCurrentRole).toBool());

    changed.clear();
    QCOMPARE(cell(model, 5, RunTableModel::Output), QStringLiteral("101"));
    store.find(ids[4])->record->outputTokens.pop_back();
    store.notifyChanged(ids[4]);
    QCOMPARE(cell(model, 5, RunTableModel::Output), QStringLiteral("100"));
    QCOMPARE(changed.size(), 1);
    QCOMPARE(changed[0][0].toModelIndex(), model.index(5, 0));
    QCOMPARE(changed[0][1].toModelIndex(), model.index(5, RunTableModel::ColumnCount - 1));
    changed.clear();
    store.setCurrent(ids[0]);
    QCOMPARE(changed.size(), 2); // the row that was and the row that is
    QCOMPARE(reset.size(), 0);
}

void TestRunStore::theTableShowsMetricsAndTheirDefinitions()
{
    RunStore store;
    store.add(finishedRun(), QStringLiteral("full"));
    store.add(emptyRun(), QStringLiteral("waiting"));
    RunTableModel model(&store);
    const QStringList full = [&] {
        QStringList texts;
        for (int column = 0; column < RunTableModel::Overlay; ++column)
            texts.push_back(cell(model, 0, column));
        return texts;
    }();
    QCOMPARE(full, (QStringList{QStringLiteral("full"), QStringLiteral("SmolLM2"), QStringLiteral("CPU · 2 threads"),
                                QStringLiteral("50"), QStringLiteral("101"), QStringLiteral("2.00\u2009s"),
                                QStringLiteral("40.0\u2009ms"), QStringLiteral("25.0\u2009tok/s"),
                                QStringLiteral("1.31\u2009MB"), QStringLiteral("context full (8192 tokens)")}));
    for (int column : {RunTableModel::Ttft, RunTableModel::Tpot, RunTableModel::DecodeRate, RunTableModel::Kv})
        QCOMPARE(cell(model, 1, column), QStringLiteral("—"));
    QCOMPARE(cell(model, 1, RunTableModel::Outcome), QStringLiteral("waiting"));

    QCOMPARE(cell(model, 0, RunTableModel::Prompt, Qt::ToolTipRole),
             QStringLiteral("Prompt tokens: 50; from the cache of the run before: 49, evaluated: 1"));
    const QString tpot = cell(model, 0, RunTableModel::Tpot, Qt::ToolTipRole);
    QVERIFY2(tpot.contains(QStringLiteral("(Last token − first token) ÷ (output tokens − 1)")), qPrintable(tpot));
    QVERIFY2(tpot.contains(QStringLiteral("(6.00\u2009s − 2.00\u2009s) ÷ (101 − 1)")), qPrintable(tpot));
    QVERIFY(model.index(0, RunTableModel::Tpot).data(RunTableModel::SortRole).toDouble() >
            model.index(1, RunTableModel::Tpot).data(RunTableModel::SortRole).toDouble());
    QCOMPARE(model.index(0, RunTableModel::Tpot).data(RunTableModel::SortRole).toDouble(), 40e6);
    QCOMPARE(model.headerData(RunTableModel::Ttft, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("TTFT"));

    const std::shared_ptr<RunRecord> record = store.runs()[1].record;
    record->state = RunState::Failed;
    record->error = Error{ErrorCode::Numerics, "All scores are NaN", "step 7", {}};
    store.notifyChanged(store.runs()[1].id);
    QCOMPARE(cell(model, 1, RunTableModel::Outcome), QStringLiteral("failed"));
    QCOMPARE(cell(model, 1, RunTableModel::Outcome, Qt::ToolTipRole), QStringLiteral("step 7: All scores are NaN"));
}

void TestRunStore::theTableEditsTitleAndOverlay()
{
    RunStore store;
    const int id = store.add(emptyRun(), QStringLiteral("old"));
    RunTableModel model(&store);
    const QModelIndex title = model.index(0, RunTableModel::Title);
    const QModelIndex overlay = model.index(0, RunTableModel::Overlay);
    QVERIFY(title.flags() & Qt::ItemIsEditable);
    QVERIFY(!(overlay.flags() & Qt::ItemIsEditable));
    QVERIFY(overlay.flags() & Qt::ItemIsUserCheckable);
    QVERIFY(model.setData(title, QStringLiteral("new"), Qt::EditRole));
    QVERIFY(!model.setData(title, QStringLiteral(" "), Qt::EditRole));
    QCOMPARE(store.find(id)->title, QStringLiteral("new"));
    QVERIFY(model.setData(overlay, Qt::Checked, Qt::CheckStateRole));
    QVERIFY(store.find(id)->isOverlaid);
    QCOMPARE(overlay.data(Qt::CheckStateRole).toInt(), static_cast<int>(Qt::Checked));
    QVERIFY(!model.setData(model.index(0, RunTableModel::Model), QStringLiteral("x"), Qt::EditRole));
}

void TestRunStore::metricsAreDerivedOnceForAllWhoAskUntilTheRunGrows()
{
    const auto record = finishedRun();
    record->state = RunState::Decode;
    RunStore store;
    LiveMetrics &metrics = *store.find(store.add(record, QStringLiteral("run")))->metrics;
    QCOMPARE(*metrics.now().tpotNs, 40e6);
    record->outputTokens.back().timeNs += 100'000'000; // not growth: whoever asks now gets what was derived
    QCOMPARE(*metrics.now().tpotNs, 40e6);
    record->outputTokens.push_back(record->outputTokens.back());
    QCOMPARE(*metrics.now().tpotNs, 4.1e9 / 101);
    record->outputTokens.back().timeNs += 101'000'000; // the end is growth too
    record->state = RunState::Finished;
    QCOMPARE(*metrics.now().tpotNs, 4.201e9 / 101);
    record->outputTokens.resize(6'000, record->outputTokens.back());
    record->outputTokens.push_back(record->outputTokens.back());
    QCOMPARE(metrics.now().outputTokens, 6'001); // long runs are exact as well
}

QTEST_GUILESS_MAIN(TestRunStore)
#include "tst_run_store.moc"
