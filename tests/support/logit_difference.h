// SPDX-License-Identifier: GPL-3.0-or-later
// How far logits are from reference values.
#pragma once

#include <span>
#include <vector>

namespace lectern::test {

double logSumExp(std::span<const double> logits);
double entropy(std::span<const double> logits); // of the softmax, in nats

struct LogitDifference
{
    double maxAbs = 0;
    double rms = 0; // of the difference with its mean taken off: adding a constant to all logits changes nothing
    double kl = 0;  // KL(reference, found) of the two softmax distributions, in nats
};
// NaN among the values makes rms and kl NaN, which is within no bound.
LogitDifference logitDifference(std::span<const double> reference, std::span<const double> found);

int indexOfLargest(std::span<const double> values); // ties to the lower index

std::vector<double> widened(std::span<const float> values);

} // namespace lectern::test
