// SPDX-License-Identifier: GPL-3.0-or-later
// The metrics of a record as it stands, derived once after it has grown however many panes ask. GUI thread.
#pragma once

#include "engine/trace/metrics.h"

#include <memory>

namespace lectern {

// The reference is valid while the record lives. Deriving looks at every token: in runs of more than 4096 it is done
// again only after they grew by 2 %, and at their end.
const Metrics &liveMetrics(const std::shared_ptr<const RunRecord> &record);

} // namespace lectern
