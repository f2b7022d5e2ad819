// SPDX-License-Identifier: GPL-3.0-or-later
// Fills the layer descriptions of a model from the "{architecture}.*" keys. A row of the architecture table names one
// of these functions; what they filled in is checked once, by checkLayers().
#pragma once

#include "engine/model/hyper_parameters.h"
#include "engine/model/model_spec.h"

namespace lectern {

// Rotated attention over all positions and a gated feed-forward part in every layer; head counts and inner widths may
// differ from layer to layer. spec.layers has its size, spec.width is known. The first problem is kept in `keys`.
void readPlainLayers(HyperParameters &keys, ModelSpec &spec);

// What must hold inside each layer and between them, whoever filled them in: nothing where it does, else the first
// contradiction, naming the layer.
std::string layerProblem(const ModelSpec &spec);

} // namespace lectern
