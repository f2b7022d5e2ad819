// SPDX-License-Identifier: GPL-3.0-or-later
// Which of the things that a layer may have a backend computes. The rest is refused by name when it is created, never
// left out in silence.
#pragma once

#include "engine/base/result.h"
#include "engine/model/model_spec.h"

namespace lectern {

// What some backends compute and others do not; what none computes yet is refused for all of them.
struct LayerSupport
{
    const char *backend = "";
    bool hasWindows = false;
    bool hasUnlikeHeadSizes = false; // keys of another size than values
};

// Unsupported, naming the first layer that asks for more, and what it asks for.
Result<void> checkLayers(const ModelSpec &spec, const LayerSupport &support);

} // namespace lectern
