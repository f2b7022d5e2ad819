// SPDX-License-Identifier: GPL-3.0-or-later
// The KV cache: what it costs, how blocks are handed out, and what is counted.
#include "engine/base/cpu_features.h"
#include "engine/kv/kv_pool.h"

#include <QTest>

#include <algorithm>
#include <optional>
#include <set>

using namespace lectern;

namespace {

ModelSpec shape(int layers, int heads, int kvHeads, int headSize)
{
    ModelSpec spec;
    spec.layers = layers;
    spec.heads = heads;
    spec.kvHeads = kvHeads;
    spec.headSize = headSize;
    return spec;
}

// 4 layers, 2 KV heads, head size 16: 512 bytes per token in F16, 8 KiB per block.
const ModelSpec kSmall = shape(4, 8, 2, 16);

KvPool poolOf(int blocks, KvElement element = KvElement::F16)
{
    const auto perToken = kSmall.kvBytesPerToken(kvElementBytes(element));
    return std::move(
        KvPool::create(kSmall, element, perToken * kKvBlockTokens * static_cast<std::uint64_t>(blocks)).value());
}

} // namespace

class TestKv : public QObject
{
    Q_OBJECT

private slots:
    // Public case 47: from KV heads and head size, not from all heads.
    void aFullContextCostsWhatTheFormulaSays()
    {
        QCOMPARE(kSmall.kvBytesPerToken(2) * 4096, std::uint64_t(2'097'152));
        auto pool = KvPool::create(kSmall, KvElement::F16, 2'097'152);
        QVERIFY(pool.has_value());
        QCOMPARE(pool->budgetBytes(), std::uint64_t(2'097'152));
        QCOMPARE(pool->blockCount(), 256);

        KvSequence sequence(*pool);
        QVERIFY(sequence.reserve(4096).has_value());
        sequence.commit(4096);
        QCOMPARE(sequence.usedBytes(), std::uint64_t(2'097'152));
        QCOMPARE(sequence.allocatedBytes(), std::uint64_t(2'097'152));
        QCOMPARE(pool->allocatedBytes(), std::uint64_t(2'097'152));
    }

