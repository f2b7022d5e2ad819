// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels of every instruction set this machine has, against float64 arithmetic on the dequantised numbers.
//
// Bounds. With the quantised activations taken as given, the integer parts are exact and only float32 sums round: at
// most (blocks + 4) · 2^-24 of the sum of magnitudes for int8, columns · 2^-24 for float formats. Against the
// activations before quantisation half a step of each block comes on top: scale / 2 · sum of |weights| of the block.
#include "engine/backend/cpu/matmul.h"
#include "tests/support/quantise.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace lectern;
using namespace lectern::cpu;

namespace {

constexpr double kRounding = 0x1p-24; // half a unit in the last place of float32, relative

std::vector<IsaLevel> levels()
{
    std::vector<IsaLevel> found;
    for (IsaLevel level : {IsaLevel::Scalar, IsaLevel::Avx2, IsaLevel::Avx512}) {
        if (level <= bestIsaLevel())
            found.push_back(level);
    }
    return found;
}

std::vector<float> randomFloats(std::size_t count, unsigned seed, float size = 1)
{
    std::mt19937 random(seed); // its sequence is fixed by the standard
    std::vector<float> values(count);
    for (float &value : values)
        value = size * (static_cast<float>(random() >> 8) / 8388608.0f - 1.0f);
    return values;
}

// A packed matrix with its float values, rows one after another.
struct Matrix
{
    std::vector<std::byte> memory;
    PackedMatrix packed;
    std::vector<float> values;

    Matrix(QuantId type, int rows, int columns, unsigned seed)
    {
        const auto id = static_cast<std::uint32_t>(type);
        const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
        const std::string file = lectern::test::quantise(type, randomFloats(count, seed, 0.1f));
        packed.format = findPackedFormat(id);
        packed.type = findQuantType(id);
        packed.rows = rows;
        packed.columns = columns;
        memory.resize(packed.bytes(), std::byte{0xee}); // not zero: packing must fill every byte
        packed.data = memory.data();
        const auto bytes = std::as_bytes(std::span(file));
        for (int panel = 0; panel < packed.panels(); ++panel) {
            const std::size_t offset = packed.panelBytes() * static_cast<std::size_t>(panel);
            packed.packPanel(panel, bytes.subspan(offset, std::min(packed.panelBytes(), bytes.size() - offset)));
        }
        values.resize(count);
        packed.type->dequantise(bytes.data(), values.data(),
                                count / static_cast<std::size_t>(packed.type->blockValues));
    }

    double weight(int row, int column) const
    {
        return static_cast<double>(values[static_cast<std::size_t>(row) * static_cast<std::size_t>(packed.columns) +
                                          static_cast<std::size_t>(column)]);
    }
};

// y[tokens][rows] by the kernels of a level, x[tokens][columns].
std::vector<float> product(IsaLevel level, const Matrix &matrix, const std::vector<float> &x, int tokens,
                           int threads = 1, float before = 0, bool add = false)
{
    ThreadPool pool(threads);
    ActivationTiles tiles = std::move(ActivationTiles::create(tokens, matrix.packed.columns).value());
    std::vector<float> input = x;
    const Rows rows{input.data(), static_cast<std::size_t>(matrix.packed.columns)};
    const std::array users{&matrix.packed};
    tiles.prepare(pool, kernelsFor(level), rows, tokens, matrix.packed.columns, nullptr, users);
    const std::size_t stride = rowStride(matrix.packed.rows);
    std::vector<float> y(stride * static_cast<std::size_t>(tokens), before);
    multiply(pool, kernelsFor(level), tiles, std::array{Product{&matrix.packed, Rows{y.data(), stride}}}, add);
    std::vector<float> dense;
    for (int t = 0; t < tokens; ++t) {
        const auto row = y.begin() + static_cast<std::ptrdiff_t>(stride) * t;
        dense.insert(dense.end(), row, row + matrix.packed.rows);
    }
    return dense;
}

bool hasSameBits(const std::vector<float> &a, const std::vector<float> &b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// One row as the int8 tile of one token: the values it stands for.
struct QuantisedRow
{
    std::vector<double> values;
    std::vector<double> scales; // per block
};

QuantisedRow quantisedRow(const std::vector<float> &x)
{
    const int columns = static_cast<int>(x.size());
    std::vector<std::byte> tile(activationBytesPerToken(ActivationKind::Int8, columns));
    kernelsFor(IsaLevel::Scalar).quantiseRow(x.data(), columns, 0, 1, tile.data());
    QuantisedRow row;
    for (std::size_t at = 0; at < tile.size(); at += kInt8BlockBytes) {
        float scale;
        std::memcpy(&scale, &tile[at + kBlockColumns], sizeof scale);
        row.scales.push_back(static_cast<double>(scale));
        for (std::size_t k = 0; k < kBlockColumns; ++k)
            row.values.push_back(static_cast<double>(scale) * static_cast<std::int8_t>(tile[at + k]));
    }
    return row;
}

} // namespace

class TestCpuKernels : public QObject
{
    Q_OBJECT

