// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sampling/sampler.h"
#include "engine/sampling/softmax.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace lectern;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

TokenId sampleOne(Sampler &sampler, std::vector<float> logits, std::vector<TokenId> context = {})
{
    const auto sampled = sampler.sample(logits, context, 0);
    return sampled ? sampled->id : -1;
}

std::vector<TokenId> sampleMany(const SamplingParams &params, const std::vector<float> &logits, int count)
{
    Sampler sampler(params, static_cast<int>(logits.size()));
    std::vector<TokenId> ids;
    for (int i = 0; i < count; ++i)
        ids.push_back(sampleOne(sampler, logits));
    return ids;
}

std::vector<double> frequencies(const SamplingParams &params, const std::vector<float> &logits, int draws)
{
    std::vector<double> counts(logits.size());
    for (const TokenId id : sampleMany(params, logits, draws))
        counts.at(static_cast<std::size_t>(id)) += 1.0 / draws;
    return counts;
}

std::vector<double> softmax(const std::vector<float> &logits, double temperature)
{
    std::vector<double> weights;
    const double max = *std::max_element(logits.begin(), logits.end());
    for (const float logit : logits)
        weights.push_back(std::exp((logit - max) / temperature));
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double &weight : weights)
        weight /= sum;
    return weights;
}

