// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/quant/quant_type.h"
#include "tests/support/fixture.h"
#include "tests/support/quantise.h"

#include <QTest>
#include <bit>
#include <cmath>
#include <limits>

using namespace lectern;
using namespace lectern::test;

namespace {

std::uint32_t bitsOf(float value)
{
    return std::bit_cast<std::uint32_t>(value);
}

const QuantType *typeNamed(const std::string &name)
{
    for (const QuantType &type : quantTypes()) {
        if (type.name == name)
            return &type;
    }
    return nullptr;
}

} // namespace

class TestQuant : public QObject
{
    Q_OBJECT

private slots:
    void blocksHaveExactlyTheReferenceValues_data()
    {
        QTest::addColumn<QString>("name");
        for (const char *name : {"F16", "BF16", "Q4_0", "Q4_1", "Q8_0"})
            QTest::newRow(name) << name;
    }

    void blocksHaveExactlyTheReferenceValues()
    {
        QFETCH(QString, name);
        const QuantType *type = typeNamed(name.toStdString());
        QVERIFY(type);
        const nlohmann::json stored = loadFixture("quant_blocks.json")["types"][name.toStdString()];
        QVERIFY(stored["blocks"].size() >= 7);
        for (const nlohmann::json &block : stored["blocks"]) {
            const std::string bytes = fromHex(block["bytes"]);
            std::vector<float> values(block["values"].size());
            const std::size_t blockCount = values.size() / static_cast<std::size_t>(type->blockValues);
            QCOMPARE(bytes.size(), blockCount * static_cast<std::size_t>(type->blockBytes));
            type->dequantise(reinterpret_cast<const std::byte *>(bytes.data()), values.data(), blockCount);
            for (std::size_t i = 0; i < values.size(); ++i) {
                const float expected = static_cast<float>(block["values"][i].get<double>());
                QVERIFY2(bitsOf(values[i]) == bitsOf(expected),
                         qPrintable(QString("%1, value %2: %3 instead of %4")
                                        .arg(QString::fromStdString(block["label"]))
                                        .arg(i)
                                        .arg(values[i], 0, 'g', 9)
                                        .arg(expected, 0, 'g', 9)));
            }
        }
    }

    void severalBlocksAreReadOneAfterTheOther()
    {
        const nlohmann::json blocks = loadFixture("quant_blocks.json")["types"]["Q4_1"]["blocks"];
        const std::string bytes = fromHex(blocks[0]["bytes"]) + fromHex(blocks[1]["bytes"]);
        std::vector<float> values(64);
        typeNamed("Q4_1")->dequantise(reinterpret_cast<const std::byte *>(bytes.data()), values.data(), 2);
        QCOMPARE(values[0], static_cast<float>(blocks[0]["values"][0].get<double>()));
        QCOMPARE(values[63], static_cast<float>(blocks[1]["values"][31].get<double>()));
    }

    void f32IsTakenAsItIs()
    {
        const float stored[] = {1.5f, -0.0f, std::numeric_limits<float>::denorm_min()};
        float values[3];
        findQuantType(0)->dequantise(reinterpret_cast<const std::byte *>(stored), values, 3);
        for (int i = 0; i < 3; ++i)
            QCOMPARE(bitsOf(values[i]), bitsOf(stored[i]));
    }

    void everyHalfSurvivesTheWayToFloatAndBack()
    {
        for (std::uint32_t half = 0; half <= 0xFFFF; ++half) {
            const bool isNan = (half & 0x7C00) == 0x7C00 && (half & 0x3FF) != 0;
            const float value = halfToFloat(static_cast<std::uint16_t>(half));
            QCOMPARE(std::isnan(value), isNan);
            if (!isNan)
                QCOMPARE(std::uint32_t{floatToHalf(value)}, half);
        }
    }

