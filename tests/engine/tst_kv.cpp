// SPDX-License-Identifier: GPL-3.0-or-later
// The books of the KV cache: what it costs, how blocks and states are handed out, shared, copied and given back.
#include "engine/backend/host_kv_memory.h"
#include "engine/base/cpu_features.h"
#include "engine/kv/kv_sequence.h"

#include <QTest>

#include <set>

using namespace lectern;

namespace {

LayerSpec attention(int kvHeads, int headSize, int window = 0)
{
    LayerSpec layer;
    layer.heads = 8;
    layer.kvHeads = kvHeads;
    layer.keySize = layer.valueSize = headSize;
    layer.window = window;
    return layer;
}

LayerSpec state(std::uint64_t elements)
{
    LayerSpec layer;
    layer.mixer = Mixer::LinearAttention;
    layer.stateElements = elements;
    return layer;
}

ModelSpec specOf(std::vector<LayerSpec> layers)
{
    ModelSpec spec;
    spec.layers = std::move(layers);
    return spec;
}

// 4 layers, 2 KV heads, head size 16: 512 bytes per token in F16, 8 KiB per block.
const ModelSpec kSmall = specOf(std::vector<LayerSpec>(4, attention(2, 16)));
constexpr std::uint64_t kTokenBytes = 512;
constexpr std::uint64_t kBlockBytes = 8192;

// Remembers what was copied; has no bytes.
class RecordingMemory : public KvMemory
{
public:
    using KvMemory::KvMemory;
    void copyBlock(int group, BlockId from, BlockId to) override { copies.push_back({group, from, to}); }
    void copyState(BlockId from, BlockId to) override { stateCopies.push_back({0, from, to}); }
    void clearState(BlockId state) override { cleared.push_back(state); }

    std::vector<std::array<int, 3>> copies, stateCopies;
    std::vector<BlockId> cleared;
};

struct Pool
{
    RecordingMemory *memory;
    KvPool pool;

    explicit Pool(const ModelSpec &spec, std::vector<int> blocks, int states = 0)
        : Pool(std::make_unique<RecordingMemory>(KvLayout::of(spec, KvElement::F16),
                                                 KvCapacity{std::move(blocks), states}))
    {
    }
    explicit Pool(std::unique_ptr<RecordingMemory> own)
        : memory(own.get())
        , pool(std::move(own))
    {
    }
    int used(int group = 0) const { return pool.blocks(group).usedCount(); }
};

void append(KvSequence &sequence, int tokens)
{
    const auto room = sequence.reserve(tokens);
    QVERIFY2(room.has_value(), room ? "" : room.error().text().c_str());
    sequence.commit(tokens);
}

std::vector<BlockId> blocksOf(const KvSequence &sequence, int group = 0)
{
    return {sequence.blocks(group).begin(), sequence.blocks(group).end()};
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
        const KvLayout layout = KvLayout::of(kSmall, KvElement::F16);
        QCOMPARE(layout.budgetFor(4096, 1), std::uint64_t(2'097'152));
        const auto capacity = planKvCapacity(layout, 2'097'152, 1, 128);
        QVERIFY(capacity.has_value());
        QCOMPARE(capacity->blocks, std::vector<int>{256});

        Pool pool(kSmall, capacity->blocks);
        QCOMPARE(pool.pool.budgetBytes(), std::uint64_t(2'097'152));
        QCOMPARE(pool.pool.capacityTokens(), 4096);
        KvSequence sequence(pool.pool);
        append(sequence, 4096);
        QCOMPARE(sequence.usedBytes(), std::uint64_t(2'097'152));
        QCOMPARE(sequence.allocatedBytes(), std::uint64_t(2'097'152));
        QCOMPARE(pool.pool.allocatedBytes(), std::uint64_t(2'097'152));
        QCOMPARE(pool.pool.freeTokens(), 0);
    }

