// SPDX-License-Identifier: Apache-2.0
// Results of the background work on a fused kernel, kept beside the compiled loops: which steps form which part,
// what waits for what, and the pieces of the loops. The next program that fuses the same steps over arguments of the
// same kind has its loops without tracing, planning or compiling anything. Used by fusion_improve.cpp.
//
// Threads: values without hidden state; the cache is safe among threads and processes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/fusion/fusion_variant.h"

namespace canopy {

struct FusionRecipe {
    PlannedFusion planned;
    std::vector<std::string> code;  // of each part the name of its loops in the cache; empty: it has none
    std::vector<std::string> refusals;
    std::uint32_t looped = 0;
    std::uint32_t stores_dropped = 0;
};

// The name of a variant's recipe: everything that traces, plan and loops are made from. Empty for lists whose plan
// cannot be kept: those with steps that wait for others, choose a kernel when they run, or cannot be traced.
std::string recipe_name(const FusedList& list, const FusionVariant& variant, const Device& device, FusionLevel level);

// Nothing when there is none, or when its loops are gone.
std::optional<FusionRecipe> find_recipe(const std::string& name, const FusedList& list, Device& device);
void keep_recipe(const std::string& name, const FusionRecipe& recipe);

}  // namespace canopy