    static void formatsAndLevels()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("level");
        for (const QuantType &type : quantTypes()) {
            for (IsaLevel level : levels())
                QTest::addRow("%s %s", type.name, isaLevelName(level).data())
                    << static_cast<int>(type.id) << static_cast<int>(level);
        }
    }

private slots:
    void packingLosesNothing();
    void productsStayWithinTheirRounding_data() { formatsAndLevels(); }
    void productsStayWithinTheirRounding();
    void aTokenDoesNotDependOnItsTile_data() { formatsAndLevels(); }
    void aTokenDoesNotDependOnItsTile();
    void threadsChangeNoBit_data() { formatsAndLevels(); }
    void threadsChangeNoBit();
    void vectorLevelsAgreeOnInt8Products();
    void addingContinuesFromWhatIsThere();
    void quantisationKeepsHalfAStep();
    void numbersThatAreNoneStayVisible();
    void normsMatchTheirFormula();
    void gatesMatchTheirFormula();
    void rotationsTurnPairs();
};

void TestCpuKernels::packingLosesNothing()
{
    for (const QuantType &type : quantTypes()) {
        for (int rows : {1, 15, 16, 17, 50}) {
            const Matrix matrix(type.id, rows, 96, 3);
            std::vector<float> row(96);
            std::vector<std::byte> scratch;
            for (int r = 0; r < rows; ++r) {
                matrix.packed.dequantiseRow(r, row.data(), scratch);
                QVERIFY2(std::equal(row.begin(), row.end(), matrix.values.begin() + 96 * r), type.name);
            }
        }
    }
}

void TestCpuKernels::productsStayWithinTheirRounding()
{
    QFETCH(int, type);
    QFETCH(int, level);
    const bool isFloat = findPackedFormat(static_cast<std::uint32_t>(type))->activations == ActivationKind::Float;
    struct Shape
    {
        int rows, columns, tokens;
    };
    for (Shape shape : {Shape{1, 32, 1}, Shape{16, 64, 2}, Shape{17, 96, 3}, Shape{50, 576, 8}, Shape{33, 160, 13}}) {
        const Matrix matrix(static_cast<QuantId>(type), shape.rows, shape.columns, 11);
        const auto columns = static_cast<std::size_t>(shape.columns);
        const std::vector<float> x = randomFloats(columns * static_cast<std::size_t>(shape.tokens), 5, 3);
        const std::vector<float> y = product(static_cast<IsaLevel>(level), matrix, x, shape.tokens);
        for (int t = 0; t < shape.tokens; ++t) {
            const std::vector<float> token(x.begin() + t * shape.columns, x.begin() + (t + 1) * shape.columns);
            const QuantisedRow quantised = quantisedRow(token);
            for (int r = 0; r < shape.rows; ++r) {
                double given = 0, exact = 0, magnitude = 0, halfSteps = 0;
                for (int c = 0; c < shape.columns; ++c) {
                    const auto i = static_cast<std::size_t>(c);
                    const double used = isFloat ? static_cast<double>(token[i]) : quantised.values[i];
                    given += matrix.weight(r, c) * used;
                    exact += matrix.weight(r, c) * static_cast<double>(token[i]);
                    // Q4_1 adds quant · scale and minimum, which may cancel: each is below twice the largest weight.
                    magnitude += (std::abs(matrix.weight(r, c)) + 0.2) * std::abs(used);
                    halfSteps += std::abs(matrix.weight(r, c)) * quantised.scales[i / kBlockColumns] / 2;
                }
                const double found = static_cast<double>(y[static_cast<std::size_t>(t * shape.rows + r)]);
                const int roundings = isFloat ? shape.columns : shape.columns / kBlockColumns + 4;
                const double rounding = roundings * kRounding * magnitude;
                QVERIFY2(std::abs(found - given) <= rounding,
                         qPrintable(QString("row %1 token %2: %3, expected %4").arg(r).arg(t).arg(found).arg(given)));
                QVERIFY(std::abs(found - exact) <= rounding + (isFloat ? 0 : halfSteps * (1 + 1e-6)));
            }
        }
    }
}

