// SPDX-License-Identifier: Apache-2.0
// A variant of a fused kernel: the arguments it applies to, the kernels made for them, and a report on how they were
// made. Used by fusion.h, which guards the mutable members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/memory_range.h"
#include "core/fusion/fusion_check.h"
#include "core/fusion/fusion_plan.h"

namespace canopy {

// An address in the argument block and what it points to.
struct SlotAddress {
    std::uint32_t slot = 0;
    std::int32_t region = 0;
    std::uint64_t offset = 0;     // in the region
    std::uint64_t temporary = 0;  // bytes from there on declared temporary
};

// Report of the background work on a variant.
struct VariantReport {
    std::string level = "steps";
    PlanFigures figures;
    std::vector<FusedPart> parts;
    std::vector<std::string> refusals;  // why steps have no trace or no loops
    std::uint32_t looped = 0;           // steps replaced by compiled loops
    std::uint32_t stores_dropped = 0;
    double trace_milliseconds = 0;
    double compile_milliseconds = 0;
    double total_milliseconds = 0;
    bool from_cache = false;
};

struct FusionVariant {
    std::vector<std::uint64_t> signature;
    std::vector<std::byte> arguments;  // of its first launch
    std::vector<DeviceRange> regions;  // allocations they point into
    std::vector<SlotAddress> addresses;
    const FusedKernel* first = nullptr;  // the kernel that commands refer to
    // Everything below is guarded by the Fusion's mutex.
    std::vector<std::unique_ptr<FusedKernel>> kernels;
    std::vector<std::unique_ptr<FusionCheck>> checks;
    VariantReport report;
};

}  // namespace canopy