    void halvesHaveTheirIeeeValues()
    {
        QCOMPARE(halfToFloat(0x3C00), 1.0f);
        QCOMPARE(halfToFloat(0xC000), -2.0f);
        QCOMPARE(halfToFloat(0x7BFF), 65504.0f);
        QCOMPARE(bitsOf(halfToFloat(0x0001)), bitsOf(0x1p-24f));
        QCOMPARE(bitsOf(halfToFloat(0x8000)), 0x80000000u);
        QCOMPARE(halfToFloat(0xFC00), -std::numeric_limits<float>::infinity());
    }

    void floatsRoundToTheNearestEvenHalf()
    {
        QCOMPARE(floatToHalf(1.0f + 0x1p-11f), std::uint16_t{0x3C00}); // a tie goes to the even neighbour
        QCOMPARE(floatToHalf(1.0f + 0x1p-11f + 0x1p-20f), std::uint16_t{0x3C01});
        QCOMPARE(floatToHalf(1.0f + 0x3p-11f), std::uint16_t{0x3C02});
        QCOMPARE(floatToHalf(65519.996f), std::uint16_t{0x7BFF});
        QCOMPARE(floatToHalf(65520.0f), std::uint16_t{0x7C00});
        QCOMPARE(floatToHalf(-1e10f), std::uint16_t{0xFC00});
        QCOMPARE(floatToHalf(0x1p-25f), std::uint16_t{0x0000});
        QCOMPARE(floatToHalf(0x1.8p-24f), std::uint16_t{0x0002});
        QCOMPARE(floatToHalf(-0.0f), std::uint16_t{0x8000});
        QVERIFY(std::isnan(halfToFloat(floatToHalf(std::numeric_limits<float>::quiet_NaN()))));
    }

    void rowBytesCountWholeBlocks()
    {
        QCOMPARE(findQuantType(3)->rowBytes(576), 360u); // Q4_1
        QCOMPARE(findQuantType(8)->rowBytes(64), 68u);   // Q8_0
        QCOMPARE(findQuantType(30)->rowBytes(5), 10u);   // BF16
    }

    void typesOfOtherVersionsHaveNamesButNoEntry()
    {
        QVERIFY(!findQuantType(14));
        QCOMPARE(ggmlTypeName(14), std::string("Q6_K"));
        QCOMPARE(ggmlTypeName(23), std::string("IQ4_XS"));
        QCOMPARE(ggmlTypeName(30), std::string("BF16"));
        QCOMPARE(ggmlTypeName(39), std::string("MXFP4"));
        QCOMPARE(ggmlTypeName(250), std::string("type 250"));
        for (const QuantType &type : quantTypes())
            QCOMPARE(ggmlTypeName(static_cast<std::uint32_t>(type.id)), std::string(type.name));
    }

    void testQuantisersStayWithinHalfAStep()
    {
        std::vector<float> values;
        for (int i = 0; i < 32; ++i)
            values.push_back(std::sin(static_cast<float>(i)) * 3.0f);
        for (const auto &[id, bound] :
             {std::pair(QuantId::F32, 0.0f), std::pair(QuantId::F16, 0.001f), std::pair(QuantId::BF16, 0.008f),
              std::pair(QuantId::Q4_0, 0.22f), std::pair(QuantId::Q4_1, 0.21f), std::pair(QuantId::Q8_0, 0.013f)}) {
            const QuantType *type = findQuantType(static_cast<std::uint32_t>(id));
            const std::string bytes = quantise(id, values);
            std::vector<float> back(values.size());
            type->dequantise(reinterpret_cast<const std::byte *>(bytes.data()), back.data(),
                             bytes.size() / static_cast<std::size_t>(type->blockBytes));
            for (std::size_t i = 0; i < values.size(); ++i)
                QVERIFY2(std::fabs(values[i] - back[i]) <= bound, type->name);
        }
    }
};

QTEST_APPLESS_MAIN(TestQuant)
#include "tst_quant.moc"
