// SPDX-License-Identifier: Apache-2.0
// Compares what the cores of a launch touched in global memory, when all have ended.
#pragma once

#include <span>
#include <vector>

#include "check/model/core_order.h"
#include "check/race/stretches.h"

namespace canopy::check {

// Reports accesses of different cores that share a byte, of which one writes, and that nothing orders. `cores` in the
// order of their index.
void find_hazards_between_cores(Launch& launch, CoreOrder& order, std::span<const Stretches* const> cores);
// What the cores touched, sorted by address and joined.
std::vector<TouchedRange> touched_ranges(std::span<const Stretches* const> cores);

}  // namespace canopy::check
