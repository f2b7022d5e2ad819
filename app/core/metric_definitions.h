// SPDX-License-Identifier: GPL-3.0-or-later
// The definition of every number that is shown or exported, once. English source texts: the window translates them,
// files keep them as they are (the same bytes in every language).
#pragma once

#include <QString>

#include <span>

namespace lectern {

struct MetricDefinition
{
    const char *key;        // name in files, with its unit: "ttft_ms"
    const char *unit;       // "ms", "bytes", "tokens", "tokens/s", "passes", "ns/token"
    const char *definition; // formula in words, full sentences
    const char *otherTools; // who means something else by the name; "" if nobody does
};

std::span<const MetricDefinition> metricDefinitions();

// Keys are compile-time constants of the program: unknown ones give an empty definition.
const MetricDefinition &metricDefinition(const char *key);

QString translatedDefinition(const char *key);
QString translatedOtherTools(const char *key);

} // namespace lectern