void TestCpuKernels::aTokenDoesNotDependOnItsTile()
{
    QFETCH(int, type);
    QFETCH(int, level);
    const Matrix matrix(static_cast<QuantId>(type), 40, 352, 7);
    const std::vector<float> x = randomFloats(352 * 13, 9);
    std::vector<float> single;
    for (int t = 0; t < 13; ++t) {
        const std::vector<float> token(x.begin() + 352 * t, x.begin() + 352 * (t + 1));
        const std::vector<float> y = product(static_cast<IsaLevel>(level), matrix, token, 1);
        single.insert(single.end(), y.begin(), y.end());
    }
    for (int tokens = 1; tokens <= 13; ++tokens) {
        const std::vector<float> first(x.begin(), x.begin() + 352 * tokens);
        const std::vector<float> y = product(static_cast<IsaLevel>(level), matrix, first, tokens);
        QVERIFY(hasSameBits(y, std::vector<float>(single.begin(), single.begin() + 40 * tokens)));
    }
}

void TestCpuKernels::threadsChangeNoBit()
{
    QFETCH(int, type);
    QFETCH(int, level);
    const Matrix matrix(static_cast<QuantId>(type), 150, 96, 7);
    const std::vector<float> x = randomFloats(96 * 9, 9);
    const std::vector<float> one = product(static_cast<IsaLevel>(level), matrix, x, 9, 1);
    for (int threads : {2, 3, 5})
        QVERIFY(hasSameBits(product(static_cast<IsaLevel>(level), matrix, x, 9, threads), one));
}

void TestCpuKernels::vectorLevelsAgreeOnInt8Products()
{
    if (bestIsaLevel() != IsaLevel::Avx512)
        QSKIP("this machine has no AVX-512 VNNI to compare AVX2 with");
    for (QuantId type : {QuantId::Q4_0, QuantId::Q4_1, QuantId::Q8_0}) {
        const Matrix matrix(type, 48, 1536, 21);
        const std::vector<float> x = randomFloats(1536 * 11, 4, 20);
        QVERIFY(hasSameBits(product(IsaLevel::Avx2, matrix, x, 11), product(IsaLevel::Avx512, matrix, x, 11)));
    }
}

void TestCpuKernels::addingContinuesFromWhatIsThere()
{
    const std::vector<float> x = randomFloats(64 * 9, 2);
    for (IsaLevel level : levels()) {
        for (const QuantType &type : quantTypes()) {
            const Matrix matrix(type.id, 20, 64, 1);
            const std::vector<float> plain = product(level, matrix, x, 9);
            const std::vector<float> added = product(level, matrix, x, 9, 1, 2.5f, true);
            for (std::size_t i = 0; i < plain.size(); ++i)
                QCOMPARE(added[i], 2.5f + plain[i]);
        }
    }
}

void TestCpuKernels::quantisationKeepsHalfAStep()
{
    std::vector<float> x = randomFloats(96, 31, 4);
    std::fill(x.begin() + 32, x.begin() + 64, 0.0f); // a block of zeros
    x[70] = -900;                                    // and one with an outlier
    for (IsaLevel level : levels()) {
        for (int tokens = 1; tokens <= kTileTokens; ++tokens) {
            std::vector<std::byte> tile(activationBytesPerToken(ActivationKind::Int8, 96) *
                                        static_cast<std::size_t>(tokens));
            const int lane = tokens - 1;
            kernelsFor(level).quantiseRow(x.data(), 96, lane, tokens, tile.data());
            for (int block = 0; block < 3; ++block) {
                const std::byte *at = tile.data() + block * kInt8BlockBytes * tokens;
                const auto *quants = reinterpret_cast<const std::int8_t *>(at + kBlockColumns * lane);
                float scale, scaledSum;
                std::int32_t minusSum;
                std::memcpy(&scale, at + kBlockColumns * tokens + 4 * lane, 4);
                std::memcpy(&scaledSum, at + kBlockColumns * tokens + 4 * (tokens + lane), 4);
                std::memcpy(&minusSum, at + kBlockColumns * tokens + 4 * (2 * tokens + lane), 4);
                int sum = 0, largest = 0;
                for (int k = 0; k < kBlockColumns; ++k) {
                    const float value = x[static_cast<std::size_t>(block * kBlockColumns + k)];
                    QVERIFY(std::abs(value - scale * static_cast<float>(quants[k])) <= 0.50001f * scale);
                    sum += quants[k];
                    largest = std::max(largest, std::abs(static_cast<int>(quants[k])));
                }
                QCOMPARE(largest, block == 1 ? 0 : 127);
                QCOMPARE(minusSum, -sum);
                QCOMPARE(scaledSum, scale * static_cast<float>(sum));
            }
        }
    }
}