    // Public case 46: 128 GiB are computed, not allocated, and refused with both numbers.
    void moreMemoryThanTheMachineHasIsRefusedWithNeedAndFree()
    {
        const ModelSpec large = specOf(std::vector<LayerSpec>(32, attention(8, 128)));
        QCOMPARE(large.kvBytesPerToken(2), std::uint64_t(131'072));
        const std::uint64_t available = availableMemoryBytes();
        if (available == 0)
            QSKIP("this system does not say how much memory is available");
        std::uint64_t need = 137'438'953'472;
        while (need <= 2 * available)
            need *= 2;
        const auto capacity = planKvCapacity(KvLayout::of(large, KvElement::F16), need, 1, 128);
        QVERIFY(!capacity.has_value());
        QCOMPARE(capacity.error().code, ErrorCode::OutOfMemory);
        const QString text = QString::fromStdString(capacity.error().text());
        QVERIFY2(text.contains(QString::number(need)), qPrintable(text));
        QVERIFY2(text.contains("131072 per token"), qPrintable(text));
        QVERIFY2(text.contains("are available"), qPrintable(text));
    }

    void aBudgetBelowOneBlockNamesBothNumbers()
    {
        const KvLayout layout = KvLayout::of(kSmall, KvElement::F16);
        const auto capacity = planKvCapacity(layout, 8191, 1, 128);
        QVERIFY(!capacity.has_value());
        QCOMPARE(capacity.error().code, ErrorCode::OutOfMemory);
        QCOMPARE(capacity.error().message,
                 std::string("a budget of 8191 bytes is too small: one block of 16 tokens needs 8192 bytes"));
        QCOMPARE(planKvCapacity(layout, 8192, 1, 128)->blocks, std::vector<int>{1});
        QCOMPARE(planKvCapacity(layout, 3 * 8192 + 8191, 1, 128)->blocks, std::vector<int>{3}); // whole blocks
    }

    void f32TakesTwiceTheBytesOfF16()
    {
        QCOMPARE(KvLayout::of(kSmall, KvElement::F16).bytesPerToken(), kTokenBytes);
        QCOMPARE(KvLayout::of(kSmall, KvElement::F32).bytesPerToken(), 2 * kTokenBytes);
    }

    void blocksComeInTheSameOrderEveryTime()
    {
        Pool pool(kSmall, {4});
        KvSequence sequence(pool.pool);
        for (int round = 0; round < 3; ++round) {
            append(sequence, 64);
            QCOMPARE(blocksOf(sequence), (std::vector<BlockId>{0, 1, 2, 3}));
            sequence.truncate(0);
        }
    }

    void aBlockIsTakenForEverySixteenTokens()
    {
        Pool pool(kSmall, {4});
        KvSequence sequence(pool.pool);
        append(sequence, 16);
        QCOMPARE(pool.used(), 1);
        QVERIFY(sequence.reserve(1).has_value());
        QVERIFY(sequence.reserve(1).has_value()); // a second time nothing more
        QCOMPARE(pool.used(), 2);
        QCOMPARE(sequence.usedBytes(), 16 * kTokenBytes); // reserved is not used
        sequence.commit(1);
        QCOMPARE(sequence.usedBytes(), 17 * kTokenBytes);
        QCOMPARE(sequence.allocatedBytes(), 2 * kBlockBytes);
        QVERIFY(sequence.reserve(15).has_value()); // still fits the second block
        QCOMPARE(pool.used(), 2);
    }

    void aFailedReservationTakesNothingAndNamesTheBudget()
    {
        Pool pool(kSmall, {2});
        KvSequence sequence(pool.pool);
        append(sequence, 16);
        const auto room = sequence.reserve(17);
        QVERIFY(!room.has_value());
        QCOMPARE(room.error().code, ErrorCode::OutOfMemory);
        QCOMPARE(room.error().message, std::string("the budget of 16384 bytes is used up: 33 tokens need 24576 bytes, "
                                                   "and the free blocks hold 8192"));
        QCOMPARE(pool.used(), 1);
        QCOMPARE(sequence.tokens(), 16);
        append(sequence, 16);
    }

    void truncatingKeepsTheBlockThatIsStillInUse()
    {
        Pool pool(kSmall, {4});
        KvSequence sequence(pool.pool);
        append(sequence, 50);
        QCOMPARE(pool.used(), 4);
        sequence.truncate(60); // never makes it longer
        QCOMPARE(sequence.tokens(), 50);
        sequence.truncate(17);
        QCOMPARE(sequence.tokens(), 17);
        QCOMPARE(blocksOf(sequence), (std::vector<BlockId>{0, 1}));
        sequence.truncate(16);
        QCOMPARE(pool.used(), 1);
        QVERIFY(sequence.reserve(30).has_value());
        sequence.truncate(16); // what was reserved goes too
        QCOMPARE(pool.used(), 1);
        sequence.truncate(0);
        QCOMPARE(pool.used(), 0);
    }

    void aSequenceGivesItsBlocksBackWhenItEnds()
    {
        Pool pool(kSmall, {3});
        KvSequence first(pool.pool);
        append(first, 16);
        {
            KvSequence second(pool.pool);
            append(second, 32);
            QCOMPARE(blocksOf(second), (std::vector<BlockId>{1, 2}));
            QVERIFY(!pool.pool.blocks(0).take().has_value());
        }
        QCOMPARE(pool.used(), 1);
    }

    void aSharedPrefixIsCountedOnce()
    {
        Pool pool(kSmall, {8});
        KvSequence first(pool.pool);
        append(first, 48);
        auto second = std::make_unique<KvSequence>(pool.pool);
        second->share(first, 32);
        QCOMPARE(second->tokens(), 32);
        QCOMPARE(blocksOf(*second), (std::vector<BlockId>{0, 1}));
        QCOMPARE(second->allocatedBytes(), 2 * kBlockBytes); // what it uses
        QCOMPARE(pool.pool.allocatedBytes(), 3 * kBlockBytes);
        append(*second, 16);
        QCOMPARE(pool.used(), 4);
        QVERIFY(pool.memory->copies.empty()); // whole blocks are never written again
        first.truncate(0);
        QCOMPARE(pool.used(), 3); // the other one still has them
        second.reset();
        QCOMPARE(pool.used(), 0);
    }

    void whoWritesToASharedBlockFirstGetsACopy_data()
    {
        QTest::addColumn<bool>("sourceWrites");
        QTest::newRow("the one that shared") << false;
        QTest::newRow("the source") << true;
    }
    void whoWritesToASharedBlockFirstGetsACopy()
    {
        QFETCH(bool, sourceWrites);
        Pool pool(kSmall, {4});
        KvSequence source(pool.pool), other(pool.pool);
        append(source, 20);
        other.share(source, 20);
        QCOMPARE(pool.used(), 2);
        KvSequence &writer = sourceWrites ? source : other;
        append(writer, 1);
        QCOMPARE(pool.memory->copies, (std::vector<std::array<int, 3>>{{0, 1, 2}}));
        QCOMPARE(blocksOf(writer), (std::vector<BlockId>{0, 2}));
        append(sourceWrites ? other : source, 1); // alone with the block now
        QCOMPARE(pool.memory->copies.size(), 1u);
        QCOMPARE(pool.used(), 3);
    }

    void aCopyThatFindsNoBlockIsARefusalThatTakesNothing()
    {
        Pool pool(kSmall, {2});
        KvSequence source(pool.pool), other(pool.pool);
        append(source, 20);
        other.share(source, 20);
        QVERIFY(!other.reserve(1).has_value());
        QCOMPARE(pool.used(), 2);
        QVERIFY(pool.memory->copies.empty());
        source.truncate(16); // and the block has one user only
        append(other, 1);
        QVERIFY(pool.memory->copies.empty());
    }

    void windowedLayersStopGrowing()
    {
        // Two layers that see all, two with a window of 40: 256 bytes a token each group.
        const ModelSpec spec = specOf({attention(2, 16), attention(2, 16, 40), attention(2, 16), attention(2, 16, 40)});
        const KvLayout layout = KvLayout::of(spec, KvElement::F16);
        QCOMPARE(layout.groups.size(), 2u);
        QCOMPARE(layout.groups[1].layers, (std::vector<int>{1, 3}));
        QCOMPARE(layout.groupOf, (std::vector<int>{0, 1, 0, 1}));
        QCOMPARE(layout.usedBytes(100), std::uint64_t(100 * 256 + 40 * 256));

        Pool pool(spec, {10, 10});
        KvSequence sequence(pool.pool);
        for (int i = 0; i < 100; ++i) {
            append(sequence, 1);
            QVERIFY(sequence.usedBytes() <= sequence.allocatedBytes());
        }
        QCOMPARE(pool.used(0), 7);
        QCOMPARE(pool.used(1), 4); // positions 48 to 99
        QCOMPARE(blocksOf(sequence, 1)[2], kNoBlock);
        QVERIFY(blocksOf(sequence, 1)[3] != kNoBlock);
        QCOMPARE(sequence.usedBytes(), std::uint64_t(140 * 256));
        QCOMPARE(pool.pool.capacityTokens(), 160); // of the layers that see all
        sequence.truncate(99);
        QCOMPARE(sequence.tokens(), 99); // its window is still there
        sequence.truncate(60);
        QCOMPARE(sequence.tokens(), 0); // that one is gone
        QCOMPARE(pool.used(0) + pool.used(1), 0);
    }

    void layersThatUseAnEarlierCacheCostNothing()
    {
        ModelSpec spec = specOf({attention(2, 16), attention(2, 16), attention(2, 16, 8)});
        spec.layers[1].kvSource = 0;
        const KvLayout layout = KvLayout::of(spec, KvElement::F16);
        QCOMPARE(layout.groupOf, (std::vector<int>{0, 0, 1}));
        QCOMPARE(layout.groups[0].bytesPerToken, std::uint64_t(2 * 2 * 16 * 2));
        QCOMPARE(spec.kvBytesPerToken(2), std::uint64_t(2 * 2 * 2 * 16 * 2));
        const auto memory = HostKvMemory::create(spec, layout, {{2, 2}, 0});
        QVERIFY(memory.has_value());
        QCOMPARE((*memory)->keys(1, 1, 1), (*memory)->keys(1, 0, 1));
        QCOMPARE((*memory)->values(1, 1, 0), (*memory)->values(1, 0, 0));
    }

    void statesOfFixedSizeAreSharedCopiedAndFreedLikeBlocks()
    {
        const ModelSpec spec = specOf({state(100), attention(2, 16)});
        Pool pool(spec, {8}, 3);
        KvSequence first(pool.pool);
        QCOMPARE(first.usedBytes(), std::uint64_t(0));
        append(first, 20);
        QCOMPARE(pool.memory->cleared, std::vector<BlockId>{0});
        QCOMPARE(first.usedBytes(), std::uint64_t(400 + 20 * 128));
        append(first, 20);
        QCOMPARE(first.usedBytes(), std::uint64_t(400 + 40 * 128)); // the state did not grow
        QCOMPARE(first.allocatedBytes(), std::uint64_t(400 + 3 * 16 * 128));

        KvSequence second(pool.pool);
        second.share(first, 20); // the state is that of 40 tokens
        QCOMPARE(second.tokens(), 0);
        second.share(first, 40);
        QCOMPARE(second.tokens(), 40);
        QCOMPARE(pool.pool.states().usedCount(), 1);
        append(second, 1);
        QCOMPARE(pool.memory->stateCopies, (std::vector<std::array<int, 3>>{{0, 0, 1}}));
        QCOMPARE(second.state(), 1);
        append(first, 1);
        QCOMPARE(pool.memory->stateCopies.size(), 1u); // alone with its state
        second.truncate(30);
        QCOMPARE(second.tokens(), 0); // no way back
        QCOMPARE(pool.pool.states().usedCount(), 1);
        first.truncate(41);
        QCOMPARE(first.tokens(), 41);
    }

    void aSequenceWithoutAFreeStateIsRefused()
    {
        Pool pool(specOf({state(100)}), {}, 1);
        KvSequence first(pool.pool), second(pool.pool);
        append(first, 1000); // no blocks at all
        QCOMPARE(first.allocatedBytes(), std::uint64_t(400));
        const auto room = second.reserve(1);
        QVERIFY(!room.has_value());
        QCOMPARE(room.error().code, ErrorCode::OutOfMemory);
    }

    void aBudgetIsSharedOutBetweenGroupsAndStates()
    {
        const ModelSpec spec = specOf({state(64), attention(2, 16), attention(2, 16, 32)});
        const KvLayout layout =
            KvLayout::of(spec, KvElement::F16); // blocks of 2 KiB in both groups, states of 256 bytes
        // Two sequences: four states; of a window of 32 and passes of 16 tokens four blocks each, four times.
        const KvCapacity capacity = layout.capacityFor(1024 + 2048 * 100, 2, 16);
        QCOMPARE(capacity.states, 4);
        QCOMPARE(capacity.blocks, (std::vector<int>{84, 16}));
        QCOMPARE(layout.bytesOf(capacity), std::uint64_t(1024 + 2048 * 100));
        QCOMPARE(layout.capacityFor(1024 + 2048 * 10, 2, 16).blocks,
                 (std::vector<int>{5, 5})); // alike when it is short
        QCOMPARE(layout.capacityFor(1000, 2, 16).states, 0);
        QVERIFY(!planKvCapacity(layout, 1024 + 2048, 2, 16).has_value());
    }

    // Every head of every layer of every block has its own run of 16 · headSize elements, and together they fill the
    // memory.
    void keysAndValuesOfAllHeadsTileTheMemory()
    {
        const auto memory = HostKvMemory::create(kSmall, KvLayout::of(kSmall, KvElement::F16), {{3}, 0});
        QVERIFY(memory.has_value());
        std::set<std::byte *> starts;
        for (BlockId block = 0; block < 3; ++block)
            for (int layer = 0; layer < kSmall.layerCount(); ++layer)
                for (int head = 0; head < 2; ++head) {
                    starts.insert((*memory)->keys(block, layer, head));
                    starts.insert((*memory)->values(block, layer, head));
                }
        QCOMPARE(starts.size(), std::size_t(3 * 4 * 2 * 2));
        const std::ptrdiff_t run = kKvBlockTokens * 16 * 2;
        std::byte *expected = *starts.begin();
        for (std::byte *start : starts) {
            QCOMPARE(start, expected);
            expected += run;
        }
        QCOMPARE(std::uint64_t(expected - *starts.begin()), 3 * kBlockBytes);
    }

    void copiesAreWholeBlocksAndStates()
    {
        const ModelSpec spec = specOf({attention(2, 16), state(8), attention(1, 4, 32)});
        const auto memory = HostKvMemory::create(spec, KvLayout::of(spec, KvElement::F16), {{3, 3}, 2});
        QVERIFY(memory.has_value());
        std::byte *key = (*memory)->keys(0, 2, 0), *lastValue = (*memory)->values(0, 2, 0) + 4 * 16 * 2 - 1;
        *key = std::byte(7);
        *lastValue = std::byte(9);
        (*memory)->copyBlock(1, 0, 2);
        QCOMPARE(*(*memory)->keys(2, 2, 0), std::byte(7));
        QCOMPARE(*((*memory)->values(2, 2, 0) + 4 * 16 * 2 - 1), std::byte(9));
        QCOMPARE(*(*memory)->keys(1, 2, 0), std::byte(0));
        QCOMPARE(*(*memory)->keys(0, 0, 0), std::byte(0)); // the other group
    }
};

QTEST_APPLESS_MAIN(TestKv)
#include "tst_kv.moc"
