// SPDX-License-Identifier: Apache-2.0
// Results of the background work on a fused kernel, cached next to the compiled loops: the steps of each part, the
// waits between parts, and the pieces of the loops. The next program that fuses the same steps with arguments of the
// same kind gets its loops without tracing, planning or compiling. Used by fusion_improve.cpp.
//
// Threads: values without hidden state; the cache is safe across threads and processes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/fusion/fusion_variant.h"

namespace canopy {

struct FusionRecipe {
    PlannedFusion planned;
    std::vector<std::string> code;  // per part: name of its loops in the cache; empty if it has none
    std::vector<std::string> refusals;
    std::uint32_t looped = 0;
    std::uint32_t stores_dropped = 0;
};

// The name of a variant's recipe: a hash of everything that determines traces, plan and loops. Empty for lists whose
// plan cannot be cached: those with steps that wait for others, choose a kernel at run time, or cannot be traced.
std::string recipe_name(const FusedList& list, const FusionVariant& variant, const Device& device, FusionLevel level);

// nullopt if there is none, or if its loops are gone.
std::optional<FusionRecipe> find_recipe(const std::string& name, const FusedList& list, Device& device);
void keep_recipe(const std::string& name, const FusionRecipe& recipe);

}  // namespace canopy