void TestCpuKernels::numbersThatAreNoneStayVisible()
{
    const Matrix matrix(QuantId::Q4_1, 16, 96, 8);
    for (IsaLevel level : levels()) {
        for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
            for (std::size_t place : {0u, 31u, 40u, 95u}) {
                std::vector<float> x = randomFloats(96, 6);
                x[place] = bad;
                for (float y : product(level, matrix, x, 1))
                    QVERIFY(!std::isfinite(y));
            }
        }
    }
}

void TestCpuKernels::normsMatchTheirFormula()
{
    for (int n : {1, 8, 24, 576, 579}) {
        const std::vector<float> x = randomFloats(static_cast<std::size_t>(n), 1, 5),
                                 w = randomFloats(static_cast<std::size_t>(n), 2, 2);
        double squares = 0;
        for (float value : x)
            squares += static_cast<double>(value) * static_cast<double>(value);
        const double factor = 1 / std::sqrt(squares / n + static_cast<double>(1e-5f));
        for (IsaLevel level : levels()) {
            std::vector<float> y(static_cast<std::size_t>(n) + 1, 77.0f);
            kernelsFor(level).rmsNorm(x.data(), w.data(), 1e-5f, n, y.data());
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double expected = static_cast<double>(x[i]) * factor * static_cast<double>(w[i]);
                QVERIFY(std::abs(static_cast<double>(y[i]) - expected) <= 3e-6 * std::abs(expected));
            }
            QCOMPARE(y.back(), 77.0f); // nothing is written behind the row
        }
    }
}

void TestCpuKernels::gatesMatchTheirFormula()
{
    for (IsaLevel level : levels()) {
        std::vector<float> gate = randomFloats(3 * 20, 12, 30), up = randomFloats(3 * 16, 13, 2);
        gate[0] = -1e4f;
        gate[1] = 1e4f;
        gate[2] = -0.0f;
        gate[3] = std::numeric_limits<float>::quiet_NaN();
        const std::vector<float> before = gate;
        kernelsFor(level).siluMul(gate.data(), 20, up.data(), 16, 3);
        for (std::size_t t = 0; t < 3; ++t) {
            for (std::size_t i = 0; i < 16; ++i) {
                const double x = static_cast<double>(before[20 * t + i]);
                const double expected = x / (1 + std::exp(-x)) * static_cast<double>(up[16 * t + i]);
                // The argument of the exponential rounds relative to itself.
                const double bound = (std::abs(x) + 4) * 2 * kRounding * std::abs(expected) + 1e-30;
                const double found = static_cast<double>(gate[20 * t + i]);
                QVERIFY2(std::isnan(x) ? std::isnan(found) : std::abs(found - expected) <= bound,
                         qPrintable(QString("silu(%1): %2, expected %3").arg(x).arg(found).arg(expected)));
            }
            for (std::size_t i = 16; i < 20; ++i)
                QCOMPARE(gate[20 * t + i], before[20 * t + i]);
        }
    }
}

void TestCpuKernels::rotationsTurnPairs()
{
    for (int n : {2, 8, 24, 64}) {
        for (bool halves : {false, true}) {
            const auto size = static_cast<std::size_t>(n);
            std::vector<float> x = randomFloats(size + 1, 3), cosines(size), sines(size);
            std::vector<double> expected(size);
            for (std::size_t pair = 0; pair < size / 2; ++pair) {
                const std::size_t a = halves ? pair : 2 * pair, b = halves ? pair + size / 2 : 2 * pair + 1;
                const double angle = 0.3 * static_cast<double>(pair + 1);
                cosines[a] = cosines[b] = static_cast<float>(std::cos(angle));
                sines[b] = static_cast<float>(std::sin(angle));
                sines[a] = -sines[b];
                expected[a] = static_cast<double>(x[a]) * std::cos(angle) - static_cast<double>(x[b]) * std::sin(angle);
                expected[b] = static_cast<double>(x[a]) * std::sin(angle) + static_cast<double>(x[b]) * std::cos(angle);
            }
            for (IsaLevel level : levels()) {
                std::vector<float> y = x;
                kernelsFor(level).rotate(y.data(), cosines.data(), sines.data(), n, halves);
                for (std::size_t i = 0; i < size; ++i)
                    QVERIFY(std::abs(static_cast<double>(y[i]) - expected[i]) <= 3e-7);
                QCOMPARE(y.back(), x.back());
            }
        }
    }
}

QTEST_APPLESS_MAIN(TestCpuKernels)
#include "tst_cpu_kernels.moc"