    // Public case 46: 128 GiB are computed, not allocated, and refused with both numbers.
    void moreMemoryThanTheMachineHasIsRefusedWithNeedAndFree()
    {
        const ModelSpec large = shape(32, 32, 8, 128);
        QCOMPARE(large.kvBytesPerToken(2), std::uint64_t(131'072));
        QCOMPARE(large.kvBytesPerToken(2) * 1'048'576, std::uint64_t(137'438'953'472));

        const std::uint64_t available = availableMemoryBytes();
        if (available == 0)
            QSKIP("this system does not say how much memory is available");
        std::uint64_t need = 137'438'953'472;
        while (need <= 2 * available)
            need *= 2;
        const auto pool = KvPool::create(large, KvElement::F16, need);
        QVERIFY(!pool.has_value());
        QCOMPARE(pool.error().code, ErrorCode::OutOfMemory);
        const QString text = QString::fromStdString(pool.error().text());
        QVERIFY2(text.contains(QString::number(need)), qPrintable(text));
        QVERIFY2(text.contains("131072 per token"), qPrintable(text));
        QVERIFY2(text.contains("are available"), qPrintable(text));
    }

    void aBudgetBelowOneBlockNamesBothNumbers()
    {
        const auto pool = KvPool::create(kSmall, KvElement::F16, 8191);
        QVERIFY(!pool.has_value());
        QCOMPARE(pool.error().code, ErrorCode::OutOfMemory);
        QCOMPARE(pool.error().message,
                 std::string("a budget of 8191 bytes is too small: one block of 16 tokens needs 8192 bytes"));
        QVERIFY(KvPool::create(kSmall, KvElement::F16, 8192).has_value());
    }

    void aBudgetIsRoundedDownToWholeBlocks()
    {
        const auto pool = KvPool::create(kSmall, KvElement::F16, 3 * 8192 + 8191);
        QVERIFY(pool.has_value());
        QCOMPARE(pool->blockCount(), 3);
        QCOMPARE(pool->budgetBytes(), std::uint64_t(3 * 8192));
    }

    void f32TakesTwiceTheBytesOfF16()
    {
        QCOMPARE(poolOf(1, KvElement::F32).bytesPerToken(), 2 * poolOf(1).bytesPerToken());
    }

    void blocksComeInTheSameOrderEveryTime()
    {
        KvPool pool = poolOf(4);
        KvSequence sequence(pool);
        for (int round = 0; round < 3; ++round) {
            QVERIFY(sequence.reserve(64).has_value());
            QCOMPARE(sequence.blocks(), (std::vector<BlockId>{0, 1, 2, 3}));
            sequence.truncate(0);
        }
    }

    void aBlockIsTakenForEverySixteenTokens()
    {
        KvPool pool = poolOf(4);
        KvSequence sequence(pool);
        QVERIFY(sequence.reserve(16).has_value());
        sequence.commit(16);
        QCOMPARE(pool.usedBlocks(), 1);
        QVERIFY(sequence.reserve(1).has_value());
        QCOMPARE(pool.usedBlocks(), 2);
        QCOMPARE(sequence.usedBytes(), std::uint64_t(16 * 512)); // reserved is not used
        sequence.commit(1);
        QCOMPARE(sequence.usedBytes(), std::uint64_t(17 * 512));
        QCOMPARE(sequence.allocatedBytes(), std::uint64_t(2 * 8192));
        QVERIFY(sequence.reserve(15).has_value()); // still fits the second block
        QCOMPARE(pool.usedBlocks(), 2);
    }

    void aFailedReservationTakesNothingAndNamesTheBudget()
    {
        KvPool pool = poolOf(2);
        KvSequence sequence(pool);
        QVERIFY(sequence.reserve(16).has_value());
        sequence.commit(16);
        const auto room = sequence.reserve(17);
        QVERIFY(!room.has_value());
        QCOMPARE(room.error().code, ErrorCode::OutOfMemory);
        QCOMPARE(room.error().message, std::string("the budget of 16384 bytes is used up: 33 tokens need 24576 bytes, "
                                                   "and the free blocks hold 8192"));
        QCOMPARE(pool.usedBlocks(), 1);
        QCOMPARE(sequence.tokens(), 16);
        QVERIFY(sequence.reserve(16).has_value());
    }

    void truncatingKeepsTheBlockThatIsStillInUse()
    {
        KvPool pool = poolOf(4);
        KvSequence sequence(pool);
        QVERIFY(sequence.reserve(50).has_value());
        sequence.commit(50);
        QCOMPARE(pool.usedBlocks(), 4);
        sequence.truncate(60); // never makes it longer
        QCOMPARE(sequence.tokens(), 50);
        sequence.truncate(17);
        QCOMPARE(sequence.tokens(), 17);
        QCOMPARE(sequence.blocks(), (std::vector<BlockId>{0, 1}));
        sequence.truncate(16);
        QCOMPARE(pool.usedBlocks(), 1);
        sequence.truncate(0);
        QCOMPARE(pool.usedBlocks(), 0);
    }

    void truncatingReleasesWhatWasReservedButNotCommitted()
    {
        KvPool pool = poolOf(4);
        KvSequence sequence(pool);
        QVERIFY(sequence.reserve(40).has_value());
        sequence.truncate(0);
        QCOMPARE(pool.usedBlocks(), 0);
    }

    void aSequenceGivesItsBlocksBackWhenItEnds()
    {
        KvPool pool = poolOf(3);
        KvSequence first(pool);
        QVERIFY(first.reserve(16).has_value());
        {
            KvSequence second(pool);
            QVERIFY(second.reserve(32).has_value());
            QCOMPARE(second.blocks(), (std::vector<BlockId>{1, 2}));
            QVERIFY(!pool.take().has_value());
        }
        QCOMPARE(pool.usedBlocks(), 1);
    }

    // Every head of every layer of every block has its own run of 16 · headSize elements, and together they fill the
    // pool.
    void keysAndValuesOfAllHeadsTileTheMemory()
    {
        KvPool pool = poolOf(3);
        std::set<std::byte *> starts;
        for (BlockId block = 0; block < 3; ++block)
            for (int layer = 0; layer < kSmall.layers; ++layer)
                for (int head = 0; head < kSmall.kvHeads; ++head) {
                    starts.insert(pool.keys(block, layer, head));
                    starts.insert(pool.values(block, layer, head));
                }
        QCOMPARE(starts.size(), std::size_t(3 * 4 * 2 * 2));
        const std::ptrdiff_t run = kKvBlockTokens * 16 * 2;
        std::byte *expected = *starts.begin();
        for (std::byte *start : starts) {
            QCOMPARE(start, expected);
            expected += run;
        }
        QCOMPARE(std::uint64_t(expected - *starts.begin()), pool.budgetBytes());
    }
};

QTEST_APPLESS_MAIN(TestKv)
#include "tst_kv.moc"
