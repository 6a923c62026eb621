// SPDX-License-Identifier: Apache-2.0
// The waits inside a fused kernel. Turns a list of steps, their stream and event order, and what is known about the
// memory they touch into a plan. Steps that share no memory do not wait for each other. Steps whose blocks depend only
// on the same-numbered blocks of earlier steps form one part and run block by block. All other steps wait for whole
// steps, unless other waits already imply it.
//
// Threads: values without hidden state.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/process/settings.h"
#include "device/fused_list.h"
#include "device/fusion.h"
#include "device/trace.h"

namespace canopy {

inline constexpr std::uint32_t every_block = UINT32_MAX;

// Bytes of a region touched by one block of a step.
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

// The memory a step touches, from its trace.
StepAccess access_of(const LaunchTrace& trace);
// Normalises ranges collected in any order: sorted and merged as the other functions expect.
void order_touched(std::vector<Touched>& touched);

enum class Conflict : std::uint8_t {
    none,
    block_local,  // each block conflicts only with the same-numbered block of the other step
    full,
};
Conflict conflict_between(const StepAccess& first, const StepAccess& second);

struct PlanRequest {
    const FusedList* list = nullptr;
    std::span<const StepAccess> accesses;  // one per step
    FusionLevel level = FusionLevel::off;
};

struct PlanFigures {
    std::uint32_t steps = 0;
    std::uint32_t barriers_before = 0;  // one after each step but the last, as in a plain sequence of launches
    std::uint32_t barriers_after = 0;   // parts that wait for others
    std::uint32_t edges_before = 0;     // from stream and event order
    std::uint32_t edges_after = 0;      // between parts
    std::uint32_t chained = 0;          // steps that follow another one block by block
    std::uint32_t traced = 0;
};

struct PlannedFusion {
    FusionPlan plan;
    PlanFigures figures;
    std::vector<std::uint32_t> listed;  // list position of each plan step; words use that of their step
};

PlannedFusion make_plan(const PlanRequest& request);
// The plan step that runs the kernel of a listed step.
FusedStep kernel_step(const ListStep& listed);

}  // namespace canopy