double chiSquare(const std::vector<double> &seen, const std::vector<double> &expected, int draws)
{
    double sum = 0;
    for (std::size_t i = 0; i < seen.size(); ++i)
        if (expected[i] > 0)
            sum += draws * (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
    return sum;
}

// A vocabulary whose size is no multiple of any block, with logits spread like those of a model.
std::vector<float> manyLogits()
{
    std::vector<float> logits;
    for (int i = 0; i < 10'007; ++i)
        logits.push_back(static_cast<float>(12 * std::sin(i * 0.7) * std::cos(i * 0.013)));
    return logits;
}

QString messageOf(const SamplingParams &params)
{
    const auto valid = validate(params);
    return valid ? QString() : QString::fromStdString(valid.error().message);
}

} // namespace

class TestSampler : public QObject
{
    Q_OBJECT

private slots:
    void greedyTakesTheBestAndTheLowestIdOfEqualOnes()
    {
        QCOMPARE(sampleMany({}, {0, 3, 1, 3, 2}, 1).front(), 1);
        QCOMPARE(sampleMany({}, {-5, -5, -5}, 1).front(), 0);
        QCOMPARE(sampleMany({.temperature = 0, .topK = 1, .topP = 0.1f, .minP = 0.9f}, {1, 2, 2}, 1).front(), 1);
    }

    void topCandidatesAreSortedWithTrueProbabilitiesAtTemperatureZero() // llama.cpp PR #7203
    {
        std::vector<float> logits{0, 3, 1, 2};
        const auto sampled = Sampler({}, 4).sample(logits, {}, 4);
        QVERIFY(sampled);
        QCOMPARE(sampled->id, 1);
        QCOMPARE(sampled->rank, 0);
        const TokenId ids[] = {1, 3, 2, 0};
        const double probabilities[] = {0.643914, 0.236883, 0.087144, 0.032059};
        QCOMPARE(sampled->top.size(), std::size_t{4});
        for (std::size_t i = 0; i < 4; ++i) {
            QCOMPARE(sampled->top[i].id, ids[i]);
            QVERIFY(std::abs(std::exp(sampled->top[i].logprob) - probabilities[i]) < 1e-6);
        }
        QCOMPARE(sampled->logprob, sampled->top[0].logprob);
    }

    void logprobsAgreeWithDoubleArithmeticOverAWholeVocabulary()
    {
        std::vector<float> logits = manyLogits();
        const std::vector<double> expected = softmax(logits, 1);
        const auto sampled = Sampler({.temperature = 5, .topK = 7}, 10'007).sample(logits, {}, 10'007);
        QVERIFY(sampled);
        QCOMPARE(sampled->top.size(), std::size_t{10'007});
        for (const Candidate &candidate : sampled->top)
            QVERIFY(std::abs(static_cast<double>(candidate.logprob) -
                             std::log(expected[static_cast<std::size_t>(candidate.id)])) < 2e-6);
        QVERIFY(std::is_sorted(sampled->top.begin(), sampled->top.end(),
                               [](const Candidate &a, const Candidate &b) { return a.logprob > b.logprob; }));
        QCOMPARE(sampled->top.at(static_cast<std::size_t>(sampled->rank)).id, sampled->id);
        QCOMPARE(sampled->top.at(static_cast<std::size_t>(sampled->rank)).logprob, sampled->logprob);
    }

    void theBestIdsAreTheFirstOfAFullSort()
    {
        std::vector<float> logits = manyLogits();
        for (std::size_t i = 0; i < logits.size(); i += 3)
            logits[i] = std::round(logits[i]); // many ties
        std::vector<TokenId> sorted(logits.size());
        std::iota(sorted.begin(), sorted.end(), 0);
        std::stable_sort(sorted.begin(), sorted.end(), [&](TokenId a, TokenId b) {
            return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
        });
        const LogitScan scan = scanLogits(logits);
        for (const std::size_t count : {1, 2, 20, 63, 157, 158, 1000, 10'006, 10'007, 20'000}) {
            const std::vector<TokenId> first(sorted.begin(), sorted.begin() + std::min<std::ptrdiff_t>(count, 10'007));
            QCOMPARE(bestIds(logits, scan.blockMax, count), first);
        }
        QCOMPARE(rankOf(logits, sorted[777]), 777);
    }

    void topKOfZeroNegativeOrAboveTheVocabularyIsOff() // llama-cpp-python #220
    {
        const double expected[] = {0.644, 0.237, 0.087, 0.032};
        for (const int topK : {0, -1, 4, 99}) {
            const auto seen = frequencies({.temperature = 1, .topK = topK, .seed = 11}, {2, 1, 0, -1}, 10'000);
            for (std::size_t i = 0; i < 4; ++i)
                QVERIFY2(std::abs(seen[i] - expected[i]) < 0.02,
                         qPrintable(QString("top-k %1, id %2: %3").arg(topK).arg(i).arg(seen[i])));
        }
    }

    void smallTemperaturesAndTopPAlwaysGiveTheBest() // vllm #1623
    {
        const std::vector<float> logits{0, 50, 49.9f, -50};
        for (const float temperature : {0.f, 1e-4f, 1e-30f, std::numeric_limits<float>::denorm_min()})
            QCOMPARE(sampleMany({.temperature = temperature}, logits, 200), std::vector<TokenId>(200, 1));
        for (const float topP : {0.f, 1e-4f})
            QCOMPARE(sampleMany({.temperature = 1, .topP = topP}, logits, 200), std::vector<TokenId>(200, 1));
        const auto all = frequencies({.temperature = 1, .topP = 1}, logits, 10'000);
        QVERIFY(std::abs(all[1] - 0.525) < 0.02 && std::abs(all[2] - 0.475) < 0.02);
        QCOMPARE(all[0], 0.0);
    }

    void largeLogitsDoNotOverflow()
    {
        std::vector<float> logits{3e38f, -3e38f, 3e38f, 1};
        const auto sampled = Sampler({}, 4).sample(logits, {}, 3);
        QVERIFY(sampled);
        QCOMPARE(sampled->id, 0);
        QVERIFY(std::abs(std::exp(sampled->logprob) - 0.5f) < 1e-6f);
    }

    void valuesOutOfRangeAreRefusedByNameValueAndRange()
    {
        QVERIFY(validate({}));
        QVERIFY(validate({.temperature = 1e-30f, .topK = -7, .topP = 0, .minP = 1, .repetitionPenalty = 0.5f}));
        QCOMPARE(messageOf({.temperature = -1}), QString("temperature is -1; it must be from 0 to 100"));
        QCOMPARE(messageOf({.topP = 1.5f}), QString("top-p is 1.5; it must be from 0 to 1"));
        QCOMPARE(messageOf({.topP = kNan}), QString("top-p is nan; it must be from 0 to 1"));
        QCOMPARE(messageOf({.minP = -0.25f}), QString("min-p is -0.25; it must be from 0 to 1"));
        QCOMPARE(messageOf({.temperature = kInf}), QString("temperature is inf; it must be from 0 to 100"));
        QCOMPARE(messageOf({.repetitionPenalty = 0}), QString("repetition penalty is 0; it must be from 0.1 to 10"));
    }

    void damagedLogitsEndWithAReasonInsteadOfAToken_data() // llama.cpp PR #26651
    {
        QTest::addColumn<std::vector<float>>("logits");
        QTest::addColumn<QString>("message");
        QTest::newRow("all -inf") << std::vector<float>(100, -kInf) << "All 100 logits are minus infinity";
        QTest::newRow("all NaN") << std::vector<float>(100, kNan) << "The logit of token 0 is not a number";
        std::vector<float> logits(100, 1);
        logits[41] = kNan;
        QTest::newRow("one NaN in a full block") << logits << "The logit of token 41 is not a number";
        logits = std::vector<float>(100, 1);
        logits[98] = kNan;
        QTest::newRow("one NaN in the rest") << logits << "The logit of token 98 is not a number";
        logits[98] = kInf;
        QTest::newRow("+inf") << logits << "The logit of token 98 is infinite";
        QTest::newRow("no logits") << std::vector<float>() << "All 0 logits are minus infinity";
    }

    void damagedLogitsEndWithAReasonInsteadOfAToken()
    {
        QFETCH(std::vector<float>, logits);
        QFETCH(QString, message);
        for (const float temperature : {0.f, 1.f}) {
            const auto sampled = Sampler({.temperature = temperature}, 1000).sample(logits, {}, 20);
            QVERIFY(!sampled);
            QCOMPARE(sampled.error().code, ErrorCode::Numerics);
            QCOMPARE(QString::fromStdString(sampled.error().message), message);
        }
    }

    void impossibleTokensAreNeitherChosenNorListed()
    {
        std::vector<float> logits{-kInf, 1, -kInf, 0};
        Sampler sampler({.temperature = 50, .seed = 3}, 4);
        for (int i = 0; i < 300; ++i) {
            const auto sampled = sampler.sample(logits, {}, 4);
            QVERIFY(sampled && (sampled->id == 1 || sampled->id == 3));
            QCOMPARE(sampled->top.size(), std::size_t{2});
        }
    }

    void idsAboveTheLimitAreNeverChosenNorLookedAt()
    {
        std::vector<float> logits{1, 2, 9, kNan};
        for (const float temperature : {0.f, 2.f}) {
            const auto sampled = Sampler({.temperature = temperature}, 2).sample(logits, {}, 4);
            QVERIFY(sampled);
            QVERIFY(sampled->id < 2);
            QCOMPARE(sampled->top.size(), std::size_t{2});
        }
    }

    void seedAndTemperatureAreIndependent() // ollama #5044
    {
        const std::vector<float> flat(1000, 0.25f);
        const auto seven = sampleMany({.temperature = 1.5f, .seed = 7}, flat, 20);
        QCOMPARE(sampleMany({.temperature = 1.5f, .seed = 7}, flat, 20), seven);
        QVERIFY(sampleMany({.temperature = 1.5f, .seed = 8}, flat, 20) != seven);
    }

    void theSameSeedGivesTheSameIdsOnEveryMachine() // from an independent xoshiro256** seeded by SplitMix64
    {
        const std::vector<TokenId> expected{700, 278, 839, 981, 990, 872, 60,  104, 403, 151,
                                            541, 731, 938, 880, 451, 560, 256, 466, 156, 133};
        QCOMPARE(sampleMany({.temperature = 1, .seed = 7}, std::vector<float>(1000, 0), 20), expected);
    }

    void drawsFollowTheDistribution_data()
    {
        QTest::addColumn<float>("temperature");
        QTest::addColumn<int>("topK");
        QTest::addColumn<float>("topP");
        QTest::addColumn<float>("minP");
        QTest::addColumn<int>("kept"); // of eight logits 3, 2.5, … -0.5
        QTest::newRow("temperature 1") << 1.f << 0 << 1.f << 0.f << 8;
        QTest::newRow("temperature 2") << 2.f << 0 << 1.f << 0.f << 8;
        QTest::newRow("top-k 3") << 1.f << 3 << 1.f << 0.f << 3;
        QTest::newRow("top-p 0.7") << 1.f << 0 << 0.7f << 0.f << 3;         // 0.401 + 0.243 + 0.147
        QTest::newRow("top-p after top-k") << 1.f << 3 << 0.8f << 0.f << 2; // 0.506 + 0.307 of the three
        QTest::newRow("top-p on the distribution at temperature 2") << 2.f << 0 << 0.7f << 0.f << 4;
        QTest::newRow("min-p 0.2") << 1.f << 0 << 1.f << 0.2f << 4; // exp(-1.5) = 0.223
        QTest::newRow("min-p after top-k") << 1.f << 2 << 1.f << 0.2f << 2;
        QTest::newRow("min-p 1") << 1.f << 0 << 1.f << 1.f << 1;
        QTest::newRow("top-k 1") << 100.f << 1 << 1.f << 0.f << 1;
    }

    void drawsFollowTheDistribution()
    {
        QFETCH(float, temperature);
        QFETCH(int, topK);
        QFETCH(float, topP);
        QFETCH(float, minP);
        QFETCH(int, kept);
        const std::vector<float> logits{0.5f, 3, 0, 2.5f, 1.5f, 2, 1, -0.5f};
        std::vector<double> expected = softmax(logits, temperature);
        double sum = 0;
        for (double &probability : expected) {
            const auto at = static_cast<std::size_t>(&probability - expected.data());
            if (rankOf(logits, static_cast<TokenId>(at)) >= kept)
                probability = 0;
            sum += probability;
        }
        for (double &probability : expected)
            probability /= sum;

        const int draws = 20'000;
        const auto seen = frequencies({temperature, topK, topP, minP, 1, 5}, logits, draws);
        for (std::size_t i = 0; i < seen.size(); ++i)
            QVERIFY2(expected[i] > 0 || seen[i] == 0, "a token that was filtered out is drawn");
        QVERIFY2(chiSquare(seen, expected, draws) < 24.3, "chi-square, 7 degrees of freedom, p = 0.001");
    }

    void aWideNucleusOverALargeVocabularyIsDrawnFrom()
    {
        const std::vector<float> flat(5000, 1);
        for (const TokenId id : sampleMany({.temperature = 1, .topP = 0.5f}, flat, 200))
            QVERIFY(id < 2500); // equal ones by rising id
        double mean = 0;
        for (const TokenId id : sampleMany({.temperature = 1}, flat, 20'000))
            mean += id / 20'000.0;
        QVERIFY(std::abs(mean - 2499.5) < 50); // five standard errors
    }

    void theRepetitionPenaltyCoversTheLast64TokensOnce()
    {
        Sampler sampler({.repetitionPenalty = 2}, 4);
        QCOMPARE(sampleOne(sampler, {3, 2, 1, -1}, {0, 0, 0}), 1); // 1.5 against 2, once however often it occurs
        QCOMPARE(sampleOne(sampler, {-1, -1.5f, -9, -9}, {0}), 1); // a negative logit is multiplied
        std::vector<TokenId> context(65, 3);
        context[0] = 0;
        QCOMPARE(sampleOne(sampler, {3, 2, 1, -1}, context), 0); // the 65th from the end is out
        context[1] = 0;
        QCOMPARE(sampleOne(sampler, {3, 2, 1, -1}, context), 1);
        QCOMPARE(sampleOne(sampler, {3, 2, 1, -1}, {-1, 99, 0}), 1); // ids outside the vocabulary are passed over
    }

    void thePenaltyChangesTheChoiceAndNotTheShownDistribution()
    {
        std::vector<float> logits{0, 3, 1, 2};
        const std::vector<TokenId> context{1};
        const auto sampled = Sampler({.repetitionPenalty = 10}, 4).sample(logits, context, 2);
        QVERIFY(sampled);
        QCOMPARE(sampled->id, 3);
        QCOMPARE(sampled->rank, 1);
        QCOMPARE(sampled->top.at(0).id, 1);
        QVERIFY(std::abs(std::exp(sampled->logprob) - 0.236883f) < 1e-6f);
    }
};

QTEST_APPLESS_MAIN(TestSampler)
#include "tst_sampler.moc"
