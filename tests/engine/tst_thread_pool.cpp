// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/aligned_buffer.h"
#include "engine/base/cpu_features.h"
#include "engine/base/thread_pool.h"

#include <QTest>

#include <atomic>
#include <new>
#include <numeric>
#include <vector>

using namespace lectern;

class TestThreadPool : public QObject
{
    Q_OBJECT

private slots:
    void everyThreadRunsTheJobOnce_data();
    void everyThreadRunsTheJobOnce();
    void forEachCoversEveryIndexOnce_data();
    void forEachCoversEveryIndexOnce();
    void manyShortRoundsLoseNothing();
    void aPoolThatWasIdleWakesUp();
    void whatAJobThrowsReachesTheCaller_data() { everyThreadRunsTheJobOnce_data(); }
    void whatAJobThrowsReachesTheCaller();
    void largeBuffersAreZeroAndHugePageAligned();
    void impossibleBuffersAreRefusedWithTheirSize();
    void theEnvironmentOnlyLowersTheInstructionSet();
};

void TestThreadPool::everyThreadRunsTheJobOnce_data()
{
    QTest::addColumn<int>("threads");
    for (int threads : {1, 2, 3, 5})
        QTest::addRow("%d threads", threads) << threads;
}

void TestThreadPool::everyThreadRunsTheJobOnce()
{
    QFETCH(int, threads);
    ThreadPool pool(threads);
    QCOMPARE(pool.threads(), threads);
    std::vector<int> calls(static_cast<std::size_t>(threads), 0); // plain ints: run() must order these accesses
    for (int round = 0; round < 50; ++round)
        pool.run([&](int index) { ++calls[static_cast<std::size_t>(index)]; });
    for (int count : calls)
        QCOMPARE(count, 50);
}

void TestThreadPool::whatAJobThrowsReachesTheCaller()
{
    QFETCH(int, threads);
    ThreadPool pool(threads);
    for (int thrower = 0; thrower < threads; ++thrower) {
        std::atomic<int> others = 0;
        const auto job = [&](int index) {
            if (index == thrower)
                throw std::bad_alloc();
            ++others;
        };
        QVERIFY_THROWS_EXCEPTION(std::bad_alloc, pool.run(job));
        QCOMPARE(others.load(), threads - 1); // it waited for them
        std::atomic<int> calls = 0;
        pool.run([&](int) { ++calls; });
        QCOMPARE(calls.load(), threads);
    }
}

void TestThreadPool::forEachCoversEveryIndexOnce_data()
{
    QTest::addColumn<int>("count");
    QTest::addColumn<int>("grain");
    QTest::newRow("nothing") << 0 << 4;
    QTest::newRow("one") << 1 << 4;
    QTest::newRow("one piece") << 4 << 4;
    QTest::newRow("ragged") << 1001 << 7;
    QTest::newRow("grain 0 counts as 1") << 10 << 0;
}

void TestThreadPool::forEachCoversEveryIndexOnce()
{
    QFETCH(int, count);
    QFETCH(int, grain);
    for (int threads : {1, 3}) {
        ThreadPool pool(threads);
        std::vector<int> hits(static_cast<std::size_t>(count), 0);
        std::atomic<bool> tooLong{false};
        pool.forEach(count, grain, [&](std::int64_t begin, std::int64_t end) {
            if (end - begin > std::max(1, grain))
                tooLong = true;
            for (std::int64_t i = begin; i < end; ++i)
                ++hits[static_cast<std::size_t>(i)];
        });
        QVERIFY(!tooLong);
        QCOMPARE(std::accumulate(hits.begin(), hits.end(), 0), count);
        QVERIFY(std::all_of(hits.begin(), hits.end(), [](int n) { return n == 1; }));
    }
}

void TestThreadPool::manyShortRoundsLoseNothing()
{
    ThreadPool pool(3);
    std::int64_t sum = 0;
    std::vector<std::int64_t> parts(3, 0);
    for (int round = 1; round <= 20000; ++round) {
        pool.run([&](int index) { parts[static_cast<std::size_t>(index)] = round + index; });
        sum += parts[0] + parts[1] + parts[2];
    }
    QCOMPARE(sum, std::int64_t{3} * 20000 * 20001 / 2 + 3 * 20000);
}

void TestThreadPool::aPoolThatWasIdleWakesUp()
{
    ThreadPool pool(2);
    for (int round = 0; round < 5; ++round) {
        std::atomic<int> calls{0};
        // Longer than the spin, so that the caller's and the worker's next wait goes through the futex.
        pool.run([&](int index) {
            const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(index == round % 2 ? 2 : 0);
            while (std::chrono::steady_clock::now() < end) {
            }
            ++calls;
        });
        QCOMPARE(calls.load(), 2);
    }
}

void TestThreadPool::largeBuffersAreZeroAndHugePageAligned()
{
    for (std::size_t bytes : {std::size_t{1}, std::size_t{4097}, std::size_t{5} << 20}) {
        Result<AlignedBuffer> buffer = AlignedBuffer::create(bytes);
        QVERIFY(buffer.has_value());
        QCOMPARE(buffer->size(), bytes);
        const std::size_t alignment = bytes > (4u << 20) ? 2u << 20 : 64;
        QCOMPARE(reinterpret_cast<std::uintptr_t>(buffer->data()) % alignment, std::uintptr_t{0});
        QVERIFY(std::all_of(buffer->data(), buffer->data() + bytes, [](std::byte b) { return b == std::byte{0}; }));
        buffer->data()[bytes - 1] = std::byte{7};
        const AlignedBuffer moved = std::move(*buffer);
        QCOMPARE(moved.data()[bytes - 1], std::byte{7});
        QVERIFY(buffer->data() == nullptr);
    }
}

void TestThreadPool::impossibleBuffersAreRefusedWithTheirSize()
{
    for (std::size_t bytes : {std::size_t{1} << 60, SIZE_MAX}) {
        const Result<AlignedBuffer> buffer = AlignedBuffer::create(bytes);
        QVERIFY(!buffer.has_value());
        QCOMPARE(buffer.error().code, ErrorCode::OutOfMemory);
        QVERIFY(buffer.error().text().find(std::to_string(bytes)) != std::string::npos);
    }
}

void TestThreadPool::theEnvironmentOnlyLowersTheInstructionSet()
{
    const QByteArray before = qgetenv("LECTERN_ISA");
    qunsetenv("LECTERN_ISA");
    const IsaLevel best = bestIsaLevel();
    qputenv("LECTERN_ISA", "scalar");
    QCOMPARE(bestIsaLevel(), IsaLevel::Scalar);
    qputenv("LECTERN_ISA", "avx2");
    QCOMPARE(bestIsaLevel(), std::min(best, IsaLevel::Avx2));
    qputenv("LECTERN_ISA", "avx512");
    QCOMPARE(bestIsaLevel(), best);
    before.isEmpty() ? qunsetenv("LECTERN_ISA") : qputenv("LECTERN_ISA", before);
    QVERIFY(cpuCoreCount() >= 1);
}

QTEST_APPLESS_MAIN(TestThreadPool)
#include "tst_thread_pool.moc"
