// SPDX-License-Identifier: Apache-2.0
// Temporaries that need no memory of their own: in a chain of steps that run block by block, a block that reads of a
// temporary only what it has written there itself can have it anywhere. Found in the traces; the device gives all
// blocks of a thread the same place, which stays in the cache (device/fusion.h). Used by fusion_improve.cpp.
//
// Threads: values without hidden state.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "core/fusion/fusion_variant.h"

namespace canopy {

struct ScratchRequest {
    const FusedList* list = nullptr;
    const FusionVariant* variant = nullptr;
    std::span<const std::optional<LaunchTrace>> traces;  // of each listed step
    // Whether nobody but these steps, by their places in the list, reads the region.
    std::function<bool(std::int32_t region, std::span<const std::uint32_t> steps)> temporary;
};

// Adds the scratches of all parts where they are worth it.
void find_scratches(const ScratchRequest& request, PlannedFusion& planned);

}  // namespace canopy
