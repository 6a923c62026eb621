// SPDX-License-Identifier: Apache-2.0
// The waits inside a fused kernel. From a list of steps, the order that streams and events give them, and
// what is known of the memory they touch, to a plan: steps that share no memory do not wait for each other; steps whose
// blocks need nothing but the blocks of the same number before them become one part and run block by block; everything
// else waits for whole steps, and only where that does not follow from other waits.
//
// Threads: values without hidden state.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/process/settings.h"
#include "device/fused_list.h"
#include "device/fusion.h"
#include "device/trace.h"

namespace canopy {

inline constexpr std::uint32_t every_block = UINT32_MAX;

// Bytes of a region that one block of a step touches.
struct Touched {
    std::int32_t region = 0;
    std::uint32_t block = every_block;
    bool write = false;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

enum class Knowledge : std::uint8_t { nothing, declared, traced };

struct StepAccess {
    Knowledge knowledge = Knowledge::nothing;
    std::vector<Touched> touched;  // ordered by region and begin
};

// The memory a step touches according to its trace.
StepAccess access_of(const LaunchTrace& trace);
// Brings what was collected in any order into the order and form the rest expects.
void order_touched(std::vector<Touched>& touched);

enum class Conflict : std::uint8_t {
    none,
    block_local,  // blocks of one step meet only the block of the same number of the other
    full,
};
Conflict conflict_between(const StepAccess& first, const StepAccess& second);

struct PlanRequest {
    const FusedList* list = nullptr;
    std::span<const StepAccess> accesses;  // of each step
    FusionLevel level = FusionLevel::off;
};

struct PlanFigures {
    std::uint32_t steps = 0;
    std::uint32_t barriers_before = 0;  // one behind each step but the last, as a plain sequence of launches has
    std::uint32_t barriers_after = 0;   // parts that wait for others
    std::uint32_t edges_before = 0;     // of the order that streams and events give
    std::uint32_t edges_after = 0;      // between parts
    std::uint32_t chained = 0;          // steps that follow another one block by block
    std::uint32_t traced = 0;
};

struct PlannedFusion {
    FusionPlan plan;
    PlanFigures figures;
    std::vector<std::uint32_t> listed;  // of each step of the plan its place in the list; words have that of their step
};

PlannedFusion make_plan(const PlanRequest& request);
// The step of a plan that runs the kernel of a listed one.
FusedStep kernel_step(const ListStep& listed);

}  // namespace canopy
