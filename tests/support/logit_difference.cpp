// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/logit_difference.h"

#include <algorithm>
#include <cmath>

namespace lectern::test {

double logSumExp(std::span<const double> logits)
{
    const double highest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const double value : logits)
        sum += std::exp(value - highest);
    return highest + std::log(sum);
}

double entropy(std::span<const double> logits)
{
    const double total = logSumExp(logits);
    double sum = 0;
    for (const double value : logits)
        sum -= std::exp(value - total) * (value - total);
    return sum;
}

LogitDifference logitDifference(std::span<const double> reference, std::span<const double> found)
{
    const double referenceTotal = logSumExp(reference);
    const double foundTotal = logSumExp(found);
    const auto count = static_cast<double>(reference.size());
    LogitDifference difference;
    double mean = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const double delta = found[i] - reference[i];
        const double logProbability = reference[i] - referenceTotal;
        difference.maxAbs = std::max(difference.maxAbs, std::abs(delta));
        difference.kl += std::exp(logProbability) * (logProbability - (found[i] - foundTotal));
        mean += delta / count;
    }
    double squares = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const double delta = found[i] - reference[i] - mean;
        squares += delta * delta / count;
    }
    difference.rms = std::sqrt(squares);
    return difference;
}

int indexOfLargest(std::span<const double> values)
{
    return static_cast<int>(std::max_element(values.begin(), values.end()) - values.begin());
}

std::vector<double> widened(std::span<const float> values)
{
    return {values.begin(), values.end()};
}

} // namespace lectern::test
