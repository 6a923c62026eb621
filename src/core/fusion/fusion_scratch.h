// SPDX-License-Identifier: Apache-2.0
// Temporaries that need no separate memory: in a chain of steps that run block by block, if each block reads only those
// bytes of a temporary that it has written itself, the temporary can be placed anywhere. Found from the traces; the
// device gives all blocks of a thread the same place, which stays in the cache (device/fusion.h). Used by
// fusion_improve.cpp.
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
    std::span<const std::optional<LaunchTrace>> traces;  // one per listed step
    // True if only these steps, given by their positions in the list, read the region.
    std::function<bool(std::int32_t region, std::span<const std::uint32_t> steps)> temporary;
};

// Adds scratches to all parts where they pay off.
void find_scratches(const ScratchRequest& request, PlannedFusion& planned);

}  // namespace canopy
