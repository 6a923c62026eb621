// SPDX-License-Identifier: Apache-2.0
// Data flow through the steps of a fused kernel, element by element: turns their traces into loops. Every value made by
// a copy or an operation is tracked to its uses; a value that is stored and then loaded from the same memory range is
// passed on directly. Values that depend on each other form a piece, and pieces of the same shape share a loop. Used by
// fused_loops.cpp.
//
// Threads: values without hidden state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/trace.h"

namespace canopy {

class ProcessStop;

// A step with a trace of its launch.
struct LoopStep {
    const LaunchTrace* trace = nullptr;
    std::span<const std::byte> bitcode;  // Module::bitcode of its kernel
};

// Memory the steps touch, in the order of TraceRequest::regions, which must be the same for all steps.
struct LoopRegion {
    std::uint32_t slot = 0;         // 8-byte word of the fused argument block that holds an address in the region
    std::uint64_t slot_offset = 0;  // offset of that address from the start of the region
    bool temporary = false;         // only these steps read what they store there
};

struct LoopRequest {
    std::span<const LoopStep> steps;  // in execution order
    std::span<const LoopRegion> regions;
    std::uint32_t first_step = 0;  // step number of the first one, reported by the pieces on failure
    ProcessStop* stop = nullptr;   // terminates the compiler
};

inline constexpr std::uint32_t no_node = UINT32_MAX;

// One value of a loop: an element that is loaded, or computed from earlier values.
struct LoopNode {
    bool is_load = false;
    std::uint8_t size = 0;          // bytes; 0: a bit
    std::uint32_t pointer = 0;      // loads: index of the pointer
    std::uint32_t operation = 0;    // computed values: index into LoopFlow::operations
    std::vector<std::byte> object;  // its constants
    std::uint32_t sources[3] = {no_node, no_node, no_node};
};

struct LoopStore {
    std::uint32_t node = 0;
    std::uint32_t pointer = 0;
    bool fresh = true;  // nothing is loaded from there
};

// One iteration.
struct LoopShape {
    std::vector<LoopNode> nodes;
    std::vector<LoopStore> stores;
    std::vector<std::uint8_t> pointer_sizes;  // element size in bytes, per pointer
};

// One call of a loop; its pointers are global memory addresses in the order of the shape.
struct FlowPiece {
    std::uint32_t shape = 0;
    std::uint32_t first_pointer = 0;
    std::uint32_t step = 0;
    std::uint64_t count = 0;
};

struct LoopFlow {
    std::vector<TraceOperation> operations;
    std::vector<LoopShape> shapes;
    std::vector<FlowPiece> pieces;
    std::vector<TraceAddress> pointers;
    std::uint64_t bytes_stored = 0;
    std::uint32_t stores_dropped = 0;  // ranges of temporaries
};

// Fails with a reason unless the steps are independent element-wise chains. Pieces are independent: no range stored by
// one of them is touched by another.
Result<LoopFlow> find_loops(const LoopRequest& request);

}  // namespace canopy
